//go:build race

package api_test

// requests is how many are sent at once. The race detector takes ten times as long.
const requests, askers = 2_000, 200
