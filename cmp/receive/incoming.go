package receive

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/argoproj/argo-cd/v2/cmpserver/apiclient"
)

// ahead is how many messages are received before they are asked for, so that
// receiving and unpacking overlap. A message has a KiB unless Argo CD is told otherwise.
const ahead = 256

// incoming receives a stream's messages in the background, so that waiting for one
// ends with the context.
type incoming struct {
	ctx      context.Context // of the one call that owns this value
	messages chan *apiclient.AppStreamRequest
	stop     chan struct{}
	// err is why messages is closed; io.EOF is the proper end.
	err error
}

func listen(ctx context.Context, stream Stream) *incoming {
	incoming := &incoming{
		ctx: ctx, messages: make(chan *apiclient.AppStreamRequest, ahead), stop: make(chan struct{}),
	}
	go incoming.receive(stream)
	return incoming
}

// receive ends with the stream. After close it may wait for one more message; gRPC
// ends that wait when the handler returns.
func (i *incoming) receive(stream Stream) {
	defer close(i.messages)
	for {
		message, err := stream.Recv()
		if err != nil {
			i.err = err
			return
		}
		select {
		case i.messages <- message:
		case <-i.stop:
			i.err = context.Canceled
			return
		}
	}
}

func (i *incoming) close() { close(i.stop) }

// next returns the next message, or io.EOF behind the last.
func (i *incoming) next() (*apiclient.AppStreamRequest, error) {
	select {
	case message, open := <-i.messages:
		if open {
			return message, nil
		}
		if errors.Is(i.err, io.EOF) {
			return nil, io.EOF
		}
		return nil, fmt.Errorf("receive the next message: %w", i.err)
	case <-i.ctx.Done():
		return nil, fmt.Errorf("wait for the next message: %w", context.Cause(i.ctx))
	}
}

// messages is where the metadata is taken from.
type messages interface {
	next() (*apiclient.AppStreamRequest, error)
}

// first receives one message, and none ahead of it.
type first struct {
	ctx    context.Context // of the one call that owns this value
	stream Stream
}

// next ends with the context; what is behind it ends with the stream.
func (f first) next() (*apiclient.AppStreamRequest, error) {
	type received struct {
		message *apiclient.AppStreamRequest
		err     error
	}
	done := make(chan received, 1)
	go func() {
		message, err := f.stream.Recv()
		done <- received{message, err}
	}()
	select {
	case got := <-done:
		if got.err != nil && !errors.Is(got.err, io.EOF) {
			return nil, fmt.Errorf("receive the next message: %w", got.err)
		}
		return got.message, got.err
	case <-f.ctx.Done():
		return nil, fmt.Errorf("wait for the next message: %w", context.Cause(f.ctx))
	}
}

// drain receives the rest and drops it.
func (i *incoming) drain() error {
	for {
		_, err := i.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// drainAfter receives the rest of a stream that was refused, so that the sender
// comes to hear why. Other errors mean that there is no rest or no time.
func (i *incoming) drainAfter(err error) error {
	if _, refused := errors.AsType[*Error](err); !refused {
		return nil
	}
	return i.drain()
}
