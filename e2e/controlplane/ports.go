package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"syscall"
)

const (
	// Ports come from below the range from which Linux serves outgoing
	// connections, so that no connection of ours takes one before its owner.
	firstPort = 20000
	lastPort  = 29999
	blockSize = 20
)

const host = "127.0.0.1"

// ports hands out free ports of one block. A file lock reserves the block for
// the life of the plane, so two planes never race for a port.
type ports struct {
	next, end int
	release   func()
}

// reservePorts takes the first block that no other plane of this user holds.
func reservePorts() (*ports, error) {
	cache, err := cacheFolder()
	if err != nil {
		return nil, err
	}
	for first := firstPort; first+blockSize <= lastPort+1; first += blockSize {
		release, err := tryLock(filepath.Join(cache, fmt.Sprintf("ports-%d.lock", first)))
		if errors.Is(err, syscall.EWOULDBLOCK) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reserve ports from %d: %w", first, err)
		}
		return &ports{next: first, end: first + blockSize, release: release}, nil
	}
	return nil, fmt.Errorf("no block of %d ports is free between %d and %d", blockSize, firstPort, lastPort)
}

// fill takes a port for each element.
func (p *ports) fill(ctx context.Context, taken []string) error {
	for i := range taken {
		port, err := p.take(ctx)
		if err != nil {
			return err
		}
		taken[i] = port
	}
	return nil
}

// take returns a port that nobody listens on.
func (p *ports) take(ctx context.Context) (string, error) {
	for p.next < p.end {
		port := strconv.Itoa(p.next)
		p.next++
		// All addresses, because some components listen on all of them.
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", ":"+port)
		if err != nil {
			continue // taken by somebody else
		}
		if err := listener.Close(); err != nil {
			return "", fmt.Errorf("release port %s: %w", port, err)
		}
		return port, nil
	}
	return "", fmt.Errorf("too few free ports below %d", p.end)
}
