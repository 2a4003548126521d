// Package freeport finds addresses for programs that are told where to listen. It refuses
// ports that the kernel gives to outgoing connections, any of which may take one between
// its choice and its use.
package freeport

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// The range of the ports, below the one that Linux gives out by itself.
const first, last = 10_000, 32_000

// Address is one of this machine, HOST:PORT, that nobody listens on. It ends the test
// where there is none.
func Address(t testing.TB) string {
	t.Helper()
	var err error
	for range 1000 {
		port := first + rand.IntN(last-first)
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		var listener net.Listener
		listener, err = new(net.ListenConfig).Listen(t.Context(), "tcp", address)
		if err != nil {
			continue
		}
		if err = listener.Close(); err == nil {
			return address
		}
	}
	t.Fatalf("find a free port: %v", err)
	return ""
}
