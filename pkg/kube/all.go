package kube

import (
	"context"
	"errors"
	"fmt"
	"iter"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// allPage is how many objects of All are in memory at once. An Application with a
// long status weighs tens of kilobytes, and ten times that once it is decoded.
const allPage = 100

// ErrNotServed is the error of All about a kind that the cluster does not serve.
var ErrNotServed = errors.New("the cluster serves no such kind")

// All returns every object of a kind in a namespace, or in all when it is "", however
// many there are: it reads a page at a time, and forgets it before the next. It needs
// the verb list. An error ends it.
func (o *Objects) All(ctx context.Context, group, kind, namespace string) iter.Seq2[map[string]any, error] {
	return func(yield func(map[string]any, error) bool) {
		mapping, served, err := o.mapping(group, kind)
		if err == nil && !served {
			err = fmt.Errorf("list objects of kind %s.%s: %w", kind, group, ErrNotServed)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		from := o.reach(mapping, namespace)
		options := metav1.ListOptions{Limit: allPage}
		for {
			page, err := from.List(ctx, options)
			if next, expired := anew(err); expired {
				options.Continue = next
				continue
			}
			if err != nil {
				yield(nil, fmt.Errorf("list objects of kind %s: %w", kind, err))
				return
			}
			for i := range page.Items {
				if !yield(page.Items[i].Object, nil) {
					return
				}
			}
			options.Continue = page.GetContinue()
			if options.Continue == "" {
				return
			}
		}
	}
}

// anew is where an API server offers to go on with a list that took too long for it:
// at the same place, in the state of now.
func anew(err error) (string, bool) {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || !apierrors.IsResourceExpired(err) {
		return "", false
	}
	next := status.ErrStatus.Continue
	return next, next != ""
}
