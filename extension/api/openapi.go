package api

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/swaggest/openapi-go"
	"github.com/swaggest/openapi-go/openapi31"

	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/pkg/drift"
)

// apiVersion is that of the routes; it changes with them, not with every release.
const apiVersion = "v1"

// operation documents a route.
type operation struct {
	summary string
	// query and body are values of the types that are read; nil where there is none.
	query, body any
	// answer is a value of the type that is written; a string where it is no JSON.
	answer any
}

// resourceQuery are the parameters that name a resource.
type resourceQuery struct {
	Group     string `description:"API group; empty for the core group" query:"group"`
	Kind      string `query:"kind" required:"true"`
	Namespace string `description:"empty for a cluster-scoped resource" query:"namespace"`
	Name      string `query:"name" required:"true"`
}

// callerHeaders are what every route below /api reads of the headers.
type callerHeaders struct {
	Application string `description:"NAMESPACE:NAME of the Application" header:"Argocd-Application-Name" required:"true"`
	Project     string `description:"the Application's project" header:"Argocd-Project-Name" required:"true"`
}

// trialDocument is a [Trial] with the snapshot's own type.
type trialDocument struct {
	Snapshot *drift.Snapshot                      `json:"snapshot,omitempty"`
	Rules    []v1alpha1.ResourceIgnoreDifferences `json:"rules"`
}

// fieldDocument is how a [drift.Field] is written.
type fieldDocument struct {
	Pointer string       `json:"pointer"`
	Target  any          `description:"absent where the side lacks the field" json:"target,omitempty"`
	Live    any          `description:"absent where the side lacks the field" json:"live,omitempty"`
	Owner   *drift.Owner `json:"owner,omitempty"`
}

// routes is the table of what is served below /api, and documented.
var routes = []route{
	{http.MethodGet, "/api/v1/capabilities", false, (*api).capabilities, operation{
		summary: "What the backend can do, and its limits.", answer: Capabilities{},
	}},
	{http.MethodPost, "/api/v1/classify", true, (*api).classify, operation{
		summary: "Why the Application of the posted snapshot is OutOfSync.", body: drift.Snapshot{}, answer: report.Answer{},
	}},
	{http.MethodGet, "/api/v1/report", false, (*api).report, operation{
		summary: "Why the Application is OutOfSync; the backend collects.", answer: report.Answer{},
	}},
	{http.MethodGet, "/api/v1/report/resource", false, (*api).resource, operation{
		summary: "The part of the report about one resource.", query: resourceQuery{}, answer: ResourceReport{},
	}},
	{http.MethodPost, "/api/v1/fixes/prove", true, (*api).prove, operation{
		summary: "What further ignore rules would hide, now and later.", body: trialDocument{}, answer: drift.Preview{},
	}},
	{http.MethodGet, "/api/v1/rollback", false, (*api).rollbackCollected, operation{
		summary: "YAML of the resources that a sync would delete; the backend collects.", answer: "",
	}},
	{http.MethodPost, "/api/v1/rollback", true, (*api).rollbackPosted, operation{
		summary: "YAML of the resources that a sync would delete, from the posted snapshot.", body: drift.Snapshot{}, answer: "",
	}},
}

// document is the OpenAPI document of the routes.
func document() ([]byte, error) {
	reflector := openapi31.NewReflector()
	reflector.Spec.Info.WithTitle("Moorpin: why is it OutOfSync").WithVersion(apiVersion)
	reflector.AddTypeMapping(drift.Field{}, fieldDocument{})
	reflector.Spec.SetAPIKeySecurity("secret", SecretHeader, openapi.InHeader, "what argocd-cm makes Argo CD's API server send")
	for _, row := range routes {
		context, err := reflector.NewOperationContext(row.method, row.path)
		if err != nil {
			return nil, fmt.Errorf("document %s: %w", row.path, err)
		}
		context.SetSummary(row.doc.summary)
		context.AddSecurity("secret")
		for _, read := range []any{callerHeaders{}, row.doc.query, row.doc.body} {
			if read != nil {
				context.AddReqStructure(read)
			}
		}
		media := jsonText
		if _, text := row.doc.answer.(string); text {
			media = "text/yaml"
		}
		context.AddRespStructure(row.doc.answer, openapi.WithHTTPStatus(http.StatusOK), openapi.WithContentType(media))
		context.AddRespStructure(Problem{}, func(unit *openapi.ContentUnit) { unit.IsDefault, unit.ContentType = true, jsonText })
		if err := reflector.AddOperation(context); err != nil {
			return nil, fmt.Errorf("document %s: %w", row.path, err)
		}
	}
	data, err := json.MarshalIndent(reflector.Spec, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("document: %w", err)
	}
	return append(data, '\n'), nil
}
