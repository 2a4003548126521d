// Package ui holds the Drift pages of Argo CD's UI: the TypeScript sources beside this
// file, and the bundle that is built from them, which is part of the binary.
//
// The bundle is committed, so that building Moorpin needs no Node; `make check` fails
// where it is not what the sources make. It refuses to be more than a file of its own:
// it holds no React, takes the page's, and asks nobody but the page's own origin.
package ui

import _ "embed"

// BundleName is what Argo CD's API server takes for an extension's file.
const BundleName = "extension-moorpin.js"

//go:embed dist/extension-moorpin.js
var bundle []byte

// Bundle is the JavaScript that Argo CD's UI loads. The caller owns the bytes.
func Bundle() []byte { return append([]byte(nil), bundle...) }
