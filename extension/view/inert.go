package view

import "github.com/moorpin/moorpin/pkg/drift"

// Clean is a text that comes from elsewhere, on one line and without control and
// format characters, which a terminal would obey.
func Clean(text string) string { return clean(text) }

// Prose is a text that comes from elsewhere with all that would be Markdown escaped.
func Prose(text string) string { return prose(text) }

// Code is a text that comes from elsewhere as inline code in Markdown, in which
// nothing is markup.
func Code(text string) string { return code(text) }

// Name is how the reports call an object: Kind.group namespace/name.
func Name(ref drift.ResourceRef) string { return name(ref) }
