package scenarios

// storefront is a Deployment as many are.
const storefront = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: storefront
  labels: {app.kubernetes.io/name: storefront}
spec:
  replicas: 3
  selector: {matchLabels: {app.kubernetes.io/name: storefront}}
  template:
    metadata:
      labels: {app.kubernetes.io/name: storefront}
    spec:
      containers:
      - name: web
        image: registry.example.com/shop/storefront:1.14.2
        ports: [{name: http, containerPort: 8080}]
        env:
        - {name: LOG_LEVEL, value: info}
        - {name: CHECKOUT_URL, value: "http://checkout:8080"}
        resources:
          requests: {cpu: 250m, memory: 256Mi}
          limits: {memory: 512Mi}
`

const storefrontService = `apiVersion: v1
kind: Service
metadata:
  name: storefront
  labels: {app.kubernetes.io/name: storefront}
spec:
  selector: {app.kubernetes.io/name: storefront}
  ports: [{name: http, port: 80, targetPort: http}]
`

// ledger is a StatefulSet without storage.
const ledger = `apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: ledger
spec:
  serviceName: ledger
  replicas: 5
  selector: {matchLabels: {app: ledger}}
  template:
    metadata:
      labels: {app: ledger}
    spec:
      terminationGracePeriodSeconds: 60
      containers:
      - name: ledger
        image: registry.example.com/billing/ledger:2026.3
        args: ["--listen=:9000", "--cluster"]
        ports: [{name: grpc, containerPort: 9000}]
        readinessProbe: {grpc: {port: 9000}, periodSeconds: 5}
`

// nodeAgent is a DaemonSet.
const nodeAgent = `apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: node-agent
  labels: {team: observability}
spec:
  selector: {matchLabels: {app: node-agent}}
  template:
    metadata:
      labels: {app: node-agent}
    spec:
      serviceAccountName: node-agent
      tolerations:
      - {operator: Exists, effect: NoSchedule}
      containers:
      - name: agent
        image: registry.example.com/observability/node-agent:0.92.0
        args: [--config=/etc/agent/agent.yaml]
        env:
        - name: NODE_NAME
          valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
        volumeMounts: [{name: config, mountPath: /etc/agent}]
      volumes:
      - name: config
        configMap: {name: node-agent}
`

const settings = `apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  cache.ttl: 10m
  features.yaml: |
    newCheckout: false
    giftCards: true
  region: eu-central-1
`

// certificate is a cert-manager Certificate.
const certificate = `apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  name: shop-tls
spec:
  secretName: shop-tls
  dnsNames: [www.shop.example.com, shop.example.com, api.shop.example.com]
  issuerRef: {group: cert-manager.io, kind: ClusterIssuer, name: letsencrypt}
  usages: [digital signature, key encipherment]
`

// route is an HTTPRoute with everything that its CRD would add.
const route = `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: shop
spec:
  parentRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: public, namespace: gateways}]
  hostnames: [shop.example.com, www.shop.example.com]
  rules:
  - matches: [{path: {type: PathPrefix, value: /}}]
    backendRefs:
    - {group: "", kind: Service, name: storefront-stable, port: 80, weight: 100}
    - {group: "", kind: Service, name: storefront-canary, port: 80, weight: 0}
`

// externalSecret leaves out what its CRD adds.
const externalSecret = `apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata:
  name: payment-keys
spec:
  refreshInterval: 1h
  secretStoreRef: {name: vault, kind: ClusterSecretStore}
  target: {name: payment-keys, creationPolicy: Owner}
  data:
  - secretKey: PUBLIC_KEY
    remoteRef: {key: payments/gateway, property: public}
  - secretKey: PRIVATE_KEY
    remoteRef: {key: payments/gateway, property: private}
`

// rollout is an Argo Rollout that shifts the weights of an Istio VirtualService.
const rollout = `apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata:
  name: storefront
spec:
  replicas: 4
  selector: {matchLabels: {app: storefront}}
  strategy:
    canary:
      stableService: storefront-stable
      canaryService: storefront-canary
      trafficRouting:
        istio:
          virtualService: {name: storefront, routes: [primary]}
      steps:
      - setWeight: 20
      - pause: {}
  template:
    metadata:
      labels: {app: storefront}
    spec:
      containers:
      - name: web
        image: registry.example.com/shop/storefront:1.15.0
        ports: [{name: http, containerPort: 8080, protocol: TCP}]
        resources:
          requests: {cpu: 200m, memory: 128Mi}
`

const virtualService = `apiVersion: networking.istio.io/v1
kind: VirtualService
metadata:
  name: storefront
spec:
  gateways: [istio-system/public]
  hosts: [shop.example.com]
  http:
  - name: primary
    route:
    - destination: {host: storefront-stable, port: {number: 80}}
      weight: 100
    - destination: {host: storefront-canary, port: {number: 80}}
      weight: 0
`

// canaryServices are the two Services of a Rollout.
const canaryServices = `apiVersion: v1
kind: Service
metadata: {name: storefront-stable}
spec:
  selector: {app: storefront}
  ports: [{name: http, port: 80, targetPort: 8080, protocol: TCP}]
---
apiVersion: v1
kind: Service
metadata: {name: storefront-canary}
spec:
  selector: {app: storefront}
  ports: [{name: http, port: 80, targetPort: 8080, protocol: TCP}]
`
