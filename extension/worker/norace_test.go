//go:build !race

package worker_test

// memory is what a child may take in these tests.
const memory, raced = 256 << 20, false
