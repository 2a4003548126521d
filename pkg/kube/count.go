package kube

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Count returns how many objects of a kind the cluster holds, in all namespaces, and
// false where it does not serve the kind. It reads one object at most, and needs the
// verb list.
func (o *Objects) Count(ctx context.Context, group, kind string) (int64, bool, error) {
	mapping, served, err := o.mapping(group, kind)
	if err != nil || !served {
		return 0, false, err
	}
	page, err := o.reach(mapping, "").List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return 0, false, fmt.Errorf("count objects of kind %s: %w", kind, err)
	}
	count := int64(len(page.Items))
	if rest := page.GetRemainingItemCount(); rest != nil {
		count += *rest
	}
	return count, true, nil
}
