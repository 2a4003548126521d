// Package cases reads and writes the corpus of the drift classifier: one JSON file a
// case, in a folder named after the mechanism, as pkg/drift/testdata/cases holds them.
//
// A case is a snapshot with the label of what was done to it. The label is written
// before anything is classified and is never fitted to an answer. [Load] reads a whole
// folder; where a snapshot names a well-known CRD as {"$crd": name}, the real one of
// package e2e/crds is put in its place. It refuses a file with an unknown key, a name
// that is not the file's path, and the name of a CRD that nobody ships.
package cases

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/moorpin/moorpin/pkg/drift"
)

// Origins of cases.
const (
	Recorded = "recorded" // on a real control plane, by package e2e/record
	Written  = "written"  // by hand
)

// CRDKey marks an object of a snapshot that stands for a well-known CRD.
const CRDKey = "$crd"

// Case is one snapshot and what is true about it.
type Case struct {
	// Name is folder/file without the ending, such as "hpa-replicas/behind-a-canary".
	Name   string `json:"name"`
	Origin string `json:"origin"`
	// Cause is what was done, in one sentence.
	Cause    string         `json:"cause"`
	Snapshot drift.Snapshot `json:"snapshot"`
	Expect   Expect         `json:"expect"`
	// ArgoCD is Argo CD's own verdict; only recorded cases have one.
	ArgoCD *Verdict `json:"argocd,omitempty"`
}

// Expect is the label of a case.
type Expect struct {
	Findings []Finding `json:"findings"`
	// Sync is the worst of the findings.
	Sync drift.Sync `json:"sync"`
}

// Finding is one mechanism that is at work, on a resource or on the Application.
type Finding struct {
	Resource  drift.ResourceRef `json:"resource"`
	Mechanism drift.Mechanism   `json:"mechanism"`
	// Fields are JSON pointers; none for an Application or a one-sided resource.
	Fields []string `json:"fields"`
	// Flagged tells whether Argo CD shows the difference.
	Flagged bool       `json:"flagged"`
	Sync    drift.Sync `json:"sync"`
	// Fix is the kind of the fix to recommend first.
	Fix drift.FixKind `json:"fix"`
}

// Verdict is what Argo CD said about the Application of a recorded case.
type Verdict struct {
	Sync      string            `json:"sync"`
	Resources []ResourceVerdict `json:"resources"`
}

// ResourceVerdict is what Argo CD said about one resource, and the two states that it
// compared to come to it.
type ResourceVerdict struct {
	drift.ResourceRef `json:",inline"`

	Status          string         `json:"status"`
	RequiresPruning bool           `json:"requiresPruning,omitempty"`
	NormalizedLive  map[string]any `json:"normalizedLive,omitempty"`
	PredictedLive   map[string]any `json:"predictedLive,omitempty"`
}

// Folder is the part of the name that says which folder the case lies in.
func (c *Case) Folder() string {
	folder, _, _ := strings.Cut(c.Name, "/")
	return folder
}

// Holdout tells whether the case is kept aside from those who write rules.
func (c *Case) Holdout() bool { return sha256.Sum256([]byte(c.Name))[0]%5 == 0 }

// Load reads every case below the folder, sorted by name.
func Load(ctx context.Context, dir string) ([]Case, error) {
	var loaded []Case
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		next, err := read(ctx, path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		inside, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if want := strings.TrimSuffix(filepath.ToSlash(inside), ".json"); next.Name != want {
			return fmt.Errorf("%s: its name is %q, its place says %q", path, next.Name, want)
		}
		loaded = append(loaded, next)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load cases: %w", err)
	}
	return loaded, nil
}

// Read reads the case of one file.
func Read(ctx context.Context, path string) (Case, error) {
	read, err := read(ctx, path)
	if err != nil {
		return Case{}, fmt.Errorf("read case %s: %w", path, err)
	}
	return read, nil
}

// Label reads what is true of a case from its file. That of a case which is to be recorded
// holds its name, origin, cause and label alone.
func Label(dir, name string) (Expect, error) {
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)+".json"))
	if err != nil {
		return Expect{}, fmt.Errorf("read the label of %s: %w; write name, origin, cause and expect into the case's file first", name, err)
	}
	labelled, err := Decode(data)
	if err == nil && len(labelled.Expect.Findings) == 0 {
		err = errors.New("there is none")
	}
	if err != nil {
		return Expect{}, fmt.Errorf("read the label of %s: %w", name, err)
	}
	return labelled.Expect, nil
}

func read(ctx context.Context, path string) (Case, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Case{}, err
	}
	found, err := Decode(data)
	if err != nil {
		return Case{}, err
	}
	if err := found.resolve(ctx); err != nil {
		return Case{}, err
	}
	return found, nil
}

// Decode reads a case as it stands, without the CRDs that it refers to.
func Decode(data []byte) (Case, error) {
	var found Case
	// Whole numbers stay whole, as in objects that come from an API server.
	strict, err := kjson.UnmarshalStrict(data, &found)
	if err != nil {
		return Case{}, fmt.Errorf("decode case: %w", err)
	}
	if len(strict) > 0 {
		return Case{}, fmt.Errorf("decode case: %w", strict[0])
	}
	return found, nil
}

// resolve puts the CRDs in their places.
func (c *Case) resolve(ctx context.Context) error {
	for i, object := range c.Snapshot.Related {
		name, ok := object[CRDKey].(string)
		if !ok {
			continue
		}
		crd, err := findCRD(ctx, name)
		if err != nil {
			return err
		}
		c.Snapshot.Related[i] = crd
	}
	return nil
}

// Write writes the case to its place below the folder: keys sorted, so that the same
// case gives the same bytes.
func Write(dir string, written Case) error {
	plain, err := json.Marshal(written)
	if err != nil {
		return fmt.Errorf("encode case %s: %w", written.Name, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(plain))
	decoder.UseNumber() // a float64 would lose the digits of long numbers
	var sorted map[string]any
	if err := decoder.Decode(&sorted); err != nil {
		return fmt.Errorf("encode case %s: %w", written.Name, err)
	}
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(sorted); err != nil {
		return fmt.Errorf("encode case %s: %w", written.Name, err)
	}
	path := filepath.Join(dir, filepath.FromSlash(written.Name)+".json")
	if there, err := os.ReadFile(path); err == nil && bytes.Contains(there, []byte(`"origin": "written"`)) != (written.Origin == "written") {
		return fmt.Errorf("write case %s: a case of this name has another origin; give one of them another name", written.Name)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write case: %w", err)
	}
	if err := os.WriteFile(path, data.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write case: %w", err)
	}
	return nil
}
