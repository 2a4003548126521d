package checks

import (
	"errors"
	"io/fs"
	"path"
	"testing"

	"github.com/argoproj/argo-cd/v2/resource_customizations"

	"github.com/moorpin/moorpin/lua/verify"
)

// TestArgoCDSuites runs the checks that people wrote for Argo CD's repository, on the
// cases that they gave: what Argo CD's own tests accept, verify must accept.
func TestArgoCDSuites(t *testing.T) {
	passed := 0
	err := fs.WalkDir(resource_customizations.Embedded, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != verify.ScriptFile {
			return err
		}
		suite, err := verify.ReadSuite(resource_customizations.Embedded, path.Dir(name))
		if err != nil {
			t.Error(err)
			return nil
		}
		// Hardly any of them copes with an object whose status is a number.
		if err := suite.RunWith(t.Context(), true); err != nil {
			if disproof, ok := errors.AsType[*verify.DisproofError](err); !ok || !disproof.Broken {
				t.Errorf("%s: %v", name, err)
			}
		}
		passed += len(suite.Tests)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d cases", passed)
	if passed < 500 {
		t.Error("that is too few to show anything")
	}
}
