package server

import (
	"context"
	"sync"

	"github.com/argoproj/argo-cd/v2/cmpserver/apiclient"

	"github.com/moorpin/moorpin/cmp/receive"
)

// maxDrain bounds what is read of a request that was refused already.
const maxDrain = 4 << 30

// inbound reads a request's stream and remembers whether it has ended. It is
// safe for concurrent use, because receiving may still wait for a message when
// it has been given up.
type inbound struct {
	mu     sync.Mutex
	stream receive.Stream
	ended  bool
}

// Recv receives the next message.
func (i *inbound) Recv() (*apiclient.AppStreamRequest, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	message, err := i.stream.Recv()
	if err != nil {
		i.ended = true
	}
	return message, err //nolint:wrapcheck // io.EOF must stay io.EOF, and receive wraps the rest
}

func (i *inbound) hasEnded() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.ended
}

// drain receives what is left, and drops it. Repo-server learns nothing of an
// error that it is told while it still sends: it says "EOF" and never reads
// the answer. Draining ends with the stream, or with the caller's context,
// which ends the stream.
func (i *inbound) drain(ctx context.Context) {
	for left := maxDrain; left > 0 && !i.hasEnded() && ctx.Err() == nil; {
		message, err := i.Recv()
		if err != nil {
			return
		}
		left -= len(message.GetFile().GetChunk())
	}
}
