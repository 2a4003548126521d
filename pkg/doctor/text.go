package doctor

import (
	"fmt"
	"strings"
)

// Text is the report for people: a line for each check, and below what is not well the
// remedy.
func (r Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "namespace %s", r.Namespace)
	if r.ArgoCDVersion != "" {
		fmt.Fprintf(&b, ", Argo CD %s", printable(r.ArgoCDVersion))
	}
	fmt.Fprintf(&b, ", moorpin %s\n\n", r.Version)
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%-8s %-17s %s\n", f.Status, f.Check, printable(f.Says))
		for _, remedy := range f.Remedy {
			for line := range strings.SplitSeq(remedy, "\n") {
				fmt.Fprintf(&b, "%-26s | %s\n", "", printable(line))
			}
		}
	}
	fmt.Fprintf(&b, "\n%d ok, %d warn, %d fail, %d unknown\n", r.Counts[OK], r.Counts[Warn], r.Counts[Fail], r.Counts[Unknown])
	return b.String()
}

// printable is a text for a terminal: part of it comes from a cluster.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r <= 0x9f {
			return '\uFFFD'
		}
		return r
	}, text)
}
