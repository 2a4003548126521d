package receive_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/argoproj/argo-cd/v2/cmpserver/apiclient"
	"github.com/argoproj/argo-cd/v2/util/cmp"

	"github.com/moorpin/moorpin/cmp/receive"
)

// stream plays messages and then an error, io.EOF by default.
type stream struct {
	messages []*apiclient.AppStreamRequest
	end      error
	next     int
}

func (s *stream) Recv() (*apiclient.AppStreamRequest, error) {
	if s.next < len(s.messages) {
		s.next++
		return s.messages[s.next-1], nil
	}
	if s.end != nil {
		return nil, s.end
	}
	return nil, io.EOF
}

// Send makes a stream usable as the target of Argo CD's own sender.
func (s *stream) Send(message *apiclient.AppStreamRequest) error {
	// The sender uses the chunk's memory again, as gRPC has copied it by then.
	if piece := message.GetFile(); piece != nil {
		message = cmp.AppFileRequest(bytes.Clone(piece.GetChunk()))
	}
	s.messages = append(s.messages, message)
	return nil
}

// send packs root with Argo CD's own code, as repo-server does.
func send(t testing.TB, root, app string, env ...string) *stream {
	t.Helper()
	sent := &stream{}
	err := cmp.SendRepoStream(t.Context(), filepath.Join(root, app), root, sent, env, nil)
	if err != nil {
		t.Fatal(err)
	}
	return sent
}

// streamOf makes a stream of an archive that is already packed.
func streamOf(archive []byte) *stream {
	sum := sha256.Sum256(archive)
	messages := []*apiclient.AppStreamRequest{{Request: &apiclient.AppStreamRequest_Metadata{
		Metadata: &apiclient.ManifestRequestMetadata{Checksum: hex.EncodeToString(sum[:])},
	}}}
	for len(archive) > 0 {
		n := min(len(archive), 1024)
		messages = append(messages, cmp.AppFileRequest(archive[:n]))
		archive = archive[n:]
	}
	return &stream{messages: messages}
}

func regular(name, content string) tar.Header {
	return tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(content)), Linkname: content}
}

func symlink(name, target string) tar.Header {
	return tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target}
}

// pack makes a gzipped tar; a regular file's content stands in its Linkname.
func pack(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	return zip(t, tarOf(t, headers...))
}

func tarOf(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var packed bytes.Buffer
	writer := tar.NewWriter(&packed)
	for _, header := range headers {
		content := ""
		if header.Typeflag == tar.TypeReg {
			content, header.Linkname = header.Linkname, ""
		}
		check(t, writer.WriteHeader(&header))
		_, err := io.WriteString(writer, content)
		check(t, err)
	}
	check(t, writer.Close())
	return packed.Bytes()
}

func zip(t testing.TB, content []byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err := writer.Write(content)
	check(t, err)
	check(t, writer.Close())
	return packed.Bytes()
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// listing maps every path below dir to what it is: "dir", "-> target", or content.
func listing(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	check(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		found[name], err = describe(path, entry)
		return err
	}))
	return found
}

func describe(path string, entry fs.DirEntry) (string, error) {
	switch {
	case entry.IsDir():
		return "dir", nil
	case entry.Type() == fs.ModeSymlink:
		target, err := os.Readlink(path)
		return "-> " + target, err
	default:
		content, err := os.ReadFile(path)
		return string(content), err
	}
}

// kindOf returns the kind of a refusal, or "" and what else the error was.
func kindOf(err error) (kind receive.Kind, entry string) {
	if refusal, ok := errors.AsType[*receive.Error](err); ok {
		return refusal.Kind, refusal.Entry
	}
	return "", ""
}

// empty fails the test unless dir has nothing in it: refused trees leave no trace.
func empty(t testing.TB, dir string) {
	t.Helper()
	if left := listing(t, dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func write(t testing.TB, root string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(root, name)
		check(t, os.MkdirAll(filepath.Dir(path), 0o700))
		check(t, os.WriteFile(path, []byte(content), 0o600))
	}
}
