package state

import "runtime"

// Portions splits n things for all processors, none of which gets fewer than the least.
func Portions(n, least int) [][2]int {
	size := max(least, (n+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	var split [][2]int
	for start := 0; start < n; start += size {
		split = append(split, [2]int{start, min(start+size, n)})
	}
	return split
}
