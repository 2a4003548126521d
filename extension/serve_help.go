package extension

const serveHelp = `Serve what the Drift page of Argo CD's UI asks for, as the backend of a proxy
extension: Argo CD's API server checks who asks and about which Application, and
passes the request on.

In argocd-cm:

  extension.config.moorpin: |
    services:
    - url: http://moorpin-extension.argocd.svc:8080
      headers:
      - name: Moorpin-Secret
        value: '$moorpin-extension:secret'   # a Secret with the label
                                             # app.kubernetes.io/part-of: argocd

in argocd-cmd-params-cm, server.enable.proxy.extension: "true" (argocd-server has to
be restarted for it), and in argocd-rbac-cm, for the admin too:

  policy.moorpin.csv: |
    p, role:developer, extensions, invoke, moorpin, allow

The same secret stands in --secret-file, 16 characters at least. To change it, give
--secret-file twice: put the new one into the second file, let argocd-cm refer to it,
then take the old one away; the files are read again every few seconds, and one that
is gone takes its secret with it. argocd-server notices a changed value only when
extension.config.moorpin changes, so refer to another key of its Secret.

Without more, the backend explains snapshots that the page sends, made with the
user's own rights, and needs no rights at all itself. With --server and
--auth-token-file it makes them itself; the token's account needs "applications, get"
on all of --application-namespaces, and "projects, get" for the AppProject; the token
is read once, at the start. Then, too, it looks at all Applications every --scan and
exports metrics. --in-cluster or --kubeconfig adds what Argo CD's API does not give,
for Applications whose destination is that cluster, and tells of what lives there only
what has to do with the Application. It takes get on CRDs, Namespaces, and the
ConfigMaps argocd-cm and argocd-cmd-params-cm; and list on webhook configurations,
HorizontalPodAutoscalers, ScaledObjects, Rollouts, Canaries, Jobs, ReplicaSets, Pods
and Events. What of these may not be read is left out, with a warning. The session of
the argocd CLI is used only when --config or --argocd-context names it.

SIGTERM drains: /readyz says no, for --shutdown-delay requests are still taken, then
what runs has --grace to end. /metrics, /healthz and /readyz are on --metrics-listen.`

const serveExample = `  # explain what the page sends
  moorpin extension serve --secret-file /secrets/moorpin/secret

  # collect too, also for Applications in the teams' namespaces
  moorpin extension serve --secret-file /secrets/moorpin/secret --in-cluster \
    --server argocd-server.argocd.svc --auth-token-file /secrets/token/token \
    --application-namespaces 'argocd,team-*'`
