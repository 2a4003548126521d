//go:build race

package confine_test

// raced tells that the race detector runs these tests. It needs several times the memory
// of the program, and ends one that gets no more in a way of its own.
const raced = true
