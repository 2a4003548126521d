package controlplane

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
)

func TestRepositoryIsDeterministic(t *testing.T) {
	t.Setenv("GIT_AUTHOR_NAME", "somebody else") // must not reach the commit
	var revisions [2]string
	for i := range revisions {
		repository, err := NewRepository(t.Context(), filepath.Join(t.TempDir(), "nested"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := repository.Commit(t.Context(), "one", map[string]string{"a/b.yaml": "b", "gone": ""}); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(repository.Dir(), "gone")); err != nil {
			t.Fatal(err)
		}
		files := fstest.MapFS{"d/e.yaml": {Data: []byte("e")}}
		revisions[i], err = repository.CommitFS(t.Context(), "two", "c", files)
		if err != nil {
			t.Fatal(err)
		}
		list, err := repository.git(t.Context(), "ls-tree", "-r", "--name-only", "HEAD")
		if err != nil || list != "a/b.yaml\nc/d/e.yaml" {
			t.Errorf("files are %q (error %v)", list, err)
		}
	}
	if revisions[0] != revisions[1] {
		t.Errorf("the same commits have the revisions %v", revisions)
	}
}

func TestRepositoryRefusesToWriteOutside(t *testing.T) {
	repository, err := NewRepository(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repository.Commit(t.Context(), "escape", map[string]string{"../outside": ""}); err == nil {
		t.Error("a file outside of the repository was written")
	}
}
