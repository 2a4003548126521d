package crds_test

import (
	"strings"
	"testing"

	"github.com/moorpin/moorpin/e2e/crds"
)

func TestAll(t *testing.T) {
	all, err := crds.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	perModule := map[string]int{}
	names := map[string]bool{}
	for _, crd := range all {
		perModule[crd.Module]++
		if crd.Group() == "" || crd.Kind() == "" {
			t.Errorf("%s %s: no group or kind", crd.Module, crd.File)
		}
		if names[crd.Name()] {
			t.Errorf("%s %s: %s is there twice; two CRDs of one name cannot be installed", crd.Module, crd.File, crd.Name())
		}
		names[crd.Name()] = true
	}
	for _, module := range crds.Modules() {
		if perModule[module.String()] == 0 {
			t.Errorf("%s gives no CRD; it belongs out of the table", module)
		}
		t.Logf("%4d CRDs  %s", perModule[module.String()], module)
	}
	t.Logf("%4d CRDs of %d modules", len(all), len(perModule))
	if len(perModule) < 10 {
		t.Errorf("CRDs of %d modules; the oracle test promises at least ten", len(perModule))
	}
}

func TestDirRefusesOtherContent(t *testing.T) {
	module := crds.Modules()[0]
	module.Sum = "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	dir, err := crds.Dir(t.Context(), module)
	if err == nil {
		t.Fatalf("Dir took a module whose checksum differs from the table: %s", dir)
	}
	if !strings.Contains(err.Error(), module.String()) {
		t.Errorf("the error does not name the module: %v", err)
	}
}

func TestDirNamesTheModuleThatCannotBeHad(t *testing.T) {
	module := crds.Modules()[0]
	module.Version = "v2.14.21-nowhere"
	if _, err := crds.Dir(t.Context(), module); err == nil || !strings.Contains(err.Error(), module.String()) {
		t.Errorf("the error does not name the module: %v", err)
	}
}
