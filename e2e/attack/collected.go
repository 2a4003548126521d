package attack

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
)

// Calm is the Application of [ArgoCD] that is no attack, and the project that it is in.
const Calm = "calm"

// Large is the Application of [ArgoCD] whose report is large, with all of it about the
// ConfigMap c0.
const Large = "large"

// collected are what Argo CD tells of the resources of an Application, by its name.
func collected() map[string]func() string {
	return map[string]func() string{
		"far-too-large": func() string { return `{"items":["` + strings.Repeat("x", 200<<20) + `"]}` },
		"heavy-objects": func() string { return tellsOf(widget(strings.Split(strings.Repeat("a", 1_000_000), ""), "b")) },
		"large-texts": func() string {
			return tellsOf(configMaps(20, counted(5, strings.Repeat("x", 100_000)), counted(5, strings.Repeat("y", 100_000))))
		},
		"many-objects": func() string { return tellsOf(configMaps(1500, counted(8, "1"), counted(8, "2"))) },
		"nested": func() string {
			deep := json.RawMessage(strings.Repeat("[", 5000) + strings.Repeat("]", 5000))
			return tellsOf(object{"resources": []any{configMap("c", object{"data": deep}, object{"data": "b"})}})
		},
		Large: func() string {
			return tellsOf(configMaps(1, counted(16, strings.Repeat("x", 190_000)), counted(16, strings.Repeat("y", 190_000))))
		},
	}
}

// tellsOf is what Argo CD tells of the resources of a snapshot.
func tellsOf(snapshot object) string {
	resources, _ := snapshot["resources"].([]any)
	items := make([]any, len(resources))
	for i, each := range resources {
		one, _ := each.(object)
		target, live := string(encode(one["target"])), string(encode(one["live"]))
		items[i] = object{"group": one["group"], "kind": one["kind"], "namespace": one["namespace"], "name": one["name"], "targetState": target, "liveState": live, "normalizedLiveState": live, "predictedLiveState": target}
	}
	return string(encode(object{"items": items}))
}

// Collected returns the attacks by what Git and the cluster hold, by the name of the
// Application of [ArgoCD]: the backend asks Argo CD for it.
func Collected() map[string]Post {
	all := map[string]Post{}
	for name := range collected() {
		all[name] = Post{Reason: "what Argo CD tells of it", Route: "/api/v1/report", Says: append([]string{saysWeight, "Argo CD"}, heavy...), Answered: true}
	}
	return all
}

// ArgoCD answers as Argo CD's API does about [Calm] and about the Applications of the
// attackers, which are in the project.
func ArgoCD(project string) http.Handler {
	calm := managedOf("red")
	answers := map[string]string{
		"/api/version": `{"Version":"v2.14.21"}`, "/api/v1/settings": `{"appLabelKey":"app.kubernetes.io/instance","trackingMethod":"annotation","controllerNamespace":"argocd"}`,
	}
	application := func(name, project string) string {
		return string(encode(object{
			"metadata": object{"name": name, "namespace": "argocd", "uid": name}, "spec": object{"project": project, "destination": object{"server": "https://kubernetes.default.svc", "namespace": "web"}},
			"status": object{"sync": object{"status": "OutOfSync"}},
		}))
	}
	answers["/api/v1/applications/"+Calm], answers["/api/v1/applications/"+Calm+"/managed-resources"] = application(Calm, Calm), calm
	made := map[string]func() string{}
	for name, tells := range collected() {
		answers["/api/v1/applications/"+name] = application(name, project)
		made["/api/v1/applications/"+name+"/managed-resources"] = sync.OnceValue(tells)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer, known := answers[r.URL.Path]
		if tells, large := made[r.URL.Path]; large {
			answer, known = tells(), true
		}
		if !known {
			w.WriteHeader(http.StatusForbidden)
			answer = `{"error":"permission denied","code":7,"message":"permission denied"}`
		}
		_, _ = w.Write([]byte(answer)) // who has gone needs no answer
	})
}

// managedOf is an object that somebody has edited.
func managedOf(value string) string {
	live := object{
		"apiVersion": "v1", "kind": "ConfigMap", "data": object{"colour": value},
		"metadata": object{"name": "c", "namespace": "web", "managedFields": []any{object{
			"manager": "kubectl-edit", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": object{"f:data": object{"f:colour": object{}}},
		}}},
	}
	target := object{"apiVersion": "v1", "kind": "ConfigMap", "data": object{"colour": "green"}, "metadata": object{"name": "c", "namespace": "web"}}
	return tellsOf(object{"resources": []any{object{"kind": "ConfigMap", "namespace": "web", "name": "c", "target": target, "live": live}}})
}
