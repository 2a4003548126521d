package extension

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// barPause is the least time between two pictures of a bar.
const barPause = 100 * time.Millisecond

// progress shows on a terminal how far a command is, and nothing anywhere else: a log
// is no place for a bar.
type progress struct {
	to   io.Writer
	bar  *progressbar.ProgressBar
	name string
}

func newProgress(to io.Writer) *progress {
	file, ok := to.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return &progress{}
	}
	return &progress{to: to}
}

// step shows that so many of a total are done; a total of 0 is not known.
func (p *progress) step(name string, done, total int) {
	if p.to == nil {
		return
	}
	if p.bar == nil || p.name != name {
		p.clear()
		if total == 0 {
			total = -1
		}
		p.name = name
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(p.to), progressbar.OptionSetDescription(name),
			progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(barPause))
	}
	_ = p.bar.Set(done) // the bar is not what the user asked for
}

// clear takes the bar away.
func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear() // the same
		p.bar = nil
	}
}
