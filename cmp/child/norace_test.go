//go:build !race

package child_test

// raced tells that the race detector runs these tests.
const raced = false
