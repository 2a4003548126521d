//go:build !race

package confine_test

// raced tells that the race detector runs these tests.
const raced = false
