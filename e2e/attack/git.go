package attack

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" // by which git names its objects
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// gitFolder is the folder .git of a repository whose branch main holds the files, in a
// single folder.
func gitFolder(files map[string]string) map[string]string {
	folder := map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\trepositoryformatversion = 0\n", ".git/refs/keep": ""}
	add := func(kind string, content []byte) [sha1.Size]byte {
		text := append(fmt.Appendf(nil, "%s %d\x00", kind, len(content)), content...)
		sum := sha1.Sum(text)
		name := hex.EncodeToString(sum[:])
		folder[".git/objects/"+name[:2]+"/"+name[2:]] = deflated(text)
		return sum
	}
	var tree []byte
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sum := add("blob", []byte(files[name]))
		tree = append(fmt.Appendf(tree, "100644 %s\x00", name), sum[:]...)
	}
	const person = "Moorpin <moorpin@example.com> 0 +0000\n"
	commit := add("commit", fmt.Appendf(nil, "tree %x\nauthor %scommitter %s\nAdd a token\n", add("tree", tree), person, person))
	folder[".git/refs/heads/main"] = hex.EncodeToString(commit[:]) + "\n"
	return folder
}

func deflated(text []byte) string {
	var packed bytes.Buffer
	writer := zlib.NewWriter(&packed)
	_, _ = writer.Write(text) // a buffer takes everything
	_ = writer.Close()
	return packed.String()
}
