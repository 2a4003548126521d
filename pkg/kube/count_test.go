package kube

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestCount(t *testing.T) {
	objects, ctx := serveObjects(t), t.Context()
	if count, served, err := objects.Count(ctx, "test.moorpin.dev", "Widget"); err != nil || !served || count != 42 {
		t.Errorf("want the one of the page and those that remain: %d, %t, %v", count, served, err)
	}
	if count, served, err := objects.Count(ctx, "keda.sh", "ScaledObject"); err != nil || served || count != 0 {
		t.Errorf("a kind that is not served: %d, %t, %v", count, served, err)
	}
	if _, _, err := objects.Count(ctx, "test.moorpin.dev", "ClusterThing"); !apierrors.IsForbidden(err) {
		t.Errorf("a kind that nobody may read: %v", err)
	}
}
