package child_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/moorpin/moorpin/cmp/child"
	"github.com/moorpin/moorpin/cmp/render"
	"github.com/moorpin/moorpin/e2e/attack"
	"github.com/moorpin/moorpin/pkg/confine"
)

// target lays a token out, in a folder that is the working directory of a process whose
// environment holds the same secret.
func target(t testing.TB) attack.Target {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	app{files: attack.Neighbour()}.lay(t, folder)
	token := filepath.Join(folder, "token")
	check(t, os.WriteFile(token, []byte(attack.Secret), 0o600))
	other := exec.Command("sleep", "600")
	other.Dir, other.Env = folder, []string{attack.SecretVariable + "=" + attack.Secret}
	check(t, other.Start())
	t.Cleanup(func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	})
	return attack.Target{Token: token, Process: other.Process.Pid}
}

// What is not of a repository cannot be read: confinement holds without the checks, and
// the checks hold what they are for without confinement. Without both, the attacks work.
func TestReads(t *testing.T) {
	t.Setenv(attack.SecretVariable, attack.Secret)
	target := target(t)
	modes := map[string]func(*child.Options){
		"confined": func(o *child.Options) { o.Mode, o.Render.SkipChecks = confine.Require, true },
		"checked":  func(o *child.Options) { o.Mode = confine.Off },
		"bare":     func(o *child.Options) { o.Mode, o.Render.SkipChecks = confine.Off, true },
		"both":     func(o *child.Options) { o.Mode = confine.Require },
	}
	for mode, change := range modes {
		t.Run(mode, func(t *testing.T) {
			if (mode == "confined" || mode == "both") && confine.Supported() == 0 {
				t.Skip("this kernel has no Landlock")
			}
			pool := newPool(t, change)
			for name, c := range attack.Reads(target) {
				t.Run(name, func(t *testing.T) {
					app := app{files: c.Files}
					if c.Kind != "" {
						app.block = c.Kind + ": " + c.Block
					}
					outcome, err := app.do(t.Context(), t, pool, nil)
					said, _ := json.Marshal(outcome) //nolint:musttag // only for people
					if err != nil {
						said = []byte(err.Error())
					}
					out := attack.Leaks(string(said))
					if mode == "bare" {
						if slices.Contains(attack.Works, name) && !out {
							t.Errorf("%s: the attack itself does not work, so that it shows nothing: %.300s", c.Reason, said)
						}
						return
					}
					if out {
						t.Errorf("%s: it came out: %.300s", c.Reason, said)
					}
					var refusal *render.Refusal
					if c.Checked && mode != "confined" && !errors.As(err, &refusal) {
						t.Errorf("%s: want a refusal, have %.300s", c.Reason, said)
					}
					t.Logf("%.200s", said)
				})
			}
		})
	}
}
