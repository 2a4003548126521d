package doctor

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Fact is something that was read, or why it was not.
type Fact[T any] struct {
	// Value counts where Found is true.
	Value T
	Found bool
	// Obstacle says why nobody knows whether there is a value; "" where it is known.
	Obstacle string
}

// There is the fact of a value that was read.
func There[T any](value T) Fact[T] { return Fact[T]{Value: value, Found: true} }

// Absent is the fact that there is none.
func Absent[T any]() Fact[T] { return Fact[T]{} }

// Hidden is a fact that could not be read.
func Hidden[T any](obstacle string) Fact[T] { return Fact[T]{Obstacle: obstacle} }

// Obstacles to reading that the user can take away by a flag.
const (
	noCluster = "no cluster is named: use --kubeconfig or --in-cluster"
	noServer  = "no Argo CD is named: use --server and --auth-token-file"
	noSocket  = "no socket is named: use --socket, in the sidecar"
	noMetrics = "no metrics are named: use --sidecar-metrics"
)

// noRight begins what is said of something that may not be read.
const noRight = "cannot be read: the right is missing"

// wanted is something to read of a cluster, as a right names it.
type wanted struct{ verb, resource, name, namespace string }

// obstacle says why reading failed: the right that is missing where it is that.
func (w wanted) obstacle(err error) string {
	if !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) {
		return "cannot be read: " + oneLine(err.Error())
	}
	resource := w.resource
	if w.name != "" {
		resource += "/" + w.name
	}
	return fmt.Sprintf("%s that `kubectl auth can-i %s %s -n %s` asks for", noRight, w.verb, resource, w.namespace)
}

// oneLine is a message of somebody else on one line of bearable length.
func oneLine(text string) string {
	const most = 300
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}
