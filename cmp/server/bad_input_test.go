package server

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v2/cmpserver/apiclient"
	"github.com/argoproj/argo-cd/v2/util/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/moorpin/moorpin/cmp/receive"
)

// badInput is what is sent, and what the answer must say.
type badInput struct {
	reason  string
	archive []byte
	// checksum is announced; empty stands for the right one.
	checksum string
	// app is the announced folder, "web" when empty, with an optional
	// parameter behind ?pin=; "?raw" leaves the metadata out.
	app   string
	code  codes.Code
	place string
}

// TestBadInput sends what repo-server never would, over the real socket. Each
// archive is larger than what the transport buffers, so that an answer before
// the stream's end would be lost at the sender.
func TestBadInput(t *testing.T) {
	filler := file("filler.bin", randomText())
	good := []entry{{Header: tar.Header{Name: "web", Typeflag: tar.TypeDir, Mode: 0o755}}, file("web/w.yaml", smallWidget), filler}
	with := func(bad ...entry) []byte { return tgz(t, append(bad, good...)...) }
	tests := map[string]badInput{
		"not a tgz":         {reason: "a sender that is not repo-server", archive: []byte(randomText()), code: codes.InvalidArgument, place: "gzip"},
		"truncated":         {reason: "a sender that died", archive: with()[:600<<10], code: codes.InvalidArgument, place: "archive"},
		"wrong checksum":    {reason: "what arrived is not what was sent", archive: with(), checksum: strings.Repeat("0", 64), code: codes.InvalidArgument, place: "announced was"},
		"escaping path":     {reason: "nothing is written outside the private copy", archive: with(file("../evil.yaml", "")), code: codes.InvalidArgument, place: "../evil.yaml"},
		"absolute path":     {reason: "nothing is written outside the private copy", archive: with(file("/etc/evil.yaml", "")), code: codes.InvalidArgument, place: "/etc/evil.yaml"},
		"escaping link":     {reason: "nothing is read outside the private copy", archive: with(link("web/evil.yaml", "../../../etc/passwd")), code: codes.InvalidArgument, place: "web/evil.yaml"},
		"absolute link":     {reason: "nothing is read outside the private copy", archive: with(link("web/evil.yaml", "/etc/passwd")), code: codes.InvalidArgument, place: "web/evil.yaml"},
		"size bomb":         {reason: "a small archive must not fill the disk", archive: with(file("bomb", strings.Repeat("0", 80<<20))), code: codes.ResourceExhausted, place: "--" + receive.FlagTreeBytes},
		"count bomb":        {reason: "many tiny files must not fill the disk either", archive: with(many(2000)...), code: codes.ResourceExhausted, place: "--" + receive.FlagFiles},
		"app outside":       {reason: "the app is inside its repository", archive: with(), app: "../..", code: codes.InvalidArgument, place: "../.."},
		"app missing":       {reason: "the app's folder exists", archive: with(), app: "nowhere", code: codes.InvalidArgument, place: "nowhere"},
		"YAML syntax":       {reason: "the author finds the line", archive: with(file("web/bad.yaml", smallWidget+"---\nkind: A\n  b: c\n")), code: codes.InvalidArgument, place: "bad.yaml: document 2"},
		"bomb of aliases":   {reason: "a few lines must not fill the memory", archive: with(file("web/bad.yaml", laughs())), code: codes.InvalidArgument, place: "bad.yaml: document 1"},
		"pin mode unknown":  {reason: "a wrong parameter is the author's mistake", archive: with(), app: "web?pin=most", code: codes.InvalidArgument, place: "all, atomic or none"},
		"no metadata first": {reason: "the stream begins with metadata", archive: with(), app: "?raw", code: codes.InvalidArgument, place: "metadata"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := startSidecar(t, rendererFunc(readFiles), func(o *Options) {
				o.Limits = receive.Limits{TreeBytes: 50 << 20, Files: 1000}
			})
			err := test.send(t, s)
			t.Log(err)
			if status.Code(err) != test.code || !strings.Contains(err.Error(), test.place) {
				t.Errorf("%s: want %s that names %q, have %v", test.reason, test.code, test.place, err)
			}
		})
	}
}

// send sends the archive as it is. It fails the test when the server stops
// reading before the end.
func (b badInput) send(t *testing.T, s *sidecar) error {
	t.Helper()
	checksum, app := b.checksum, b.app
	if checksum == "" {
		sum := sha256.Sum256(b.archive)
		checksum = hex.EncodeToString(sum[:])
	}
	metadata := &apiclient.ManifestRequestMetadata{AppName: "web", AppRelPath: "web", Checksum: checksum, Size_: int64(len(b.archive))}
	if app != "" {
		metadata.AppRelPath = app
	}
	if folder, mode, found := strings.Cut(app, "?pin="); found {
		metadata.AppRelPath = folder
		metadata.Env = []*apiclient.EnvEntry{{Name: "ARGOCD_APP_PARAMETERS", Value: `[{"name":"pin","string":"` + mode + `"}]`}}
	}
	stream, err := s.client(t).GenerateManifest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if app != "?raw" {
		err = stream.Send(&apiclient.AppStreamRequest{Request: &apiclient.AppStreamRequest_Metadata{Metadata: metadata}})
	}
	for chunk := b.archive; len(chunk) > 0 && err == nil; {
		size := min(1024, len(chunk)) // as repo-server sends
		err = stream.Send(cmp.AppFileRequest(chunk[:size]))
		chunk = chunk[size:]
	}
	if err != nil {
		_, answer := stream.CloseAndRecv()
		t.Fatalf("repo-server would say %v and lose the message %v", err, answer)
	}
	_, err = stream.CloseAndRecv()
	return err
}

// entry is one entry of an archive.
type entry struct {
	tar.Header

	content string
}

func file(name, content string) entry {
	return entry{Header: tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(content))}, content: content}
}

func link(name, target string) entry {
	return entry{Header: tar.Header{Name: name, Typeflag: tar.TypeSymlink, Mode: 0o777, Linkname: target}}
}

func many(count int) []entry {
	entries := make([]entry, count)
	for i := range entries {
		entries[i] = file("tiny/"+strings.Repeat("a", i/60+1)+string(rune('0'+i%60)), "")
	}
	return entries
}

func laughs() string {
	text := "kind: Bomb\napiVersion: v1\na: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for name := 'b'; name <= 'k'; name++ {
		before := "*" + string(name-1)
		text += string(name) + ": &" + string(name) + " [" + strings.TrimSuffix(strings.Repeat(before+", ", 10), ", ") + "]\n"
	}
	return text
}

func tgz(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipped)
	for _, one := range entries {
		_, err := archive.Write(nil)
		err = errors.Join(err, archive.WriteHeader(&one.Header))
		if err != nil {
			t.Fatal(err)
		}
		_, err = archive.Write([]byte(one.content))
		if err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(archive.Close(), zipped.Close())
	if err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}
