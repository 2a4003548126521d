//go:build race

package extension_test

// workerMemory is the --worker-memory of these tests, in MiB: the race detector takes
// several times as much as the program.
const workerMemory = "2048"
