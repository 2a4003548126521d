package scenarios

import (
	"slices"

	"github.com/moorpin/moorpin/e2e/record/recorder"
)

// further are scenarios of kinds, writers and combinations that the other tables leave
// out.
func further() []recorder.Scenario {
	return slices.Concat(
		furtherEdits(), furtherAdditions(), furtherApplies(), furtherControllers(), furtherMixed(),
		furtherSchemas(), furtherSpellings(), furtherAdmission(), furtherRenders(),
		furtherOwnership(), furtherRefusals(), furtherRules(), furtherQuiet(),
		furtherSecrets(), furtherMaps(), furtherScaled(), furtherRemovals(), furtherOdd(),
	)
}

// References to the objects below.
const (
	onGallery = "networking.k8s.io/v1/Ingress/gallery"
	onFence   = "networking.k8s.io/v1/NetworkPolicy/fence"
	onAccount = "v1/ServiceAccount/press"
	onRole    = "rbac.authorization.k8s.io/v1/Role/press"
	onBinding = "rbac.authorization.k8s.io/v1/RoleBinding/press"
	onDigest  = "batch/v1/CronJob/digest"
	onCellar  = "apps/v1/StatefulSet/cellar"
	onLamp    = "apps/v1/DaemonSet/lamp"
	onGateway = "gateway.networking.k8s.io/v1/Gateway/public"
	onMonitor = "monitoring.coreos.com/v1/ServiceMonitor/cellar"

	crdGateway = "gateways.gateway.networking.k8s.io"
	crdMonitor = "servicemonitors.monitoring.coreos.com"
	crdPool    = "nodepools.karpenter.sh"
)

const gallery = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: gallery
  annotations: {nginx.ingress.kubernetes.io/proxy-body-size: 20m}
spec:
  ingressClassName: public
  tls: [{hosts: [gallery.example.com], secretName: gallery-tls}]
  rules:
  - host: gallery.example.com
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: gallery, port: {number: 80}}}}]}
`

const fence = `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: fence}
spec:
  podSelector: {matchLabels: {app: ledger}}
  policyTypes: [Ingress, Egress]
  ingress:
  - from: [{podSelector: {matchLabels: {app: checkout}}}]
    ports: [{port: 9000, protocol: TCP}]
  egress:
  - to: [{ipBlock: {cidr: 10.20.0.0/16}}]
`

const pressAccount = `apiVersion: v1
kind: ServiceAccount
metadata:
  name: press
  annotations: {eks.amazonaws.com/role-arn: "arn:aws:iam::111122223333:role/press"}
`

const pressRole = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: press}
rules: [{apiGroups: [""], resources: [configmaps, secrets], verbs: [get, list, watch]}]
`

const pressBinding = `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: press}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: press}
subjects: [{kind: ServiceAccount, name: press, namespace: $NAMESPACE}]
`

const digest = `apiVersion: batch/v1
kind: CronJob
metadata: {name: digest}
spec:
  schedule: 5 6 * * 1
  suspend: false
  concurrencyPolicy: Replace
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          serviceAccountName: digest
          containers:
          - name: digest
            image: registry.example.com/news/digest:5.0.2
            env: [{name: TZ, value: Europe/Berlin}]
`

// cellar is a StatefulSet of two containers.
const cellar = `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: cellar}
spec:
  serviceName: cellar
  replicas: 3
  selector: {matchLabels: {app: cellar}}
  template:
    metadata: {labels: {app: cellar}}
    spec:
      containers:
      - name: store
        image: registry.example.com/data/cellar:11.4
        ports: [{name: sql, containerPort: 5432, protocol: TCP}]
      - name: exporter
        image: registry.example.com/data/exporter:0.17
        args: [--port=9187]
`

const lamp = `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: lamp}
spec:
  selector: {matchLabels: {app: lamp}}
  template:
    metadata: {labels: {app: lamp}}
    spec:
      hostNetwork: true
      initContainers:
      - {name: sysctl, image: "registry.example.com/net/sysctl:2.0"}
      containers:
      - name: lamp
        image: registry.example.com/net/lamp:6.1
        ports: [{name: dns, containerPort: 5353, hostPort: 5353, protocol: UDP}]
        volumeMounts: [{name: state, mountPath: /var/lib/lamp}]
      volumes:
      - {name: state, hostPath: {path: /var/lib/lamp}}
`

// publicGateway leaves out what its CRD adds.
const publicGateway = `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: public}
spec:
  gatewayClassName: edge
  listeners:
  - {name: web, port: 80, protocol: HTTP, hostname: "*.example.com"}
  - name: secure
    port: 443
    protocol: HTTPS
    hostname: "*.example.com"
    tls: {certificateRefs: [{name: wildcard}]}
`

const cellarMonitor = `apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: cellar}
spec:
  selector: {matchLabels: {app: cellar}}
  endpoints:
  - port: metrics
    interval: 30s
    relabelings: [{sourceLabels: [__meta_kubernetes_pod_node_name], targetLabel: node}]
`

const teamQuota = `apiVersion: v1
kind: ResourceQuota
metadata: {name: team}
spec: {hard: {pods: "40", requests.cpu: "16", requests.memory: 64Gi}}
`

const galleryScaler = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: gallery}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: gallery}
  minReplicas: 3
  maxReplicas: 10
  behavior: {scaleDown: {policies: [{type: Percent, value: 10, periodSeconds: 60}]}}
  metrics:
  - type: Resource
    resource: {name: cpu, target: {type: Utilization, averageUtilization: 65}}
`
