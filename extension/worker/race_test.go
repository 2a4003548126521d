//go:build race

package worker_test

// memory is what a child may take in these tests: the race detector takes several times
// as much as the program, and ends it where it gets no more.
const memory, raced = 2 << 30, true
