package state

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/moorpin/moorpin/pkg/drift/internal/words"
)

// Minutes says how long something takes.
func Minutes(age float64) string {
	if age < 1 {
		return "less than a minute"
	}
	return words.Plural(int(age), "minute")
}

// Since returns the minutes that passed since the time, and whether they are known.
func (s *Application) Since(start metav1.Time) (minutes float64, known bool) {
	now, known := s.Now()
	if !known || start.IsZero() {
		return 0, false
	}
	return now.Sub(start.Time).Minutes(), true
}

// SinceText is since for a time as an object spells it.
func (s *Application) SinceText(start string) (minutes float64, known bool) {
	parsed, err := ParseTime(start)
	if err != nil {
		return 0, false
	}
	return s.Since(parsed)
}

// Stamp spells a time, or says that it is unknown.
func Stamp(t metav1.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}
