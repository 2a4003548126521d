package report

import (
	"maps"
	"slices"

	"github.com/moorpin/moorpin/pkg/drift"
)

// copied is a snapshot that shares nothing with the other that can be changed.
func copied(s *drift.Snapshot) *drift.Snapshot {
	own := *s
	own.Application = copyOf(s.Application)
	own.Resources = slices.Clone(s.Resources)
	for i := range own.Resources {
		r := &own.Resources[i]
		r.Target, r.Live = copyOf(r.Target), copyOf(r.Live)
		r.NormalizedLive, r.PredictedLive = copyOf(r.NormalizedLive), copyOf(r.PredictedLive)
		if r.DryRun != nil {
			answer := *r.DryRun
			answer.Result = copyOf(answer.Result)
			r.DryRun = &answer
		}
	}
	own.Related, own.Events = copiesOf(s.Related), copiesOf(s.Events)
	own.Settings = maps.Clone(s.Settings)
	return &own
}

func copiesOf(objects []map[string]any) []map[string]any {
	copies := slices.Clone(objects)
	for i, o := range copies {
		copies[i] = copyOf(o)
	}
	return copies
}

func copyOf(o map[string]any) map[string]any {
	made, _ := deepCopy(o).(map[string]any)
	return made
}

func deepCopy(value any) any {
	switch value := value.(type) {
	case map[string]any:
		if value == nil {
			return value
		}
		made := make(map[string]any, len(value))
		for name, child := range value {
			made[name] = deepCopy(child)
		}
		return made
	case []any:
		made := make([]any, len(value))
		for i, child := range value {
			made[i] = deepCopy(child)
		}
		return made
	}
	return value
}

// sizeOf estimates what a snapshot takes in memory.
func sizeOf(s *drift.Snapshot) int64 {
	total := weigh(s.Application) + weigh(map[string]any(s.Settings))
	for _, r := range s.Resources {
		total += weigh(r.Target) + weigh(r.Live) + weigh(r.NormalizedLive) + weigh(r.PredictedLive)
	}
	for _, o := range slices.Concat(s.Related, s.Events) {
		total += weigh(o)
	}
	return total
}

func weigh(value any) int64 {
	const node = 48 // a map's entry with its share of the table
	total := int64(node)
	switch value := value.(type) {
	case string:
		total += int64(len(value))
	case map[string]any:
		for name, child := range value {
			total += int64(len(name)) + weigh(child)
		}
	case []any:
		for _, child := range value {
			total += weigh(child)
		}
	}
	return total
}
