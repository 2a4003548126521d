package receive_test

import (
	"archive/tar"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/moorpin/moorpin/cmp/receive"
)

// tower makes n links, each through the next and 509 folders further down, and as
// many more to the first of them.
func tower(n, more int) []tar.Header {
	down := strings.Repeat("a/", 509)
	headers := []tar.Header{symlink(fmt.Sprintf("l%d", n), "a/a")}
	for i := 1; i < n; i++ {
		headers = append(headers, symlink(fmt.Sprintf("l%d", i), fmt.Sprintf("l%d/%s", i+1, down)))
	}
	for i := range more {
		headers = append(headers, symlink(fmt.Sprintf("k%d", i), "l1"))
	}
	return headers
}

// Some sixty links that pile up paths of 64 KiB must not hold up a server for
// minutes.
func TestTowerOfLinks(t *testing.T) {
	work := t.TempDir()
	start := time.Now()
	_, err := receive.Unpack(t.Context(), streamOf(pack(t, tower(63, 300)...)), work, receive.Limits{})
	took := time.Since(start)
	if kind, entry := kindOf(err); kind != receive.BadLink || entry != "l58" {
		t.Errorf("got %v, want the refusal of l58, the first that leads to more than 4096 bytes", err)
	}
	if took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	t.Logf("took %v", took)
	empty(t, work)
}
