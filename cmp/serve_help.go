package cmp

const serveHelp = `Serve Argo CD's repo-server as a config management plugin.

Run it as a sidecar of repo-server. It listens on the socket
  $ARGOCD_PLUGINSOCKFILEPATH/<name>[-<plugin-version>].sock
(default folder /home/argocd/cmp-server/plugins), reads no plugin.yaml and needs
no argocd-cmp-server. An Application uses it with

  spec:
    source:
      plugin:
        name: moorpin
        parameters:            # all optional
          - name: helm         # or kustomize, or directory: the block that the
            string: |          # Application had before, verbatim
              valueFiles: [values-production.yaml]
          - name: pin
            string: all        # or atomic, or none

Schemas come from the CRDs in the same render, else from the live cluster, else
from --crds, which is read once, at the start. The live cluster is asked when
--kubeconfig names one or the pod has a service-account token. It takes get,
list and watch on customresourcedefinitions.apiextensions.k8s.io and nothing
else. A cluster that does not answer within --live-wait is waited for in the
background. An object without a schema gets no defaults, and the log says so.

--discovery offers the plugin to every Application that says neither plugin nor
helm, kustomize or directory, and answers yes for all of them: what Argo CD
renders natively, Moorpin renders too. Every such Application then pays a second
tarball of its repository for each uncached render, and plugins whose socket
sorts behind this one's are not asked any more.

Beyond --parallelism, requests wait for their turn, at most --queue of them, and
no longer than their own deadline; the rest is refused. An Application holds half
of the turns at most, and a project all but one if there are others. Those that
within five minutes used up their deadline or --max-render-cpu, or twice more than
half of the deadline, hold half together and come last, and when the queue is full
the newest of whoever has the most in it gives way. SIGTERM drains: the socket goes
away, and what runs has --grace to end.

Each render happens in a process of its own, which Landlock confines to its copy of
the repository, the tools, and what they need of the system; --confine=require
refuses to start where the kernel cannot. --max-render-memory, --max-render-cpu,
--max-tree-bytes and --max-files bound it with all that it starts.

With --metrics-address, /metrics serves Prometheus metrics, and /healthz says 200
while the sidecar serves. The socket also answers the gRPC health service.

Environment, as everywhere in Argo CD: ARGOCD_GRPC_MAX_SIZE_MB (default 100)
bounds a message, ARGOCD_GRPC_KEEP_ALIVE_MIN (default 10s) says how often a
client may ping, ARGOCD_EXEC_TIMEOUT (default 90s) bounds helm and kustomize.`

const serveExample = `  # CRDs of the cluster that the pod runs in
  moorpin cmp serve --metrics-address :8085

  # CRDs of another cluster, and of a folder for the kinds that it lacks
  moorpin cmp serve --kubeconfig /secrets/kubeconfig --crds /crds

  # the folder alone, JSON logs
  moorpin cmp serve --live=off --crds /crds --log-format json`
