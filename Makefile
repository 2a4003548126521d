# `make` alone prints this help. Every target installs what it needs: Debian's
# etcd-server, redis-server and shellcheck by apt where they are missing, everything else
# by Go module.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# Packages that need no control plane.
QUICK = $$(go list ./... | grep -v -e '/e2e$$' -e '/e2e/controlplane$$')
PLANE = ./e2e ./e2e/controlplane
TOOL = go tool -modfile=.ci/tools/go.mod
SUDO = $$([ "$$(id -u)" = 0 ] || echo sudo)

.PHONY: help
help: ## Print this help
	@echo "Moorpin: make TARGET"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

.PHONY: build
build: ## Build bin/moorpin
	@.ci/build moorpin . $(ABOUT)

# A first build, on two cores.
ABOUT = 'about 4 minutes on two cores the first time'

.PHONY: demo
demo: ## Show what the plugin does to an example repository, without a cluster
	@.ci/build moorpin . $(ABOUT) 1 5
	@.ci/build demo ./e2e/demo 'about 10 seconds' 3 5
	@bin/demo

.PHONY: demo-argocd
demo-argocd: build packages ## Show the same on a real Argo CD and API server; KEEP=1 leaves them running
	@go run ./e2e/demo-argocd $(if $(KEEP),--keep)

.PHONY: test
test: build packages chromium check host-page ## Run all tests, on a real API server, a real Argo CD and in a real browser too
	@$(TOOL) gotestsum --format standard-verbose -- -count=1 -timeout 40m -p 1 $(PLANE)
	@go run ./e2e/uihost -- npm --prefix extension/ui run --silent e2e:sample

.PHONY: test-full
test-full: packages check ## Run all tests with whole corpora instead of samples, on Argo CD v3.1 too
	@MOORPIN_FULL=1 $(TOOL) gotestsum --format standard-verbose -- -count=1 -timeout 120m -p 1 $(PLANE)
	@MOORPIN_ARGOCD=v3.1 go run ./e2e/controlplane/prepare
	@MOORPIN_ARGOCD=v3.1 $(TOOL) gotestsum --format standard-verbose -- -count=1 -timeout 60m -p 1 $(PLANE)
	@go test -count=1 ./pkg/pin -run TestLaws -objects 500
	@go test -race -count=1 -timeout 40m -p 2 ./extension/... ./cmp/... ./pkg/...
	@$(MAKE) test-ui

.PHONY: check
check: generated lint check-ui ## Check what needs no control plane: generated files, lint, unit tests
	@$(TOOL) gotestsum --format pkgname-and-test-fails -- -timeout 15m $(QUICK)

# What npm installs; made anew only when the lock has changed.
NODE_MODULES = extension/ui/node_modules/.package-lock.json

.PHONY: ui
ui: $(NODE_MODULES) ## Build the bundle of Argo CD's UI pages, which is committed (needs Node 20)
	@cd extension/ui && node build.mjs

.PHONY: check-ui
check-ui: $(NODE_MODULES) ## Check the UI pages: types, lint, tests on React 16 and 19, bundle as committed
	@cd extension/ui && npm run --silent check && node build.mjs --check

$(NODE_MODULES): extension/ui/package-lock.json
	@command -v npm >/dev/null || { echo "the UI pages need Node 20 with npm (https://nodejs.org)"; exit 1; }
	@cd extension/ui && npm ci --no-audit --no-fund --loglevel=error

.PHONY: demo-ui
demo-ui: build packages host-page ## Show the Drift page before a real Argo CD, in a page that plays its UI's part
	@go run ./e2e/uihost -listen 127.0.0.1:8765

.PHONY: test-ui
test-ui: build packages chromium host-page ## Test the Drift page in Chromium, before a real Argo CD; ARGS=... for Playwright
	@go run ./e2e/uihost -- npm --prefix extension/ui run --silent e2e -- $(ARGS)

.PHONY: screenshots
screenshots: build packages chromium host-page ## Make the pictures in docs/images, before a real Argo CD
	@go run ./e2e/uihost -- npm --prefix extension/ui run --silent screenshots

.PHONY: host-page
host-page: $(NODE_MODULES)
	@cd extension/ui && node host/build.mjs

.PHONY: generated
generated:
	@go generate ./...
	@changed=$$(git status --porcelain -- '*.yaml' go.mod go.sum); if [ -n "$${CI:-}" ] && [ -n "$$changed" ]; then \
		echo "go generate changed what is committed; run it and commit:"; echo "$$changed"; exit 1; fi

.PHONY: docs-check
docs-check: ## Check that what the documents and the alerts name exists
	@go test -count=1 . -run '^(TestDocs|TestMechanismRunbooks|TestMetricsListed)$$'

.PHONY: lint
lint: ## Check format and lint
	@$(TOOL) golangci-lint run ./...

.PHONY: format
format: ## Format the Go code
	@$(TOOL) golangci-lint fmt ./...

.PHONY: bench
bench: ## Run the benchmarks beside the code, each with its named alternative
	@go test ./pkg/... ./cmp/... ./extension/... ./lua/... ./e2e/checks -run '^$$' -bench . -benchmem

.PHONY: bench-argocd
bench-argocd: packages ## Time the real repo-server: native, through Moorpin, through the stock exec sidecar
	@go test ./e2e -count=1 -timeout 30m -run '^$$' -bench RepoServer -benchtime 1x

.PHONY: soak
soak: packages ## Keep the extension's backend under load for SOAK=10m, and fail when it grows
	@$(TOOL) gotestsum --format standard-verbose -- ./e2e -count=1 -timeout 120m -run '^TestSoak$$' -soak $(or $(SOAK),10m)

.PHONY: drift-matrix
drift-matrix: ## Score the drift classifier on its corpus, with the confusion matrices
	@go test ./pkg/drift/classify -count=1 -run TestCorpus -v -args -matrix -explain

.PHONY: record
record: packages ## Record cases of the corpus anew on a real control plane; RUN=regexp chooses
	@go run ./e2e/record -run '$(or $(RUN),.)'

.PHONY: fuzz
fuzz: ## Fuzz every parser and law; FUZZTIME=1m each
	@go list ./pkg/... ./cmp/... ./extension/... ./lua/... ./e2e/checks | while read -r package; do \
		{ go test -list '^Fuzz' "$$package" | grep '^Fuzz' || true; } | while read -r target; do \
			echo "$$package $$target"; \
			go test "$$package" -run '^$$' -fuzz "^$$target\$$" -fuzztime $${FUZZTIME:-1m} -fuzzminimizetime 10x; \
		done; \
	done

.PHONY: image
image: build ## Build the container image moorpin:dev with docker or buildah, and bin/moorpin.sbom.json
	@epoch=$$(git log -1 --format=%ct); \
	if command -v docker >/dev/null && docker info >/dev/null 2>&1; then SOURCE_DATE_EPOCH=$$epoch docker build --target prebuilt -t moorpin:dev .; \
	elif command -v buildah >/dev/null; then buildah build --isolation chroot --target prebuilt --timestamp $$epoch -t moorpin:dev .; \
	else echo "make image needs a running Docker or buildah (apt-get install buildah)"; exit 1; fi
	@cd .ci/sbom && go run . ../../bin/moorpin >../../bin/moorpin.sbom.json

.PHONY: chromium
chromium:
	@if ! command -v chromium >/dev/null; then echo "Installing chromium"; \
		$(SUDO) apt-get update -qq && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-liberation >/dev/null; fi

.PHONY: packages
packages:
	@missing=""; \
	command -v etcd >/dev/null || missing="$$missing etcd-server"; \
	command -v redis-server >/dev/null || missing="$$missing redis-server"; \
	command -v git >/dev/null || missing="$$missing git"; \
	command -v shellcheck >/dev/null || missing="$$missing shellcheck"; \
	if [ -n "$$missing" ]; then echo "Installing$$missing"; \
		$(SUDO) apt-get update -qq && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing >/dev/null; fi
