// Package startup sets what Argo CD's packages read from the environment while they
// are initialised, which is before main begins, unless it is set already. Importing
// it is all there is to do.
//
//	ARGOCD_HELM_ALLOW_CONCURRENCY=true   Argo CD's renderer would otherwise keep a
//	    lock for every folder that it ever rendered a chart in. For repo-server
//	    those are few; here every request has a folder of its own.
//
// Go initialises packages in the order of their paths, as soon as what they import
// is (see "Program initialization" in the language specification). This package
// imports os only; Argo CD's also need github.com/sirupsen/logrus, which needs os
// and comes later by its name.
package startup

import "os"

func init() { //nolint:gochecknoinits // Argo CD's packages read it in theirs.
	const allowConcurrency = "ARGOCD_HELM_ALLOW_CONCURRENCY"
	if _, set := os.LookupEnv(allowConcurrency); !set {
		// It can only fail for names that hold "=" or NUL.
		_ = os.Setenv(allowConcurrency, "true")
	}
}
