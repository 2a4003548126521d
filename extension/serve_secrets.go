package extension

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/moorpin/moorpin/pkg/cli"
)

const (
	// maxSecretFiles is the value in force and the one before it or after it.
	maxSecretFiles = 2
	// minSecret is the least length of a shared secret; 16 random characters cannot be guessed.
	minSecret = 16
	// maxSecret keeps a wrong file from being read whole.
	maxSecret = 4 << 10
	// secretsPause is how often the files are read again. Kubernetes takes a minute to
	// renew them, so more often would gain nothing.
	secretsPause = 3 * time.Second
)

// secretFiles holds the shared secrets that the files hold now. A file that is gone or
// spoilt takes its secret with it: without any, nobody is let in.
type secretFiles struct {
	paths []string
	// now are the values, never changed in place.
	now atomic.Pointer[[][]byte]
	// accepted and read are those of each file: what is in force, and what was there at
	// the last reading; nil for none.
	accepted, read [][]byte
	log            *slog.Logger
	// said are the complaints of the last reading, so that each is logged once.
	said []string
}

// openSecrets reads the files for the first time. One that is not there yet is no
// mistake as long as another is: a rotation adds and removes the second one.
func openSecrets(paths []string, log *slog.Logger) (*secretFiles, error) {
	switch {
	case len(paths) == 0:
		return nil, cli.Mistake(errors.New("name the file of the secret that Argo CD sends with --secret-file; make one with `openssl rand -hex 32`"))
	case len(paths) > maxSecretFiles:
		return nil, cli.Mistake(fmt.Errorf("--secret-file: %d files are too many: %d are accepted, the secret in force and the one that it gives way to", len(paths), maxSecretFiles))
	}
	s := &secretFiles{paths: paths, log: log, accepted: make([][]byte, len(paths)), read: make([][]byte, len(paths))}
	var problems []error
	for _, path := range paths {
		_, err := readSecret(path)
		if err != nil && (!errors.Is(err, fs.ErrNotExist) || len(paths) == 1) {
			problems = append(problems, fmt.Errorf("--secret-file: %w", err))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, cli.Mistake(err)
	}
	for range 2 { // what is there at the start counts
		s.now.Store(nil)
		s.reload()
	}
	if len(s.current()) == 0 {
		return nil, cli.Mistake(fmt.Errorf("--secret-file: none of %s is there", strings.Join(paths, ", ")))
	}
	return s, nil
}

// current are the secrets that are accepted. They are shared: do not change them.
func (s *secretFiles) current() [][]byte { return *s.now.Load() }

// watch reads the files again and again until ctx ends. Reading compares what is in
// them: the times of files that Kubernetes swaps by a link say little.
func (s *secretFiles) watch(ctx context.Context, pause time.Duration) {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.reload()
		}
	}
}

// reload reads the files, and logs what changed, never the secrets. A value counts when
// it was there twice: the first time somebody may still be writing it. One that is gone
// does not count any more at once.
func (s *secretFiles) reload() {
	secrets := make([][]byte, 0, len(s.paths))
	said := make([]string, 0, len(s.paths))
	for i, path := range s.paths {
		secret, err := readSecret(path)
		switch {
		case err != nil:
			said = append(said, err.Error())
			s.complain(err)
			s.accepted[i], secret = nil, nil
		case bytes.Equal(secret, s.read[i]):
			s.accepted[i] = secret
		}
		s.read[i] = secret
		if s.accepted[i] != nil {
			secrets = append(secrets, s.accepted[i])
		}
	}
	s.said = said
	before := s.now.Swap(&secrets)
	if before == nil || slices.EqualFunc(*before, secrets, bytes.Equal) {
		return
	}
	if len(secrets) == 0 {
		s.log.Error("no secret is left: every request is refused until one of the files holds one again")
		return
	}
	s.log.Info("the secrets changed", "accepted", len(secrets))
}

// complain logs why a file holds no secret, once. One that is not there is usual while
// another is: a rotation adds and removes it.
func (s *secretFiles) complain(err error) {
	switch {
	case slices.Contains(s.said, err.Error()):
	case errors.Is(err, fs.ErrNotExist):
		s.log.Info("a secret's file is not there", "reason", err.Error())
	default:
		s.log.Warn("a secret is not accepted", "reason", err.Error())
	}
}

// readSecret reads one secret: what the file holds, spaces and line breaks around it
// set aside.
func readSecret(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err //nolint:wrapcheck // the error names the file
	}
	defer func() { _ = file.Close() }() // only read from
	data, err := io.ReadAll(io.LimitReader(file, maxSecret+1))
	if err != nil {
		return nil, err //nolint:wrapcheck // the error names the file
	}
	secret := bytes.TrimSpace(data)
	switch {
	case len(data) > maxSecret:
		return nil, fmt.Errorf("%s: more than %d bytes are no secret", path, maxSecret)
	case len(secret) == 0:
		return nil, fmt.Errorf("%s is empty", path)
	case secret[0] == '$':
		return nil, fmt.Errorf("%s begins with $: it holds the name of a secret, as argocd-cm does, where the value belongs", path)
	case bytes.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, fmt.Errorf("%s holds a character that no header can carry: write one line of letters and digits", path)
	case len(secret) < minSecret:
		return nil, fmt.Errorf("%s: a secret of %d characters can be guessed; %d are the least, make one with `openssl rand -hex 32`", path, len(secret), minSecret)
	}
	return secret, nil
}
