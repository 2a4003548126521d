package compare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/moorpin/moorpin/pkg/object"
)

// answered is a dry run whose answer is known.
type answered object.Object

// Run returns the known answer.
func (a answered) Run(_ context.Context, _ *unstructured.Unstructured, _ string) (string, error) {
	if a == nil {
		return "", errors.New("the snapshot holds no predicted live state")
	}
	data, err := json.Marshal(a)
	if err != nil {
		return "", fmt.Errorf("write the predicted live state: %w", err)
	}
	return string(data), nil
}
