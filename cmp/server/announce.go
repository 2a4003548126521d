package server

import (
	repository "github.com/argoproj/argo-cd/v2/reposerver/apiclient"
)

// text is the type of every parameter, in Argo CD's words.
const text = "string"

// announcements are the parameters that Argo CD's web page offers for an
// Application that uses this plugin. All are optional strings.
func announcements() []*repository.ParameterAnnouncement {
	block := func(name, example string) *repository.ParameterAnnouncement {
		return &repository.ParameterAnnouncement{
			Name: name, Title: "Former spec.source." + name, ItemType: text, CollectionType: text,
			Tooltip: "The block spec.source." + name + " as it would stand in an Application without a plugin, verbatim, as YAML or JSON. Example: " +
				example + ". Leave it out to let the kind of source be detected as Argo CD does.",
		}
	}
	return []*repository.ParameterAnnouncement{
		block("helm", `{"releaseName": "web", "valueFiles": ["values-prod.yaml"]}`),
		block("kustomize", `{"namePrefix": "prod-"}`),
		block("directory", `{"recurse": true}`),
		{
			Name: "pin", Title: "What to pin", ItemType: text, CollectionType: text,
			Tooltip: "all: every default of a CRD that the API server would add. " +
				"atomic: only those inside atomic lists and maps that Git sets. " +
				"none: render only. Left out: what the plugin was started with.",
		},
	}
}
