package mcp

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/moorpin/moorpin/extension/report"
	"github.com/moorpin/moorpin/pkg/drift"
)

const (
	// maxAnswer bounds the findings of an answer, in bytes of JSON: an assistant has
	// to read all of it.
	maxAnswer = 48 << 10
	// maxWarnings is how many warnings of a report are passed on.
	maxWarnings = 5
)

// explanation is a report as an assistant gets it.
type explanation struct {
	Application string         `json:"application" jsonschema:"namespace/name"`
	Verdict     string         `json:"verdict"`
	Sync        string         `json:"sync" jsonschema:"what a sync would do now, the worst of all findings"`
	SyncMeans   string         `json:"syncMeans"`
	Counts      map[string]int `json:"counts" jsonschema:"findings by mechanism"`
	ComparedAt  string         `json:"comparedAt,omitempty" jsonschema:"when Argo CD compared, RFC 3339"`
	Warnings    []string       `json:"warnings,omitempty" jsonschema:"what could not be read"`
	Findings    []finding      `json:"findings"`
	Truncated   string         `json:"truncated,omitempty" jsonschema:"what was left out, and how to ask for it"`
}

type finding struct {
	Resource   resource `json:"resource"`
	Mechanism  string   `json:"mechanism"`
	Class      string   `json:"class,omitempty"`
	Flagged    bool     `json:"flagged" jsonschema:"false where Argo CD does not see the difference"`
	Confidence string   `json:"confidence"`
	Summary    string   `json:"summary"`
	Fields     []field  `json:"fields,omitempty"`
	Evidence   []string `json:"evidence,omitempty"`
	Sync       string   `json:"sync"`
	Loss       []string `json:"loss,omitempty" jsonschema:"live values that a sync would overwrite"`
	Fixes      []fix    `json:"fixes,omitempty"`
	Truncated  string   `json:"truncated,omitempty"`
}

type resource struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

type field struct {
	Pointer string `json:"pointer"`
	Target  string `json:"target" jsonschema:"Git's value as JSON text"`
	Live    string `json:"live" jsonschema:"the cluster's value as JSON text"`
	Owner   string `json:"owner,omitempty" jsonschema:"who wrote it last"`
}

type fix struct {
	Kind    string `json:"kind"`
	Where   string `json:"where"`
	Proven  bool   `json:"proven" jsonschema:"it was tried on a copy, the finding went away and nothing else appeared"`
	Why     string `json:"why,omitempty"`
	Snippet string `json:"snippet,omitempty"`
}

// explain makes an answer of the findings from an offset on, as many as fit.
func explain(from *report.Answer, findings []drift.Finding, offset int, l limits) explanation {
	out := explanation{
		Application: plain(from.Report.Application, l.names), Verdict: plain(from.Report.Verdict, l.prose),
		Sync: string(from.Report.Sync), SyncMeans: from.Report.Sync.Summary(), Counts: map[string]int{},
		ComparedAt: plain(from.ComparedAt, l.names), Warnings: texts(from.Warnings, maxWarnings, narrow.prose), Findings: []finding{},
	}
	for mechanism, n := range from.Report.Counts {
		out.Counts[string(mechanism)] = n
	}
	left := maxAnswer
	for i := min(offset, len(findings)); i < len(findings); i++ {
		one, size := fitting(findings[i], left, l)
		if size > left && len(out.Findings) > 0 {
			out.Truncated = fmt.Sprintf("%d more findings; ask again with offset %d", len(findings)-i, i)
			break
		}
		left -= size
		out.Findings = append(out.Findings, one)
	}
	return out
}

// fitting is a finding with its size, shown less of where it would take up the answer
// alone.
func fitting(f drift.Finding, left int, l limits) (finding, int) {
	one := shown(f, l)
	size := sizeOf(one)
	if size > left && left == maxAnswer {
		one = shown(f, narrow)
		size = sizeOf(one)
	}
	return one, size
}

func sizeOf(v any) int {
	encoded, err := json.Marshal(v)
	if err != nil {
		return maxAnswer + 1 // strings and booleans can always be encoded
	}
	return len(encoded)
}

func shown(f drift.Finding, l limits) finding {
	one := finding{
		Resource: resourceOf(f.Resource, l), Mechanism: string(f.Mechanism), Class: f.Class, Flagged: f.Flagged,
		Confidence: string(f.Confidence), Summary: plain(f.Summary, l.prose), Sync: string(f.Sync),
		Evidence: texts(f.Evidence, l.lines, l.prose), Loss: texts(f.Loss, l.lines, l.prose),
	}
	for _, d := range f.Fields[:min(len(f.Fields), l.fields)] {
		one.Fields = append(one.Fields, field{
			Pointer: plain(string(d.Pointer), l.names), Target: valueOf(d.Target, d.InTarget, l.value),
			Live: valueOf(d.Live, d.InLive, l.value), Owner: ownerOf(d.Owner, l),
		})
	}
	for _, x := range f.Fixes[:min(len(f.Fixes), l.fixes)] {
		one.Fixes = append(one.Fixes, fix{Kind: string(x.Kind), Where: string(x.Where), Proven: x.Proven, Why: plain(x.Why, l.prose), Snippet: plain(x.Snippet, l.snippet)})
	}
	if fields, fixes := len(f.Fields)-len(one.Fields), len(f.Fixes)-len(one.Fixes); fields > 0 || fixes > 0 {
		one.Truncated = fmt.Sprintf("%d more fields and %d more fixes", fields, fixes)
	}
	return one
}

func ownerOf(o *drift.Owner, l limits) string {
	if o == nil {
		return ""
	}
	text := o.Manager + " (" + o.Operation
	if o.Subresource != "" {
		text += " of " + o.Subresource
	}
	text += ")"
	if o.Time != "" {
		text += " at " + o.Time
	}
	return plain(text, l.names)
}

func resourceOf(r drift.ResourceRef, l limits) resource {
	return resource{Group: plain(r.Group, l.names), Kind: plain(r.Kind, l.names), Namespace: plain(r.Namespace, l.names), Name: plain(r.Name, l.names)}
}

// urgent are the findings, those that need somebody first.
func urgent(findings []drift.Finding) []drift.Finding {
	sorted := slices.Clone(findings)
	slices.SortStableFunc(sorted, func(a, b drift.Finding) int {
		if by := b.Sync.Severity() - a.Sync.Severity(); by != 0 || a.Flagged == b.Flagged {
			return by
		}
		if a.Flagged {
			return -1
		}
		return 1
	})
	return sorted
}
