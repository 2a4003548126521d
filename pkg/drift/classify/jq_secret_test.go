package classify

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// TestJQErrorsQuoteNoSecret holds that the words of a jq error about a Secret, which may
// be any part of it in any spelling, are in no report.
func TestJQErrorsQuoteNoSecret(t *testing.T) {
	const value = "hunter2-Tr0ub4dor"
	encoded := base64.StdEncoding.EncodeToString([]byte(value))
	for _, path := range []string{
		`error(.data.password | ascii_downcase)`, `error(.data.password[1:])`, `.data.password | split("") | map(. + "_") | error(tostring)`,
		`.data.password[1:] | keys`, `.data.password[1:].x`, `error({a: .data.password[2:]})`, `.data[.data.password[1:] | tonumber]`,
	} {
		t.Run(path, func(t *testing.T) {
			report, err := Classify(t.Context(), parseYAML(t, fmt.Sprintf(`
application: {metadata: {name: shop, namespace: argocd}, spec: {project: default, ignoreDifferences: [{group: "", kind: Secret, jqPathExpressions: [%q]}]}, status: {sync: {status: OutOfSync}}}
resources:
- target: {apiVersion: v1, kind: Secret, metadata: {name: db, namespace: web}, data: {password: %s}}
  live: {apiVersion: v1, kind: Secret, metadata: {name: db, namespace: web}, data: {password: b3RoZXI=}}
`, path, encoded)), Options{})
			if err != nil {
				t.Fatal(err)
			}
			said := strings.ToLower(fmt.Sprintf("%+v", report))
			for _, part := range []string{encoded[1:6], encoded[4:10], "3rozxi", "d_\",\"h_", "d_ h_"} {
				if strings.Contains(said, strings.ToLower(part)) {
					t.Errorf("%q is in %s", part, said)
				}
			}
		})
	}
}
