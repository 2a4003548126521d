package manifests

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// alertRules reads the alerts: name and the rest.
func alertRules(t *testing.T) map[string]alertRule {
	t.Helper()
	text, err := os.ReadFile("components/monitoring/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var object struct {
		Spec struct {
			Groups []struct {
				Name  string      `json:"name"`
				Rules []alertRule `json:"rules"`
			} `json:"groups"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	rules := map[string]alertRule{}
	for _, group := range object.Spec.Groups {
		for _, rule := range group.Rules {
			if _, twice := rules[rule.Alert]; twice {
				t.Errorf("%s is there twice", rule.Alert)
			}
			rules[rule.Alert] = rule
		}
	}
	return rules
}

type alertRule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// TestAlerts runs the unit tests of the alerts in Prometheus' own engine.
func TestAlerts(t *testing.T) {
	command := exec.CommandContext(t.Context(), "go", "run", ".", "../../manifests/testdata/alerts.yaml")
	command.Dir = "../.ci/rules"
	output, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("%v:\n%s", err, output)
	}
	t.Logf("%s", output)
}

// TestAlertsAreComplete: each alert says how bad it is, what happens, and where to read on.
func TestAlertsAreComplete(t *testing.T) {
	for name, rule := range alertRules(t) {
		if want := "https://github.com/moorpin/moorpin/blob/main/docs/runbooks/" + name + ".md"; rule.Annotations["runbook_url"] != want {
			t.Errorf("%s: runbook_url is not %s", name, want)
		}
		if rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" || rule.For == "" ||
			!slices.Contains([]string{"info", "warning", "critical"}, rule.Labels["severity"]) {
			t.Errorf("%s lacks something: %+v", name, rule)
		}
	}
}

// metricNames are those of ours and of Argo CD.
var metricNames = regexp.MustCompile(`\b(?:moorpin|argocd)_[a-z_]+`)

// TestMetricsExist: alerts and dashboard ask for metrics that somebody exports.
func TestMetricsExist(t *testing.T) {
	exported := exportedMetrics(t)
	dashboard, err := os.ReadFile("components/monitoring/moorpin.json")
	if err != nil {
		t.Fatal(err)
	}
	asked := metricNames.FindAllString(string(dashboard), -1)
	for _, rule := range alertRules(t) {
		asked = append(asked, metricNames.FindAllString(rule.Expr, -1)...)
	}
	if len(asked) < 20 {
		t.Errorf("only %d metrics are asked for", len(asked))
	}
	slices.Sort(asked)
	for _, name := range slices.Compact(asked) {
		if !exported[strings.TrimSuffix(name, "_bucket")] {
			t.Errorf("nobody exports %s", name)
		}
	}
}

// exportedMetrics reads the names out of the code that registers them: whole ones, and those
// that the sidecar puts together.
func exportedMetrics(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{"argocd_app_info": true} // of Argo CD's controller, since v1.4
	whole := regexp.MustCompile(`"(moorpin_[a-z_]+)"`)
	sidecar := regexp.MustCompile(`(?:counters\(|Name: )"([a-z_]+)"`)
	gauge := regexp.MustCompile(`\.Gauge\("([a-z_]+)"`)
	for _, dir := range []string{"../cmp", "../extension"} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if entry != nil && entry.Name() == "node_modules" {
				return filepath.SkipDir
			}
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, match := range whole.FindAllStringSubmatch(string(text), -1) {
				found[match[1]] = true
			}
			for _, match := range gauge.FindAllStringSubmatch(string(text), -1) {
				found["moorpin_"+match[1]] = true
			}
			if path == "../cmp/server/metrics.go" {
				for _, match := range sidecar.FindAllStringSubmatch(string(text), -1) {
					found["moorpin_cmp_"+match[1]] = true
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// TestDashboard: Grafana refuses panels that share a number, and shows nothing for those
// without a question.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("components/monitoring/moorpin.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		UID    string `json:"uid"`
		Panels []struct {
			ID      int    `json:"id"`
			Type    string `json:"type"`
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, panel := range dashboard.Panels {
		if seen[panel.ID] || panel.Title == "" {
			t.Errorf("panel %d %q", panel.ID, panel.Title)
		}
		seen[panel.ID] = true
		if panel.Type != "row" && (len(panel.Targets) == 0 || panel.Targets[0].Expr == "") {
			t.Errorf("panel %q asks for nothing", panel.Title)
		}
	}
	if dashboard.UID != "moorpin" || len(seen) < 15 {
		t.Errorf("uid %q, %d panels", dashboard.UID, len(seen))
	}
}
