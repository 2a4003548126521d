package receive_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v2/cmpserver/apiclient"

	"github.com/moorpin/moorpin/cmp/receive"
)

// chain makes n links in a row; the last leads to target.
func chain(n int, target string) []tar.Header {
	headers := []tar.Header{symlink("link0", target)}
	for i := 1; i < n; i++ {
		headers = append(headers, symlink(fmt.Sprintf("link%d", i), fmt.Sprintf("link%d", i-1)))
	}
	return headers
}

func TestHostileEntries(t *testing.T) {
	deep := strings.Repeat("d/", 64) + "file"
	cases := map[string]struct {
		reason  string
		entries []tar.Header
		kind    receive.Kind
		entry   string
	}{
		"parent":                  {"it leaves the tree", []tar.Header{regular("../evil", "x")}, receive.BadEntry, "../evil"},
		"parent inside":           {"it leaves the tree in the middle", []tar.Header{regular("a/../../evil", "x")}, receive.BadEntry, "a/../../evil"},
		"parent that stays":       {"no sender writes it, so it is a trap", []tar.Header{regular("a/../b", "x")}, receive.BadEntry, "a/../b"},
		"absolute":                {"it leaves the tree", []tar.Header{regular("/etc/passwd", "x")}, receive.BadEntry, "/etc/passwd"},
		"absolute folder":         {"it leaves the tree", []tar.Header{{Typeflag: tar.TypeDir, Name: "/tmp/x/"}}, receive.BadEntry, "/tmp/x/"},
		"parent folder":           {"it leaves the tree", []tar.Header{{Typeflag: tar.TypeDir, Name: "../x/"}}, receive.BadEntry, "../x/"},
		"parent as git":           {"what looks like .git is still checked where it would be written", []tar.Header{regular("../git/x", "x")}, receive.BadEntry, "../git/x"},
		"hard link":               {"it could name any file of the disk", []tar.Header{{Typeflag: tar.TypeLink, Name: "l", Linkname: "/etc/passwd"}}, receive.BadEntry, "l"},
		"device":                  {"reading /dev/zero never ends", []tar.Header{{Typeflag: tar.TypeChar, Name: "zero", Devmajor: 1, Devminor: 5}}, receive.BadEntry, "zero"},
		"block device":            {"it is the disk", []tar.Header{{Typeflag: tar.TypeBlock, Name: "sda"}}, receive.BadEntry, "sda"},
		"pipe":                    {"reading it never ends", []tar.Header{{Typeflag: tar.TypeFifo, Name: "p"}}, receive.BadEntry, "p"},
		"file twice":              {"a checker may have seen the other one", []tar.Header{regular("a", "1"), regular("a", "2")}, receive.BadEntry, "a"},
		"same cleaned":            {"both are the same path", []tar.Header{regular("a", "1"), regular("./a", "2")}, receive.BadEntry, "a"},
		"link then file":          {"it would write through the link", []tar.Header{symlink("a", "b"), regular("a", "2")}, receive.BadEntry, "a"},
		"file then link":          {"one of them is hidden", []tar.Header{regular("a", "2"), symlink("a", "b")}, receive.BadEntry, "a"},
		"folder then link":        {"files below would go elsewhere", []tar.Header{regular("a/b", "2"), symlink("a", "b")}, receive.BadEntry, "a"},
		"below a link":            {"it would write through the link", []tar.Header{{Typeflag: tar.TypeDir, Name: "d"}, symlink("a", "d"), regular("a/x", "2")}, receive.BadEntry, "a"},
		"below a file":            {"a file has nothing below", []tar.Header{regular("a", "1"), regular("a/b/c", "2")}, receive.BadEntry, "a"},
		"root as file":            {"the root is a folder", []tar.Header{regular(".", "1")}, receive.BadEntry, "."},
		"absolute link":           {"it leads out", []tar.Header{symlink("l", "/etc/passwd")}, receive.BadLink, "l"},
		"parent link":             {"it leads out", []tar.Header{symlink("a/l", "../../etc/passwd")}, receive.BadLink, "a/l"},
		"parent link of the root": {"it leads out", []tar.Header{symlink("l", "..")}, receive.BadLink, "l"},
		"there and back":          {"Argo CD refuses links that pass through the outside too", []tar.Header{symlink("l", "../tree/x")}, receive.BadLink, "l"},
		"outside to the eye": {"Argo CD refuses a link that only others keep inside", []tar.Header{
			symlink("x", "d/e/f"), {Typeflag: tar.TypeDir, Name: "d/e/f"}, symlink("y", "x/../.."),
		}, receive.BadLink, "y"},
		"harmless together": {"each link looks harmless, both together lead out", []tar.Header{
			symlink("a/b/up", "../.."), symlink("a/b/out", "up/../../etc/passwd"),
		}, receive.BadLink, "a/b/out"},
		"harmless through a folder": {"the link's own folder is reached through a link", []tar.Header{
			symlink("a/b/c/up", "../../.."), symlink("short", "a/b/c/up"), symlink("x/y/out", "../../short/.."),
		}, receive.BadLink, "x/y/out"},
		"chain of links": {"more links than os.Root follows must not hide the end", append(chain(30, "a/b/up"),
			symlink("a/b/up", "../.."), symlink("a/b/out", "../../link29/../etc")), receive.BadLink, "a/b/out"},
		"too deep":        {"deep trees cost time to remove", []tar.Header{regular(deep, "x")}, receive.OverLimit, deep},
		"name too long":   {"no file system takes it", []tar.Header{regular(strings.Repeat("n", 256), "x")}, receive.BadEntry, strings.Repeat("n", 64) + "..."},
		"path too long":   {"no file system takes it", []tar.Header{regular(strings.Repeat("nnnnnnn/", 200)+"n", "x")}, receive.OverLimit, strings.Repeat("nnnnnnn/", 8) + "..."},
		"target too long": {"no file system takes it", []tar.Header{symlink("l", strings.Repeat("a/", 600))}, receive.OverLimit, "l"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			work := t.TempDir()
			_, err := receive.Unpack(t.Context(), streamOf(pack(t, test.entries...)), work, receive.Limits{})
			if kind, entry := kindOf(err); kind != test.kind || entry != test.entry {
				t.Errorf("got %v, want kind %s of %q: %s", err, test.kind, test.entry, test.reason)
			}
			empty(t, work)
		})
	}
}

func TestHarmlessEntries(t *testing.T) {
	cases := map[string]struct {
		reason  string
		entries []tar.Header
	}{
		"nothing":             {"an empty repository is one", nil},
		"folder twice":        {"two archives in one may share folders", []tar.Header{{Typeflag: tar.TypeDir, Name: "a/"}, regular("a/b", "x"), {Typeflag: tar.TypeDir, Name: "a"}}},
		"git that leads out":  {"it is never written, whatever it is", []tar.Header{symlink(".git", "/etc"), symlink("a/.git", "../../x"), {Typeflag: tar.TypeFifo, Name: "b/.git/p"}}},
		"root":                {"Argo CD names the root", []tar.Header{{Typeflag: tar.TypeDir, Name: "."}, {Typeflag: tar.TypeDir, Name: "./"}}},
		"dots":                {"names that only look like '..'", []tar.Header{regular("..a", "x"), regular("a../...", "x")}},
		"control characters":  {"they are characters of a name", []tar.Header{regular("a\nb\x1b", "x")}},
		"not UTF-8":           {"they are bytes of a name", []tar.Header{regular("a\xff\xfe", "x")}},
		"link loop":           {"whoever follows it gives up", []tar.Header{symlink("a", "b"), symlink("b", "a"), symlink("c", "a/../c")}},
		"growing link":        {"it leads back to itself with every step", []tar.Header{symlink("l", strings.Repeat("l/", 400)+"x")}},
		"long chain":          {"it ends inside", chain(300, "file")},
		"global header":       {"git archive writes one", []tar.Header{{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header", PAXRecords: map[string]string{"comment": "x"}}, regular("a", "b")}},
		"link to the root":    {"it stays inside", []tar.Header{symlink("a/b", "..")}},
		"absolute in content": {"content is never looked at", []tar.Header{regular("a", "/etc/passwd")}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			tree, err := receive.Unpack(t.Context(), streamOf(pack(t, test.entries...)), t.TempDir(), receive.Limits{})
			if err != nil {
				t.Fatalf("%v: %s", err, test.reason)
			}
			for path := range listing(t, tree.Dir) {
				if filepath.Base(path) == ".git" {
					t.Errorf("%s was unpacked", path)
				}
			}
		})
	}
}

// header512 writes a tar header that the standard library would not write.
func header512(name string, typeflag byte, size int) []byte {
	block := make([]byte, 512)
	copy(block, name)
	copy(block[100:], "0000644\x000000000\x000000000\x00")
	copy(block[124:], fmt.Sprintf("%011o\x0000000000000\x00        ", size))
	block[156] = typeflag
	copy(block[257:], "ustar\x0000")
	if typeflag == tar.TypeGNUSparse {
		copy(block[257:], "ustar  \x00")
		copy(block[483:], "00000000000\x00")
	}
	sum := 0
	for _, b := range block {
		sum += int(b)
	}
	copy(block[148:], fmt.Sprintf("%06o\x00 ", sum))
	return block
}

// sparse is a file of a tebibyte in a kilobyte, in the format of PAX.
func sparse() []byte {
	var record strings.Builder
	for _, pair := range []string{"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=huge", "GNU.sparse.realsize=1099511627776"} {
		fmt.Fprintf(&record, "%d %s\n", len(pair)+4, pair)
	}
	archive := header512("pax", 'x', record.Len())
	archive = append(archive, padded(record.String())...)
	archive = append(archive, header512("huge", '0', 512)...)
	archive = append(archive, padded("1\n1099511627776\n0\n")...)
	return append(archive, make([]byte, 1024)...)
}

func padded(text string) []byte {
	block := make([]byte, (len(text)+511)/512*512)
	copy(block, text)
	return block
}

func TestHostileArchives(t *testing.T) {
	good := pack(t, regular("a", strings.Repeat("content\n", 5000)), regular("b", "x"))
	random := make([]byte, 1<<16)
	for i := range random {
		random[i] = byte(rand.IntN(256))
	}
	noise := pack(t, regular("noise", string(random)))
	flipped := bytes.Clone(good)
	flipped[len(flipped)/2] ^= 0x40
	cases := map[string]struct {
		reason  string
		archive []byte
		kind    receive.Kind
	}{
		"empty":                {"a repository without anything still has an archive", nil, receive.BadArchive},
		"text":                 {"it is no gzip", []byte("kind: Secret\n"), receive.BadArchive},
		"zipped text":          {"it is gzip but no tar", zip(t, []byte(strings.Repeat("kind: Secret\n", 100))), receive.BadArchive},
		"cut in the header":    {"it is not whole", good[:5], receive.BadArchive},
		"cut in an entry":      {"it is not whole", good[:len(good)/2], receive.BadArchive},
		"cut in the noise":     {"it is not whole", noise[:len(noise)/2], receive.BadArchive},
		"cut behind the tar":   {"the checksum of gzip is missing", good[:len(good)-6], receive.BadArchive},
		"flipped bit":          {"gzip has a checksum of its own", flipped, receive.BadArchive},
		"trailing text":        {"something hides there", append(bytes.Clone(good), "trailing"...), receive.BadArchive},
		"second member":        {"who reads one member does not see the other", append(bytes.Clone(good), good...), receive.BadArchive},
		"empty member":         {"it is still a second one", append(bytes.Clone(good), zip(t, nil)...), receive.BadArchive},
		"behind the tar":       {"who stops at the tar's end does not see it", zip(t, append(tarOf(t, regular("a", "b")), "hidden"...)), receive.BadArchive},
		"tar behind the tar":   {"who stops at the tar's end does not see it", zip(t, append(tarOf(t, regular("a", "b")), tarOf(t, regular("c", "d"))...)), receive.BadArchive},
		"sparse file":          {"a tebibyte of zeros in a kilobyte", zip(t, sparse()), receive.BadEntry},
		"old sparse file":      {"a tebibyte of zeros in a kilobyte", zip(t, append(header512("huge", 'S', 0), make([]byte, 1024)...)), receive.BadEntry},
		"continuation":         {"nobody sends type 7", zip(t, append(header512("c", '7', 0), make([]byte, 1024)...)), receive.BadEntry},
		"unknown type":         {"nobody sends it", zip(t, append(header512("u", 'Z', 0), make([]byte, 1024)...)), receive.BadEntry},
		"size that is not met": {"the entry ends early", zip(t, header512("a", '0', 5000)), receive.BadArchive},
		"negative size":        {"sizes are not negative", zip(t, append(header512("a", '0', -1), make([]byte, 1024)...)), receive.BadArchive},
		"huge PAX record":      {"the header alone would fill the memory", zip(t, append(header512("x", 'x', 1<<32), make([]byte, 1024)...)), receive.BadArchive},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			work := t.TempDir()
			_, err := receive.Unpack(t.Context(), streamOf(test.archive), work, receive.Limits{})
			if kind, _ := kindOf(err); kind != test.kind {
				t.Errorf("got %v, want kind %s: %s", err, test.kind, test.reason)
			}
			empty(t, work)
		})
	}
}

// A name with NUL cannot be written with the standard library.
func TestNULInName(t *testing.T) {
	record := "path=a\x00b"
	record = fmt.Sprintf("%d %s\n", len(record)+4, record)
	archive := append(header512("pax", 'x', len(record)), padded(record)...)
	archive = append(archive, header512("a", '0', 0)...)
	_, err := receive.Unpack(t.Context(), streamOf(zip(t, append(archive, make([]byte, 1024)...))), t.TempDir(), receive.Limits{})
	if kind, _ := kindOf(err); kind != receive.BadArchive && kind != receive.BadEntry {
		t.Errorf("got %v", err)
	}
}

// Padding behind the tar is what tar programs write.
func TestZerosBehindTheTar(t *testing.T) {
	tree, err := receive.Unpack(t.Context(), streamOf(zip(t, append(tarOf(t, regular("a", "b")), make([]byte, 10240)...))), t.TempDir(), receive.Limits{})
	if err != nil || tree.Files != 1 {
		t.Errorf("got %+v, %v", tree, err)
	}
}

func TestBombs(t *testing.T) {
	zeros := strings.Repeat("\x00", 80<<20)
	many := make([]tar.Header, 2000)
	for i := range many {
		many[i] = regular(fmt.Sprintf(".git/%d", i), "")
	}
	var best bytes.Buffer
	writer, err := gzip.NewWriterLevel(&best, gzip.BestCompression)
	check(t, err)
	_, err = writer.Write(tarOf(t, regular("zeros", zeros)))
	check(t, err)
	check(t, writer.Close())
	small := pack(t, regular("a", strings.Repeat("x", 5000)))
	cases := map[string]struct {
		reason  string
		archive []byte
		limits  receive.Limits
		flag    string
	}{
		"ratio":            {"zeros pack a thousandfold", best.Bytes(), receive.Limits{}, receive.FlagRatio},
		"size":             {"the tree is bounded", small, receive.Limits{TreeBytes: 5000}, receive.FlagTreeBytes},
		"size of .git":     {"what is not written costs time as well", pack(t, regular(".git/a", strings.Repeat("x", 5000))), receive.Limits{TreeBytes: 5000}, receive.FlagTreeBytes},
		"size behind tar":  {"padding is bounded too", zip(t, append(tarOf(t, regular("a", "b")), make([]byte, 1<<20)...)), receive.Limits{TreeBytes: 1 << 19}, receive.FlagTreeBytes},
		"size of names":    {"a file without a byte takes a block of the disk", pack(t, regular("a", ""), regular("b", ""), regular("c", "")), receive.Limits{TreeBytes: 10_000}, receive.FlagTreeBytes},
		"size of folders":  {"folders that nobody names take blocks too", pack(t, regular("a/b/c/d", "")), receive.Limits{TreeBytes: 10_000}, receive.FlagTreeBytes},
		"size of links":    {"so do links", pack(t, symlink("a", "b"), symlink("b", "c"), symlink("c", "d")), receive.Limits{TreeBytes: 10_000}, receive.FlagTreeBytes},
		"count of folders": {"an entry makes as many folders as its path has names", pack(t, regular("a/b/c/d", ""), regular("e/f/g/h", "")), receive.Limits{Files: 7}, receive.FlagFiles},
		"archive":          {"the archive is bounded", small, receive.Limits{ArchiveBytes: 50}, receive.FlagArchiveBytes},
		"count":            {"every file costs the disk a block", pack(t, many...), receive.Limits{Files: 1999}, receive.FlagFiles},
		"depth":            {"every folder costs a block", pack(t, regular("a/b/c", "")), receive.Limits{PathDepth: 2}, receive.FlagPathDepth},
		"depth by folders": {"every folder costs a block", pack(t, tar.Header{Typeflag: tar.TypeDir, Name: "a/b/c/"}), receive.Limits{PathDepth: 2}, receive.FlagPathDepth},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			work := t.TempDir()
			_, err := receive.Unpack(t.Context(), streamOf(test.archive), work, test.limits)
			kind, _ := kindOf(err)
			if kind != receive.OverLimit || !strings.Contains(err.Error(), "--"+test.flag) {
				t.Errorf("got %v, want the limit of --%s: %s", err, test.flag, test.reason)
			}
			empty(t, work)
		})
	}
}

func TestChecksum(t *testing.T) {
	sent := send(t, repository(t), ".")
	sent.messages[0].GetMetadata().Checksum = strings.Repeat("0", 64)
	_, err := receive.Unpack(t.Context(), sent, t.TempDir(), receive.Limits{})
	if kind, _ := kindOf(err); kind != receive.BadChecksum {
		t.Errorf("a wrong checksum gave %v", err)
	}

	lost := send(t, repository(t), ".")
	lost.messages = lost.messages[:len(lost.messages)-1]
	_, err = receive.Unpack(t.Context(), lost, t.TempDir(), receive.Limits{})
	if kind, _ := kindOf(err); kind != receive.BadChecksum {
		t.Errorf("a lost chunk gave %v; the checksum explains more than the gzip that ends early", err)
	}
}

func TestHostileMetadata(t *testing.T) {
	entry := func(name, value string) *apiclient.EnvEntry { return &apiclient.EnvEntry{Name: name, Value: value} }
	sum := strings.Repeat("ab", 32)
	cases := map[string]struct {
		reason   string
		metadata *apiclient.ManifestRequestMetadata
		kind     receive.Kind
	}{
		"nil":            {"the client sent something else", nil, receive.BadMetadata},
		"no checksum":    {"nothing could be verified", &apiclient.ManifestRequestMetadata{}, receive.BadMetadata},
		"short checksum": {"it is no SHA-256", &apiclient.ManifestRequestMetadata{Checksum: "abcd"}, receive.BadMetadata},
		"size":           {"it would be refused after a gigabyte anyway", &apiclient.ManifestRequestMetadata{Checksum: sum, Size_: 1 << 40}, receive.OverLimit},
		"nil entry":      {"it has no name", &apiclient.ManifestRequestMetadata{Checksum: sum, Env: []*apiclient.EnvEntry{nil}}, receive.BadMetadata},
		"no name":        {"it has no name", &apiclient.ManifestRequestMetadata{Checksum: sum, Env: []*apiclient.EnvEntry{entry("", "x")}}, receive.BadMetadata},
		"equals sign":    {"a process would read another name", &apiclient.ManifestRequestMetadata{Checksum: sum, Env: []*apiclient.EnvEntry{entry("A=B", "x")}}, receive.BadMetadata},
		"NUL":            {"a process cannot have it", &apiclient.ManifestRequestMetadata{Checksum: sum, Env: []*apiclient.EnvEntry{entry("A", "x\x00y")}}, receive.BadMetadata},
		"NUL in path":    {"a path cannot have it", &apiclient.ManifestRequestMetadata{Checksum: sum, AppRelPath: "a\x00b"}, receive.BadMetadata},
		"twice":          {"which one holds?", &apiclient.ManifestRequestMetadata{Checksum: sum, Env: []*apiclient.EnvEntry{entry("ARGOCD_APP_NAME", "a"), entry("ARGOCD_APP_NAME", "b")}}, receive.BadMetadata},
		"too big":        {"it would fill the memory", &apiclient.ManifestRequestMetadata{Checksum: sum, Env: []*apiclient.EnvEntry{entry("A", strings.Repeat("x", 17<<20))}}, receive.OverLimit},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			message := &apiclient.AppStreamRequest{Request: &apiclient.AppStreamRequest_Metadata{Metadata: test.metadata}}
			_, err := receive.Drain(t.Context(), &stream{messages: []*apiclient.AppStreamRequest{message}}, receive.Limits{})
			if kind, _ := kindOf(err); kind != test.kind {
				t.Errorf("got %v, want kind %s: %s", err, test.kind, test.reason)
			}
		})
	}
}

// Two parameters can become one variable, and users may name a variable twice.
func TestNamesTwice(t *testing.T) {
	sent := streamOf(pack(t))
	sent.messages[0].GetMetadata().Env = []*apiclient.EnvEntry{
		{Name: "PARAM_A_B", Value: "1"},
		{Name: "PARAM_A_B", Value: "2"},
		{Name: "ARGOCD_ENV_X", Value: "1"},
		{Name: "ARGOCD_ENV_X", Value: "2"},
		{Name: "KUBE_VERSION", Value: "1.34"},
		{Name: "KUBE_VERSION", Value: "1.34"},
	}
	metadata, err := receive.Drain(t.Context(), sent, receive.Limits{})
	check(t, err)
	if metadata.Env["PARAM_A_B"] != "2" || metadata.Env["ARGOCD_ENV_X"] != "2" {
		t.Errorf("the last does not win: %v", metadata.Env)
	}
}
