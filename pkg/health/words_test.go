package health_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moorpin/moorpin/pkg/health"
)

func TestClassify(t *testing.T) {
	tests := map[string]struct {
		reason string
		want   health.Class
	}{
		"Ready":                   {"one word", health.Good},
		"RUNNING":                 {"capitals alone are one word", health.Good},
		"config-in-sync_ready":    {"words are parted by anything that is no letter", health.Good},
		"NotReady":                {"what is well and denied is under way", health.Wait},
		"not_ready":               {"the same in small letters", health.Wait},
		"UpdateFailed":            {"the gravest word decides", health.Bad},
		"HTTPError":               {"the last of several capitals begins a word", health.Bad},
		"HTTPErrors2":             {"a digit parts words", health.Bad},
		"NotFailed":               {"a denied failure says nothing", health.NoClass},
		"NotFound":                {"some words are bad when denied", health.Bad},
		"NoPodsFound":             {"a denial reaches over other words", health.Bad},
		"ReconcilePaused":         {"stopped on purpose", health.Pause},
		"Frobnicating":            {"an unknown word in -ing is under way", health.Wait},
		"WARNING":                 {"some words in -ing are not", health.NoClass},
		"Setting up primary":      {"what is being set up is not up", health.NoClass},
		"ServiceBinding":          {"and nouns are not", health.NoClass},
		"ing":                     {"the ending alone counts as one", health.Wait},
		"":                        {"no name, no meaning", health.NoClass},
		"Frobnicated":             {"an unknown word says nothing", health.NoClass},
		"Ready\x00Failed":         {"only printable ASCII is read", health.Good},
		"Ready – Failed":          {"up to the first other byte", health.Good},
		long("x", 60) + " Failed": {"only the beginning of a long name is read: the word ends inside", health.NoClass},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := health.Classify(name); got != test.want {
				t.Errorf("%s: %q is %v, want %v", test.reason, name, got, test.want)
			}
		})
	}
}

func long(text string, count int) string { return strings.Repeat(text, count) }

// TestVocabulary holds what the Lua relies on: a word has one sense and is spelled as
// names are split.
func TestVocabulary(t *testing.T) {
	seen := map[string]health.Sense{}
	for sense, words := range health.Vocabulary() {
		if len(words) == 0 {
			t.Errorf("sense %d has no words", sense)
		}
		for _, word := range words {
			if strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != "" {
				t.Errorf("%q is not in small letters alone", word)
			}
			if other, twice := seen[word]; twice {
				t.Errorf("%q has the senses %d and %d", word, other, sense)
			}
			seen[word] = sense
		}
	}
	changed := health.Vocabulary()
	changed[health.Sense(health.Good)][0] = "changed"
	if diff := cmp.Diff(changed, health.Vocabulary()); diff == "" {
		t.Error("a change of what Vocabulary returned changes the vocabulary")
	}
}
