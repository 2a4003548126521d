package ignore

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/pkg/drift"
	"github.com/moorpin/moorpin/pkg/drift/internal/state"
)

// TestOnlyJQErrorsOfASecretAreHidden holds that what a jq path says of another object is
// told as it is.
func TestOnlyJQErrorsOfASecretAreHidden(t *testing.T) {
	ofSecret, other := &state.Resource{Ref: drift.ResourceRef{Kind: "Secret"}}, &state.Resource{Ref: drift.ResourceRef{Kind: "ConfigMap"}}
	if got := jqError(ofSecret, context.DeadlineExceeded); !strings.Contains(got, "too long") {
		t.Error(got)
	}
	if got := jqError(other, errors.New("its own words")); got != "its own words" {
		t.Error(got)
	}
}
