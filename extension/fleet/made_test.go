package fleet_test

import "github.com/moorpin/moorpin/e2e/crowd"

type object = map[string]any

// The fleet of the tests.
var (
	application = crowd.Application
	made        = crowd.All
)
