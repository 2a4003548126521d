//go:build !race

package api_test

// requests is how many are sent at once.
const requests, askers = 10_000, 500
