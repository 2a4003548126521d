package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// ReadAll reads everything up to a limit in bytes, or stops waiting for it when ctx
// ends: a read from a terminal cannot be interrupted otherwise.
func ReadAll(ctx context.Context, in io.Reader, limit int64) ([]byte, error) {
	type outcome struct {
		data []byte
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(in, limit+1))
		done <- outcome{data, err}
	}()
	select {
	case read := <-done:
		if read.err == nil && int64(len(read.data)) > limit {
			return nil, Mistake(fmt.Errorf("it is larger than %d MiB", limit>>20))
		}
		return read.data, read.err
	case <-ctx.Done():
		return nil, errors.Join(errors.New("interrupted"), ctx.Err())
	}
}
