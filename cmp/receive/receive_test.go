package receive_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v2/cmpserver/apiclient"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/moorpin/moorpin/cmp/receive"
)

// repository makes a checkout with everything that a sender may meet.
func repository(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	write(t, root, map[string]string{
		"README.md":                        "hello\n",
		"apps/db/secret.yaml":              "kind: Secret\n",
		`apps/db/dev-disk\x2dby.yaml`:      "kind: ConfigMap\n",
		"common/values.yaml":               strings.Repeat("a: b\n", 40_000),
		".git/config":                      "[core]\n",
		".git/objects/aa/bb":               "x",
		"vendor/module/.git":               "gitdir: ../../.git/modules/module\n",
		"vendor/module/chart/Chart.yaml":   "name: chart\n",
		"vendor/clone/.git/HEAD":           "ref: refs/heads/main\n",
		".github/workflows/ci.yaml":        "on: push\n",
		"apps/" + strings.Repeat("n", 250): "long name\n",
	})
	check(t, os.Chmod(filepath.Join(root, "README.md"), 0o755))
	check(t, os.Mkdir(filepath.Join(root, "empty"), 0o700))
	for name, target := range map[string]string{
		"apps/db/values.yaml": "../../common/values.yaml",
		"apps/dangling":       "nowhere/to/be/found",
		"apps/self":           "self",
		"apps/all":            "..",
		"linked":              "apps/db",
	} {
		check(t, os.Symlink(target, filepath.Join(root, name)))
	}
	check(t, unix.Mkfifo(filepath.Join(root, "pipe"), 0o600))
	return root
}

var want = map[string]string{
	"README.md":                        "hello\n",
	"apps":                             "dir",
	"apps/all":                         "-> ..",
	"apps/dangling":                    "-> nowhere/to/be/found",
	"apps/db":                          "dir",
	"apps/db/secret.yaml":              "kind: Secret\n",
	`apps/db/dev-disk\x2dby.yaml`:      "kind: ConfigMap\n",
	"apps/db/values.yaml":              "-> ../../common/values.yaml",
	"apps/" + strings.Repeat("n", 250): "long name\n",
	"apps/self":                        "-> self",
	"common":                           "dir",
	"common/values.yaml":               strings.Repeat("a: b\n", 40_000),
	".github":                          "dir",
	".github/workflows":                "dir",
	".github/workflows/ci.yaml":        "on: push\n",
	"empty":                            "dir",
	"linked":                           "-> apps/db",
	"vendor":                           "dir",
	"vendor/clone":                     "dir",
	"vendor/module":                    "dir",
	"vendor/module/chart":              "dir",
	"vendor/module/chart/Chart.yaml":   "name: chart\n",
}

// What Argo CD's own sender packs arrives as it was, without .git.
func TestUnpackOfArgoCDsSender(t *testing.T) {
	work := t.TempDir()
	sent := send(t, repository(t), "apps/db", "ARGOCD_APP_NAME=db", "ARGOCD_ENV_A=1=2", "KUBE_VERSION=")

	tree, err := receive.Unpack(t.Context(), sent, work, receive.Limits{})
	check(t, err)

	if diff := cmp.Diff(want, listing(t, tree.Dir)); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	if tree.Files != 12 || tree.Bytes < 200_000 {
		t.Errorf("counted %d files of %d bytes", tree.Files, tree.Bytes)
	}
	metadata := tree.Metadata
	if metadata.AppName != "db" || metadata.AppRelPath != "apps/db" || metadata.Size == 0 || len(metadata.Checksum) != 64 {
		t.Errorf("metadata %+v", metadata)
	}
	if diff := cmp.Diff(map[string]string{"ARGOCD_APP_NAME": "db", "ARGOCD_ENV_A": "1=2", "KUBE_VERSION": ""}, metadata.Env); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	path, err := tree.AppPath()
	if err != nil || path != "apps/db" {
		t.Errorf("app path %q, %v", path, err)
	}
	check(t, tree.Remove())
	empty(t, work)
}

func TestCopyIsUnpackOfTheSame(t *testing.T) {
	work := t.TempDir()
	tree, err := receive.Copy(t.Context(), repository(t), work, receive.Limits{})
	check(t, err)
	if diff := cmp.Diff(want, listing(t, tree.Dir)); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	check(t, tree.Remove())
	empty(t, work)
}

func TestCopyRefuses(t *testing.T) {
	outside := t.TempDir()
	check(t, os.Symlink("/etc/passwd", filepath.Join(outside, "link")))
	big := t.TempDir()
	write(t, big, map[string]string{"a": "1234", "b": "1234"})
	cases := map[string]struct {
		reason string
		dir    string
		limits receive.Limits
		kind   receive.Kind
	}{
		"link":  {"a link out of the checkout would make the render depend on this machine", outside, receive.Limits{}, receive.BadLink},
		"bytes": {"the limit counts all files together", big, receive.Limits{TreeBytes: 7}, receive.OverLimit},
		"files": {"the folder itself counts as in an archive", big, receive.Limits{Files: 2}, receive.OverLimit},
		"gone":  {"a checkout that is not there is our failure, no refusal", filepath.Join(big, "gone"), receive.Limits{}, ""},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			work := t.TempDir()
			_, err := receive.Copy(t.Context(), test.dir, work, test.limits)
			if kind, _ := kindOf(err); err == nil || kind != test.kind {
				t.Errorf("got %v, want kind %q: %s", err, test.kind, test.reason)
			}
			empty(t, work)
		})
	}
}

// The tree is this user's alone, and nothing in it can be executed.
func TestModes(t *testing.T) {
	tree, err := receive.Unpack(t.Context(), send(t, repository(t), "."), t.TempDir(), receive.Limits{})
	check(t, err)
	check(t, filepath.WalkDir(tree.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && entry.Type() != fs.ModeSymlink && info.Mode().Perm()&^0o700 != 0 || entry.Type() == 0 && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	}))
}

// Argo CD compares resolved paths with the root's own, so the root must be resolved.
func TestDirHoldsNoLink(t *testing.T) {
	work := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	check(t, os.Symlink(work, link))
	tree, err := receive.Unpack(t.Context(), streamOf(pack(t, regular("a", "b"))), filepath.Join(link, "new", "folder"), receive.Limits{})
	check(t, err)
	resolved, err := filepath.EvalSymlinks(tree.Dir)
	check(t, err)
	if resolved != tree.Dir || !strings.HasPrefix(tree.Dir, work) {
		t.Errorf("tree in %s, which is %s", tree.Dir, resolved)
	}
}

func TestAppPath(t *testing.T) {
	sent := send(t, repository(t), ".")
	tree, err := receive.Unpack(t.Context(), sent, t.TempDir(), receive.Limits{})
	check(t, err)
	cases := map[string]struct {
		reason, path, want string
	}{
		"root":          {"the root is an app of its own", ".", "."},
		"empty":         {"a path that was left out is the root", "", "."},
		"folder":        {"the usual case", "apps/db", "apps/db"},
		"unclean":       {"Argo CD cleans paths too", "apps/../apps//db/", "apps/db"},
		"link":          {"Argo CD looks at the link itself, so it must stay one", "linked", "linked"},
		"below a link":  {"a link inside the tree is harmless", "apps/all/common", "apps/all/common"},
		"parent":        {"it leaves the tree", "..", ""},
		"traversal":     {"it leaves the tree", "apps/../../etc", ""},
		"absolute":      {"it leaves the tree", "/etc", ""},
		"file":          {"a file is no app", "README.md", ""},
		"missing":       {"rendering nothing would delete everything", "apps/gone", ""},
		"dangling link": {"rendering nothing would delete everything", "apps/dangling", ""},
		"git":           {".git is not unpacked", ".git", ""},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			given := receive.Tree{Dir: tree.Dir, Metadata: receive.Metadata{AppRelPath: test.path}}
			got, err := given.AppPath()
			kind, _ := kindOf(err)
			if got != test.want || (test.want == "") != (kind == receive.BadAppPath) {
				t.Errorf("got %q and %v, want %q: %s", got, err, test.want, test.reason)
			}
		})
	}
}

func TestDrain(t *testing.T) {
	sent := send(t, repository(t), "apps/db", "ARGOCD_APP_NAME=db")
	metadata, err := receive.Drain(t.Context(), sent, receive.Limits{ArchiveBytes: 1 << 20})
	check(t, err)
	if sent.next != len(sent.messages) || metadata.Env["ARGOCD_APP_NAME"] != "db" {
		t.Errorf("drained %d of %d messages, metadata %+v", sent.next, len(sent.messages), metadata)
	}

	_, err = receive.Drain(t.Context(), &stream{messages: sent.messages[1:]}, receive.Limits{})
	if kind, _ := kindOf(err); kind != receive.BadMetadata {
		t.Errorf("a stream without metadata gave %v", err)
	}
}

// What waits for its turn must hold no piece of the archive.
func TestOpenReceivesOneMessage(t *testing.T) {
	sent := send(t, repository(t), "apps/db", "ARGOCD_APP_NAME=db")
	opened, err := receive.Open(t.Context(), sent, receive.Limits{})
	check(t, err)
	if sent.next != 1 || opened.Metadata.Env["ARGOCD_APP_NAME"] != "db" {
		t.Errorf("received %d messages, metadata %+v", sent.next, opened.Metadata)
	}
	tree, err := opened.Unpack(t.Context(), t.TempDir())
	check(t, err)
	if sent.next != len(sent.messages) || tree.Files == 0 {
		t.Errorf("received %d of %d messages, %d files", sent.next, len(sent.messages), tree.Files)
	}
}

// The bound holds for all that is kept of the message.
func TestMetadataIsWeighed(t *testing.T) {
	const limit = 4096
	tests := map[string]struct {
		reason string
		change func(*apiclient.ManifestRequestMetadata)
		fits   bool
	}{
		"small": {"an ordinary request", func(m *apiclient.ManifestRequestMetadata) {
			m.Env = []*apiclient.EnvEntry{{Name: "A", Value: strings.Repeat("x", 1000)}}
		}, true},
		"value": {"Helm values are the largest variable", func(m *apiclient.ManifestRequestMetadata) {
			m.Env = []*apiclient.EnvEntry{{Name: "A", Value: strings.Repeat("x", limit)}}
		}, false},
		"path": {"a path is kept as the environment is", func(m *apiclient.ManifestRequestMetadata) { m.AppRelPath = strings.Repeat("x", limit+1) }, false},
		"name": {"and so is a name", func(m *apiclient.ManifestRequestMetadata) { m.AppName = strings.Repeat("x", limit+1) }, false},
		"many": {"a map of empty variables is larger than their names", func(m *apiclient.ManifestRequestMetadata) {
			for i := range 100 {
				m.Env = append(m.Env, &apiclient.EnvEntry{Name: fmt.Sprintf("PARAM_%d", i)})
			}
		}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			sent := streamOf(pack(t, regular("a", "b")))
			test.change(sent.messages[0].GetMetadata())
			opened, err := receive.Open(t.Context(), sent, receive.Limits{MetadataBytes: limit})
			if kind, _ := kindOf(err); (kind == "") != test.fits || !test.fits && kind != receive.OverLimit {
				t.Fatalf("%s: got %v", test.reason, err)
			}
			if test.fits && opened.Metadata.Bytes < 1000 {
				t.Errorf("%s: weighed with %d", test.reason, opened.Metadata.Bytes)
			}
		})
	}
}

// A refusal must not come before the stream's end: the client would see only "EOF".
func TestRefusalDrains(t *testing.T) {
	archive := pack(t, symlink("bad", "/etc"), regular("big", strings.Repeat("x", 1<<20)))
	sent := streamOf(append(archive, make([]byte, 1<<20)...))
	_, err := receive.Unpack(t.Context(), sent, t.TempDir(), receive.Limits{})
	if kind, _ := kindOf(err); kind != receive.BadLink || sent.next != len(sent.messages) {
		t.Errorf("got %v after %d of %d messages", err, sent.next, len(sent.messages))
	}
}

// stuck never answers, as a client that was stopped.
type stuck struct{ release chan struct{} }

func (s stuck) Recv() (*apiclient.AppStreamRequest, error) {
	<-s.release
	return nil, context.Canceled
}

func TestContextEndsTheWait(t *testing.T) {
	silent := stuck{release: make(chan struct{})}
	defer close(silent.release)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	work := t.TempDir()
	_, err := receive.Unpack(ctx, silent, work, receive.Limits{})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	empty(t, work)
}

func TestStreamBreaks(t *testing.T) {
	broken := errors.New("connection reset")
	sent := streamOf(pack(t, regular("a", "b"), regular("c", strings.Repeat("d", 1<<16))))
	sent.messages, sent.end = sent.messages[:2], broken
	if len(sent.messages) < 2 {
		t.Fatal("the archive is too small to be cut")
	}
	work := t.TempDir()
	_, err := receive.Unpack(t.Context(), sent, work, receive.Limits{})
	if kind, _ := kindOf(err); !errors.Is(err, broken) || kind != "" {
		t.Errorf("got %v, want the stream's own error", err)
	}
	empty(t, work)
}
