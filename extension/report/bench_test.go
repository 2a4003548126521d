package report_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/moorpin/moorpin/extension/report"
)

// wide is a Deployment that differs in its replicas, many times.
func wide(count int) object {
	var items []any
	for i := range count {
		one := func(replicas int) object {
			o := named("apps/v1", "Deployment", "web", fmt.Sprintf("front-%03d", i))
			o["metadata"].(object)["resourceVersion"] = "1"
			o["spec"] = object{"replicas": replicas, "template": object{"spec": object{"containers": []any{object{"name": "app", "image": "web:1"}}}}}
			return o
		}
		items = append(items, object{"group": "apps", "kind": "Deployment", "namespace": "web", "name": fmt.Sprintf("front-%03d", i), "targetState": encode(one(2)), "liveState": encode(one(3))})
	}
	return object{"items": items}
}

// BenchmarkReport measures an Application with 200 drifting resources: given again,
// found unchanged, and made anew.
func BenchmarkReport(b *testing.B) {
	for name, pass := range map[string]time.Duration{"cached": 0, "revalidated": 6 * time.Second, "anew": 6 * time.Minute} {
		b.Run(name, func(b *testing.B) {
			from := &plane{fake: shop(b)}
			from.fake.answers[appPath+"/managed-resources"] = wide(200)
			at := newClock()
			s := report.NewService(report.ServiceOptions{Client: from.client(b), Collect: report.Options{Now: at.now}, Timeout: time.Minute})
			if _, err := s.Report(b.Context(), shopRef); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				at.pass(pass)
				if _, err := s.Report(b.Context(), shopRef); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
