package drift

import "github.com/moorpin/moorpin/pkg/fieldpath"

// Preview is what further entries of an Application's ignoreDifferences would do.
type Preview struct {
	// Hides is what is flagged now and would not be any more.
	Hides []PreviewField `json:"hides"`
	// Remaining is how many fields would still be flagged.
	Remaining int `json:"remaining"`
	// Synced tells whether Argo CD would call the Application Synced.
	Synced bool `json:"synced"`
	// Covers is what the rules take out of the comparison, whether it differs now or
	// not: what they may hide later. It is bounded; CoversTotal counts all.
	Covers      []PreviewPlace `json:"covers"`
	CoversTotal int            `json:"coversTotal"`
	// Reveals is what is not flagged now and would be.
	Reveals []PreviewField `json:"reveals,omitempty"`
	// Unheeded are the Application's own rules that were not run, as in a [Report].
	Unheeded []string `json:"unheeded,omitempty"`
}

// PreviewPlace is a field of a resource.
type PreviewPlace struct {
	Resource ResourceRef       `json:"resource"`
	Pointer  fieldpath.Pointer `json:"pointer"`
}

// PreviewField is a differing field with what the report says of it.
type PreviewField struct {
	PreviewPlace `json:",inline"`

	Mechanism Mechanism `json:"mechanism,omitempty"`
	Sync      Sync      `json:"sync,omitempty"`
}

// RuleError says which part of which rule cannot be used, and why.
type RuleError struct {
	// Part is such as "rules[0].jqPathExpressions[1]".
	Part string
	// Reason is one sentence.
	Reason string
}

// Error is the part and the reason.
func (e *RuleError) Error() string { return e.Part + ": " + e.Reason }
