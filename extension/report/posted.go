package report

import (
	"fmt"

	"github.com/moorpin/moorpin/pkg/argocd"
	"github.com/moorpin/moorpin/pkg/drift"
)

// Posted is a snapshot that somebody sent. Nobody believes it before it is read.
type Posted struct {
	// Document is the snapshot in JSON.
	Document []byte
	// Of is whose snapshot it must be; the zero Identity takes any.
	Of Identity
	// By is the user who sent it, "" where that is not known.
	By string
}

// Identity names an Application and the project that it is in.
type Identity struct {
	Application argocd.Ref
	Project     string
}

// ForeignError says that a snapshot is not of the Application that it must be of.
type ForeignError struct {
	// Field of the Application is not what was Checked.
	Field, Checked string
}

// Error is the sentence for people.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s of the Application is not %q, which Argo CD has checked", e.Field, e.Checked)
}

// Read reads the snapshot and masks its Secrets. The error is an [ErrSnapshot], or a
// [*ForeignError].
func (p Posted) Read() (*drift.Snapshot, error) {
	snapshot, _, err := p.read()
	return snapshot, err
}

// read also returns the values that were masked: what is told of the snapshot may quote
// them, out of a message of somebody else.
func (p Posted) read() (*drift.Snapshot, []drift.SecretValue, error) {
	snapshot, err := drift.Parse(p.Document)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	if err := p.Of.Check(snapshot.Application); err != nil {
		return nil, nil, err
	}
	values, err := mask(snapshot, nil) // the document was weighed
	if err != nil {
		return nil, nil, err
	}
	return snapshot, values, nil
}

// Check refuses an Application that is another one, or in another project.
func (i Identity) Check(app map[string]any) error {
	if i == (Identity{}) {
		return nil
	}
	metadata, _ := app["metadata"].(map[string]any)
	spec, _ := app["spec"].(map[string]any)
	for _, row := range []struct {
		field, want string
		got         any
	}{
		{"metadata.namespace", i.Application.Namespace, metadata["namespace"]},
		{"metadata.name", i.Application.Name, metadata["name"]},
		{"spec.project", i.Project, named(spec)},
	} {
		if row.got != any(row.want) {
			return &ForeignError{Field: row.field, Checked: row.want}
		}
	}
	return nil
}

// named is the spec's project; an Application that names none is in the default one.
func named(spec map[string]any) any {
	if project, ok := spec["project"]; ok && project != "" {
		return project
	}
	return argocd.DefaultProject
}
