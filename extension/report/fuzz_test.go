package report_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/moorpin/moorpin/extension/report"
)

// FuzzCollect answers everything with the same bytes: whatever comes, there is an
// error or a snapshot that can be written, and in it no Secret with a value.
func FuzzCollect(f *testing.F) {
	from := shop(f)
	client := from.client(f)
	for _, answer := range from.answers {
		f.Add(text(f, answer))
	}
	f.Add(`{"spec":{},"items":[{"kind":"Secret","liveState":"{\"data\":{\"a\":\"hush\"},\"metadata\":{\"annotations\":[]}}"}]}`)
	f.Add(`{"spec":{"a":[{"apiVersion":"v1","kind":"Secret","data":"hush","stringData":{"a":[1]}}]},"status":{"resources":[{"hook":true}],"conditions":[{"type":"SharedResourceWarning"}]}}`)
	f.Fuzz(func(t *testing.T, answer string) {
		from.guard.Lock()
		for path := range from.answers {
			from.answers[path] = answer
		}
		from.asked = nil
		from.guard.Unlock()
		snapshot, _, err := report.Collect(t.Context(), client, shopRef, report.Options{Compared: true, Cluster: &cluster{}})
		if err != nil {
			return
		}
		data, err := json.Marshal(snapshot)
		if err != nil {
			t.Fatal(err)
		}
		var whole any
		if err := json.Unmarshal(data, &whole); err != nil {
			t.Fatal(err)
		}
		if at := unmasked(whole, ""); at != "" {
			t.Errorf("a value got out at %s: %s", at, data)
		}
	})
}

// unmasked is where a Secret with a value is, or "".
func unmasked(node any, at string) string {
	var inner map[string]any
	switch node := node.(type) {
	case map[string]any:
		inner = node
		if node["kind"] == "Secret" && node["apiVersion"] == "v1" {
			for _, field := range []string{"data", "stringData"} {
				values, ok := node[field].(map[string]any)
				if !ok {
					values = map[string]any{"": node[field]}
				}
				for key, value := range values {
					if value != nil && strings.Trim(fmt.Sprint(value), "+") != "" {
						return at + "/" + field + "/" + key
					}
				}
			}
		}
	case []any:
		inner = map[string]any{}
		for i, item := range node {
			inner[fmt.Sprint(i)] = item
		}
	}
	for name, child := range inner {
		if found := unmasked(child, at+"/"+name); found != "" {
			return found
		}
	}
	return ""
}
