package scenarios

import (
	"context"
	"strconv"

	"github.com/moorpin/moorpin/e2e/controlplane"
	"github.com/moorpin/moorpin/e2e/record/recorder"
)

// ignoring is a part of the Application's spec: one rule of ignoreDifferences.
func ignoring(rule map[string]any) map[string]any {
	return map[string]any{"ignoreDifferences": []any{rule}}
}

func pointers(group, kind string, paths ...any) map[string]any {
	return map[string]any{"group": group, "kind": kind, "jsonPointers": paths}
}

func queries(group, kind string, expressions ...any) map[string]any {
	return map[string]any{"group": group, "kind": kind, "jqPathExpressions": expressions}
}

const firstContainer = "/spec/template/spec/containers/0"

func ignoreWithoutRespect() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "ignore-without-respect/replicas-of-an-autoscaler", App: "storefront-scaled",
			Cause: "an autoscaler scales a Deployment whose replicas are ignored, but not respected by a sync",
			Files: git(storefront), Spec: ignoring(pointers("apps", "Deployment", "/spec/replicas")), Cluster: autoscalerOf("apps/v1", "Deployment", "storefront"),
			Related: []string{onAutoscaler + "storefront"},
			Inject:  inOrder(autoscaled(onStorefront, "storefront", 7), rolledOut(onStorefront)),
		},
		{
			Name: "ignore-without-respect/scaled-for-the-sale", App: "storefront-sale",
			Cause: "somebody scales a Deployment for a sale; a rule with a name hides it",
			Files: git(storefront, storefrontService), SyncPolicy: serverSideApply,
			Spec: ignoring(map[string]any{
				"group": "apps", "kind": "Deployment", "name": "storefront", "jsonPointers": []any{"/spec/replicas"},
			}),
			Inject: inOrder(scale("kubectl", onStorefront, 9), rolledOut(onStorefront)),
		},
		{
			Name: "ignore-without-respect/variable-by-jq", App: "storefront-jq",
			Cause: "somebody changes a variable that a jq rule hides",
			Files: git(storefront), Spec: ignoring(queries("apps", "Deployment", `.spec.template.spec.containers[] | select(.name == "web").env[] | select(.name == "LOG_LEVEL").value`)),
			Inject: inOrder(patch("kubectl-edit", onStorefront, `[{op: replace, path: `+firstContainer+`/env/0/value, value: debug}]`), rolledOut(onStorefront)),
		},
		{
			Name: "ignore-without-respect/manager-of-a-controller", App: "settings-tuned",
			Cause: "a controller tunes a ConfigMap, and a rule hides what this manager writes",
			Files: git(settings), Spec: ignoring(map[string]any{
				"group": "", "kind": "ConfigMap", "managedFieldsManagers": []any{"cache-tuner"},
			}),
			Inject: patch("cache-tuner", onSettings, `{data: {cache.ttl: 45s}}`),
		},
	}
}

func ignoreRulesDead() []recorder.Scenario {
	const checked = "metadata: {annotations: {inventory.example.com/checked: never}, "
	return []recorder.Scenario{
		{
			Name: "ignore-rule-dead/group-forgotten", App: "storefront-nogroup",
			Cause: "an autoscaler scales a Deployment; the rule that was meant to ignore the replicas lacks the group",
			Files: git(storefront), Cluster: autoscalerOf("apps/v1", "Deployment", "storefront"), Spec: ignoring(map[string]any{"kind": "Deployment", "jsonPointers": []any{"/spec/replicas"}}),
			Related: []string{onAutoscaler + "storefront"},
			Inject:  inOrder(autoscaled(onStorefront, "storefront", 8), rolledOut(onStorefront)),
		},
		{
			Name: "ignore-rule-dead/another-name", App: "settings-misnamed",
			Cause: "somebody edits a ConfigMap; the rule that was meant for it names it wrongly",
			Files: git(settings), Spec: ignoring(map[string]any{
				"group": "", "kind": "ConfigMap", "name": "setings", "jsonPointers": []any{"/data/region"},
			}),
			Inject: patch("kubectl-edit", onSettings, `{data: {region: eu-west-1}}`),
		},
		{
			Name: "ignore-rule-dead/slash-not-escaped", App: "service-checked",
			Cause: "an inventory controller writes an annotation; the slash in the rule's pointer is not escaped",
			Files: git(replaced(ingressService, "metadata: {", checked)), SyncPolicy: serverSideApply,
			Spec: ignoring(pointers("", "Service", "/metadata/annotations/inventory.example.com/checked")),
			Inject: rewrite("inventory-controller", "v1/Service/edge", func(service map[string]any) {
				set(service, "2026-02-01", "metadata", "annotations", "inventory.example.com/checked")
			}),
		},
		{
			Name: "ignore-rule-dead/container-renamed", App: "ledger-renamed",
			Cause: "somebody sets another image; the jq rule selects a container by a name that it no longer has",
			Files: git(ledger), Spec: ignoring(queries("apps", "StatefulSet", `.spec.template.spec.containers[] | select(.name == "ledgerd").image`)),
			Inject: inOrder(patch("kubectl-set", onLedger, `[{op: replace, path: `+firstContainer+`/image, value: "registry.example.com/billing/ledger:2026.3-debug"}]`), rolledOut(onLedger)),
		},
	}
}

func respectBlocks() []recorder.Scenario {
	respect := withOptions("RespectIgnoreDifferences=true")
	return []recorder.Scenario{
		{
			Name: "respect-ignore-blocks-change/whole-list-of-containers", App: "storefront-blocked",
			Cause: "Git moves to a new image, and a respected rule covers all containers",
			Files: git(storefront), SyncPolicy: respect, Spec: ignoring(pointers("apps", "Deployment", "/spec/template/spec/containers")),
			Inject: inOrder(rolledOut(onStorefront), commit(git(replaced(storefront, "1.14.2", "1.15.0"))), sync(), rolledOut(onStorefront)),
		},
		{
			Name: "respect-ignore-blocks-change/all-data-by-jq", App: "settings-blocked",
			Cause: "Git changes a value of a ConfigMap whose whole data a respected jq rule covers",
			Files: git(settings), SyncPolicy: respect, Spec: ignoring(queries("", "ConfigMap", ".data")),
			Inject: inOrder(commit(git(replaced(settings, "10m", "2m"))), sync()),
		},
		{
			Name: "respect-ignore-blocks-change/whole-spec", App: "edge-blocked",
			Cause: "Git changes the port of a Service whose whole spec a respected rule covers, and it is not synced yet",
			Files: git(ingressService, settings), SyncPolicy: withOptions("RespectIgnoreDifferences=true", "ServerSideApply=true"),
			Spec:   ignoring(pointers("", "Service", "/spec")),
			Inject: commit(git(replaced(ingressService, "8443", "9443"), settings)),
		},
	}
}

func coownerResidue() []recorder.Scenario {
	const region = "  region: eu-central-1\n"
	return []recorder.Scenario{
		{
			Name: "ssa-coowner-residue/helm-installed-it", App: "settings-from-helm",
			Cause: "helm installed a ConfigMap before Argo CD took it over by server-side apply; Git then drops a key",
			Files: git(settings), SyncPolicy: serverSideApply, Before: create("helm", settings),
			Inject: inOrder(commit(git(replaced(settings, region, ""))), sync()),
		},
		{
			Name: "ssa-coowner-residue/variable-that-helm-set", App: "storefront-from-helm",
			Cause: "helm installed a Deployment before Argo CD took it over by server-side apply; Git then drops a variable",
			Files: git(storefront), SyncPolicy: serverSideApply, Before: create("helm", storefront),
			Inject: inOrder(commit(git(replaced(storefront, "        - {name: CHECKOUT_URL, value: \"http://checkout:8080\"}\n", ""))), sync(), rolledOut(onStorefront)),
		},
		{
			Name: "ssa-coowner-residue/flux-applied-it", App: "service-from-flux",
			Cause: "Flux applied a Service before Argo CD took it over; Git then drops a label",
			Files: git(storefrontService), SyncPolicy: serverSideApply,
			Before: apply("kustomize-controller", replaced(storefrontService, "labels: {", "labels: {tier: web, ")),
			Inject: inOrder(commit(git(replaced(storefrontService, "labels: {", "labels: {tier: web, "))), sync(), commit(git(storefrontService)), sync()),
		},
	}
}

const agents = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: agentpools.fleet.example.com}
spec:
  group: fleet.example.com
  names: {kind: AgentPool, listKind: AgentPoolList, plural: agentpools, singular: agentpool}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: {size: {type: integer}, image: {type: string}}
`

const agentPool = `apiVersion: fleet.example.com/v1
kind: AgentPool
metadata: {name: builders}
spec: {size: 3, image: "registry.example.com/ci/agent:8"}
`

func schemaErrors() []recorder.Scenario {
	return []recorder.Scenario{
		{
			Name: "comparison-error-schema/variable-twice", App: "storefront-twice",
			Cause: "Git sets a variable twice, and the Application uses server-side apply",
			Files: git(storefront, storefrontService), SyncPolicy: serverSideApply,
			Inject: inOrder(rolledOut(onStorefront), commit(git(replaced(storefront, "        env:\n", "        env:\n        - {name: LOG_LEVEL, value: warn}\n"), storefrontService))),
		},
		{
			Name: "comparison-error-schema/port-twice", App: "ledger-ports",
			Cause: "Git declares the same container port twice, and the Application uses server-side apply",
			Files: git(ledger), SyncPolicy: serverSideApply,
			Inject: inOrder(rolledOut(onLedger), commit(git(replaced(ledger, "containerPort: 9000}]", "containerPort: 9000}, {name: metrics, containerPort: 9000}]")))),
		},
		{
			Name: "comparison-error-schema/crd-too-old", App: "ci-agents", Cluster: agents,
			Cause: "Git sets a field that only a newer CRD than the installed one has, and the Application uses server-side apply",
			Files: git(agentPool), SyncPolicy: serverSideApply,
			Inject: commit(git(replaced(agentPool, "size: 3", "size: 3, spot: true"))),
		},
	}
}

// fighting writes a value again and again; each time but the last, Argo CD heals it.
func fighting(write func(turn int) action, healed func(context.Context, *recorder.Stage) bool) action {
	return func(ctx context.Context, s *recorder.Stage) error {
		const turns = 3
		for turn := range turns {
			if err := write(turn)(ctx, s); err != nil {
				return err
			}
			for !healed(ctx, s) {
				if err := waitSeconds(0.2)(ctx, s); err != nil {
					return err
				}
			}
			_, err := s.WaitFor(ctx, func(status controlplane.Status) bool {
				return status.Operation.Phase == "Succeeded" && status.Sync == "Synced"
			})
			if err != nil {
				return err
			}
		}
		return write(turns)(ctx, s)
	}
}

func selfhealFights() []recorder.Scenario {
	heal := automated(map[string]any{"selfHeal": true})
	// back tells whether the value in the cluster is Git's again.
	back := func(ref, wanted string, steps ...any) func(context.Context, *recorder.Stage) bool {
		return func(ctx context.Context, s *recorder.Stage) bool {
			object, err := s.Get(ctx, ref)
			return err == nil && follow(object.Object, steps) == wanted
		}
	}
	return []recorder.Scenario{
		{
			Name: "selfheal-fight/image-bot", App: "storefront-fight",
			Cause: "a bot writes the newest image into the Deployment again and again, and self-heal writes Git's back",
			Files: git(storefront), SyncPolicy: heal,
			Inject: inOrder(fighting(func(turn int) action {
				return patch("keel", onStorefront, `[{op: replace, path: `+firstContainer+`/image, value: "registry.example.com/shop/storefront:1.15.`+strconv.Itoa(turn)+`"}]`)
			}, back(onStorefront, "registry.example.com/shop/storefront:1.14.2", "spec", "template", "spec", "containers", 0, "image")), rolledOut(onStorefront)),
		},
		{
			Name: "selfheal-fight/settings-agent", App: "settings-fight",
			Cause: "an agent that syncs configuration writes a ConfigMap again and again, and self-heal writes Git's back",
			Files: git(settings), SyncPolicy: with(heal, serverSideApply),
			Inject: fighting(func(turn int) action {
				return patch("config-agent", onSettings, `{data: {region: "eu-central-`+strconv.Itoa(turn+2)+`"}}`)
			}, back(onSettings, "eu-central-1", "data", "region")),
		},
		{
			Name: "selfheal-fight/another-pipeline", App: "service-fight",
			Cause: "a pipeline runs kubectl patch on a Service in a loop, and self-heal writes Git's selector back",
			Files: git(storefrontService), SyncPolicy: heal,
			Inject: fighting(func(turn int) action {
				return patch("kubectl-patch", onService, `{spec: {selector: {app.kubernetes.io/name: "storefront-v`+strconv.Itoa(turn+2)+`"}}}`)
			}, back(onService, "storefront", "spec", "selector", "app.kubernetes.io/name")),
		},
	}
}
