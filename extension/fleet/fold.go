package fleet

import (
	"cmp"
	"maps"
	"slices"

	"github.com/moorpin/moorpin/pkg/drift"
)

// mechanisms adds up what is at work, the most Applications first.
func mechanisms(apps []*Application) []Mechanism {
	found, most := map[drift.Mechanism]*Mechanism{}, map[drift.Mechanism]int{}
	for _, a := range apps {
		for _, c := range a.Counts {
			m := found[c.Mechanism]
			if m == nil {
				m = &Mechanism{Mechanism: c.Mechanism, Class: c.Mechanism.Class(), Sync: c.Sync}
				found[c.Mechanism] = m
			}
			m.Applications++
			m.Findings += c.Findings
			m.Fields += c.Fields
			if c.Sync.Severity() > m.Sync.Severity() {
				m.Sync = c.Sync
			}
			if c.Findings > most[c.Mechanism] {
				most[c.Mechanism], m.Example = c.Findings, a.Ref().String()
			}
		}
	}
	sorted := make([]Mechanism, 0, len(found))
	for _, m := range found {
		sorted = append(sorted, *m)
	}
	slices.SortFunc(sorted, func(a, b Mechanism) int {
		return cmp.Or(b.Applications-a.Applications, b.Findings-a.Findings, cmp.Compare(a.Mechanism, b.Mechanism))
	})
	return sorted
}

// kinds adds up what Argo CD flags, and the fields that drift, the most first.
func kinds(apps []*Application) []Kind {
	found := map[kindOf]*Kind{}
	of := func(name kindOf) *Kind {
		if found[name] == nil {
			found[name] = &Kind{Group: name.group, Kind: name.kind}
		}
		return found[name]
	}
	for _, a := range apps {
		touched := maps.Clone(a.notes.flagged)
		for name, n := range a.notes.flagged {
			of(name).Resources += n
		}
		for name, n := range a.notes.fields {
			of(name).Fields += n
			touched[name] = n
		}
		for name := range touched {
			of(name).Applications++
		}
	}
	sorted := make([]Kind, 0, len(found))
	for _, k := range found {
		sorted = append(sorted, *k)
	}
	slices.SortFunc(sorted, func(a, b Kind) int {
		return cmp.Or(b.Resources-a.Resources, b.Fields-a.Fields, cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
	})
	return sorted
}

// sortLists brings the worst to the top: the most fields that nobody explains, who is
// ill for the longest, and what a sync would do the most harm to, or may.
func sortLists(o *Overview) {
	slices.SortStableFunc(o.Unexplained, func(a, b Unexplained) int { return b.Fields - a.Fields })
	slices.SortStableFunc(o.Behind, func(a, b Behind) int {
		return cmp.Or(cmp.Compare(a.Health, b.Health), compareSince(a.Since, b.Since))
	})
	slices.SortStableFunc(o.Affected, func(a, b Application) int {
		return cmp.Or(severity(&b)-severity(&a), weight(b)-weight(a))
	})
}

// severity is how much harm a sync would do. Of what was not read nobody knows: it comes
// right after what is known to overwrite the cluster.
func severity(a *Application) int {
	known := 2 * a.Effect.Severity()
	if a.partial() {
		return max(known, 2*drift.OverwritesLive.Severity()-1)
	}
	return known
}

// compareSince puts the longest first, and the unknown last. RFC 3339 in UTC, as
// Kubernetes writes it, sorts as text does.
func compareSince(a, b string) int {
	if (a == "") != (b == "") {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}

// weight is how much there is to say about an Application.
func weight(a Application) int {
	n := a.Unread
	for _, c := range a.Counts {
		n += max(c.Findings, c.Fields)
	}
	return n
}
