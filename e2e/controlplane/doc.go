// Package controlplane runs a real control plane on one machine, without a
// container and without a cluster: etcd, kube-apiserver, redis and the
// components of Argo CD, each as a process of its own on a free port of
// 127.0.0.1, with all of its files in one work folder.
//
// kube-apiserver and Argo CD are built from the versions that the nested
// modules kubernetes, argocd-v2.14 and argocd-v3.1 pin, helm and kustomize
// from the versions that this Argo CD ships. Options say which Argo CD; the
// programs here read MOORPIN_ARGOCD for it, v2.14 by default. The first build takes minutes; the
// results are kept in the user's cache folder (or in MOORPIN_CACHE), and a
// start then takes seconds. etcd and redis-server come from the system:
//
//	apt-get install etcd-server redis-server
//
// A test binary typically shares one plane:
//
//	var plane *controlplane.Plane
//
//	func TestMain(m *testing.M) {
//		options := controlplane.Options{ArgoCD: true}
//		os.Exit(controlplane.RunTests(m, options, func(p *controlplane.Plane) { plane = p }))
//	}
//
//	func TestSynced(t *testing.T) {
//		repository, err := controlplane.NewRepository(t.Context(), t.TempDir())
//		...
//		_, err = repository.Commit(t.Context(), "add app", map[string]string{"app/a.yaml": "..."})
//		...
//		err = plane.CreateApplication(t.Context(), controlplane.Application{
//			Name:      "demo",
//			Namespace: "demo",
//			Source:    map[string]any{"repoURL": repository.URL(), "path": "app"},
//		})
//		...
//		status, err := plane.Sync(t.Context(), "demo")
//	}
//
// Stop ends just the processes that Start began, and nothing else of the
// same name. On Linux they also end when the program that started them dies,
// however it dies. There is no kubelet and no controller of Kubernetes here:
// Pods never run, and nothing deletes the objects of a deleted namespace.
package controlplane
