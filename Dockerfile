# Two ways to the same image, which holds one static binary and nothing else:
#
#   docker build .                    builds the binary, too
#   docker build --target prebuilt .  takes bin/moorpin, as `make image` does
#
# The builder, the base and the platform are arguments. The binary is the same bytes for the
# same commit and Go version; SOURCE_DATE_EPOCH makes the image so, where the builder heeds it.
# BUILDER is a tag that moves with Go's patches, not a digest: name one to have the very same
# builder, --build-arg BUILDER=docker.io/library/golang:1.26@sha256:... A release does not use it.
ARG BUILDER=docker.io/library/golang:1.26
ARG BASE=scratch

FROM ${BASE} AS prebuilt
ARG BINARY=bin/moorpin
COPY --chmod=0755 ${BINARY} /usr/local/bin/moorpin
USER 999:999
ENTRYPOINT ["/usr/local/bin/moorpin"]

FROM --platform=${BUILDPLATFORM} ${BUILDER} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS=linux
ARG TARGETARCH=amd64
RUN CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} go build -buildvcs=auto -trimpath -ldflags='-s -w' -o /out/moorpin .

FROM ${BASE}
COPY --from=build /out/moorpin /usr/local/bin/moorpin
USER 999:999
ENTRYPOINT ["/usr/local/bin/moorpin"]
