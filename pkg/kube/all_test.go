package kube

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAll(t *testing.T) {
	objects := serveObjects(t)
	seen := 0
	for o, err := range objects.All(t.Context(), "", "Pod", "web") {
		if err != nil || o["kind"] != "Pod" {
			t.Fatalf("%v, %v", o, err)
		}
		seen++
		if seen == 3*listMost { // there is no end to these Pods
			break
		}
	}
	if seen != 3*listMost {
		t.Errorf("%d Pods, want as many as are asked for", seen)
	}
	for _, err := range objects.All(t.Context(), "example.com", "Nothing", "") {
		if !errors.Is(err, ErrNotServed) {
			t.Errorf("a kind that is not served: %v", err)
		}
	}
	for _, err := range objects.All(t.Context(), "test.moorpin.dev", "ClusterThing", "") {
		if !apierrors.IsForbidden(err) {
			t.Errorf("a kind that nobody may read: %v", err)
		}
	}
}

func TestAnew(t *testing.T) {
	expired := apierrors.NewResourceExpired("too old")
	if _, ok := anew(expired); ok {
		t.Error("a list that cannot go on goes on")
	}
	expired.ErrStatus.ListMeta = metav1.ListMeta{Continue: "here"}
	if next, ok := anew(expired); !ok || next != "here" {
		t.Errorf("the server offers to go on: %q, %v", next, ok)
	}
	if _, ok := anew(nil); ok {
		t.Error("no error is taken for one")
	}
}
