package extension

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	oldSecret = "0123456789abcdef-old"
	newSecret = "0123456789abcdef-new"
)

func TestOpenSecrets(t *testing.T) {
	tests := map[string]struct {
		reason string
		// files are their contents; "-" stands for none.
		files []string
		want  []string
		says  string
	}{
		"one":                {reason: "the usual", files: []string{oldSecret}, want: []string{oldSecret}},
		"line break":         {reason: "editors end files so", files: []string{" " + oldSecret + "\r\n"}, want: []string{oldSecret}},
		"two":                {reason: "while Argo CD changes over", files: []string{oldSecret, newSecret}, want: []string{oldSecret, newSecret}},
		"second not there":   {reason: "outside a rotation there is no second one", files: []string{oldSecret, "-"}, want: []string{oldSecret}},
		"first not there":    {reason: "either may go", files: []string{"-", newSecret}, want: []string{newSecret}},
		"none named":         {reason: "nobody is let in without", says: "--secret-file"},
		"three":              {reason: "old ones must go", files: []string{oldSecret, newSecret, oldSecret + "x"}, says: "too many"},
		"not there":          {reason: "the user named it", files: []string{"-"}, says: "no such file"},
		"neither there":      {reason: "nobody would be let in", files: []string{"-", "-"}, says: "none of"},
		"empty":              {reason: "an empty header would be let in", files: []string{"\n"}, says: "is empty"},
		"reference":          {reason: "Argo CD sends an unresolved reference as it is", files: []string{"$moorpin-proxy:secret-value"}, says: "begins with $"},
		"short":              {reason: "it can be guessed", files: []string{"hunter2"}, says: "guessed"},
		"two lines":          {reason: "no header can carry them", files: []string{oldSecret + "\n" + newSecret}, says: "no header"},
		"large":              {reason: "it is another file", files: []string{strings.Repeat("x", maxSecret+1)}, says: "no secret"},
		"second one spoiled": {reason: "what is there must be right at the start", files: []string{oldSecret, "short"}, says: "guessed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var paths []string
			for i, content := range test.files {
				path := filepath.Join(t.TempDir(), string(rune('a'+i)))
				if content != "-" {
					writeSecret(t, path, content)
				}
				paths = append(paths, path)
			}
			secrets, err := openSecrets(paths, slog.New(slog.DiscardHandler))
			if test.says != "" {
				if err == nil || !strings.Contains(err.Error(), test.says) {
					t.Fatalf("%s: want an error about %q, have %v", test.reason, test.says, err)
				}
				for _, content := range test.files {
					if secret := strings.TrimSpace(content); len(secret) > 2 && strings.Contains(err.Error(), secret) {
						t.Errorf("the error holds the secret: %v", err)
					}
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			wantSecrets(t, secrets, test.want...)
		})
	}
}

// TestSecretsRotate goes the way of a rotation, the files swapped by a link as
// Kubernetes does it.
func TestSecretsRotate(t *testing.T) {
	volume := t.TempDir()
	versions := 0
	publish := func(values map[string]string) {
		t.Helper()
		versions++
		version := filepath.Join(volume, fmt.Sprintf("..version-%d", versions))
		if err := os.Mkdir(version, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, value := range values {
			writeSecret(t, filepath.Join(version, name), value)
		}
		link := filepath.Join(volume, "..data_tmp")
		if err := os.Symlink(version, link); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(link, filepath.Join(volume, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	current, next := filepath.Join(volume, "..data", "current"), filepath.Join(volume, "..data", "next")
	publish(map[string]string{"current": oldSecret})
	var said strings.Builder
	secrets, err := openSecrets([]string{current, next}, slog.New(slog.NewTextHandler(&said, nil)))
	if err != nil {
		t.Fatal(err)
	}
	wantSecrets(t, secrets, oldSecret)
	for _, step := range []struct {
		publish map[string]string
		want    []string
	}{
		{map[string]string{"current": oldSecret, "next": newSecret}, []string{oldSecret, newSecret}},
		{map[string]string{"current": newSecret}, []string{newSecret}},
		{map[string]string{"current": "$unresolved:reference"}, nil},
		{map[string]string{}, nil},
		{map[string]string{"current": newSecret}, []string{newSecret}},
	} {
		publish(step.publish)
		secrets.reload()
		secrets.reload()
		wantSecrets(t, secrets, step.want...)
	}
	for _, wanted := range []string{"begins with $", "no secret is left", "accepted=2"} {
		if !strings.Contains(said.String(), wanted) {
			t.Errorf("the log lacks %q:\n%s", wanted, said.String())
		}
	}
	for _, secret := range []string{oldSecret, newSecret} {
		if strings.Contains(said.String(), secret) {
			t.Errorf("the log holds a secret:\n%s", said.String())
		}
	}
	before := said.Len()
	secrets.reload()
	if said.Len() != before {
		t.Errorf("nothing changed, and the log says %q", said.String()[before:])
	}
}

// TestHalfASecret: what is read while somebody writes the file is not let in, and the
// old secret holds until the new one is whole.
func TestHalfASecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	writeSecret(t, path, oldSecret)
	secrets, err := openSecrets([]string{path}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		content string
		want    []string
	}{
		{newSecret[:minSecret], []string{oldSecret}}, // the first half of it
		{newSecret, []string{oldSecret}},
		{newSecret, []string{newSecret}},
		{"", nil}, // revoked
		{newSecret, nil},
		{newSecret, []string{newSecret}},
	} {
		writeSecret(t, path, step.content)
		secrets.reload()
		wantSecrets(t, secrets, step.want...)
	}
}

// TestSecretsWatch: nobody has to restart anything.
func TestSecretsWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	writeSecret(t, path, oldSecret)
	secrets, err := openSecrets([]string{path}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	go secrets.watch(t.Context(), time.Millisecond)
	writeSecret(t, path, newSecret)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if now := secrets.current(); len(now) == 1 && string(now[0]) == newSecret {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the new secret is not taken")
		}
	}
}

func writeSecret(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func wantSecrets(t *testing.T, secrets *secretFiles, want ...string) {
	t.Helper()
	var have []string
	for _, secret := range secrets.current() {
		have = append(have, string(secret))
	}
	if strings.Join(have, "\n") != strings.Join(want, "\n") {
		t.Errorf("want %q, have %q", want, have)
	}
}
