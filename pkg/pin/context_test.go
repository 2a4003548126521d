package pin_test

import (
	"context"
	"time"
)

// testContext bounds the download of the modules that carry the CRDs.
func testContext() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	time.AfterFunc(10*time.Minute, cancel)
	return ctx
}
