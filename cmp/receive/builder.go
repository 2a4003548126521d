package receive

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// builder writes a tree. Every path is made new, so that nothing is replaced, and
// only below folders of its own, so that nothing is written through a link.
type builder struct {
	root    *os.Root
	limits  Limits
	folders map[string]bool
	links   map[string]string
	buffer  []byte
	count   int
	files   int
	bytes   int64
	// made counts what lies on disk, folders that no entry names with it, and taken the
	// bytes of its blocks.
	made  int
	taken int64

	// folder is the open directory of the last entry; entries come folder by folder.
	folder     *os.Root
	folderPath string
}

// build lets fill write a new directory, and checks its links.
func build(ctx context.Context, dir string, limits Limits, fill func(into *builder) error) (*Tree, error) {
	into := &builder{limits: limits, folders: map[string]bool{".": true}, links: map[string]string{}, buffer: make([]byte, 64<<10)}
	var err error
	into.root, err = os.OpenRoot(dir)
	if err == nil {
		err = fill(into)
		err = errors.Join(err, into.close())
	}
	if err == nil {
		err = checkLinks(ctx, into.links)
	}
	if err != nil {
		return nil, err
	}
	return &Tree{Dir: dir, Files: into.files, Entries: into.made, Bytes: into.bytes}, nil
}

// newDir makes a directory for this user only, below workDir, with a path that holds no
// links: Argo CD compares the paths that links resolve to with it.
func newDir(workDir string) (dir string, err error) {
	workDir, err = filepath.Abs(workDir)
	if err == nil {
		err = os.MkdirAll(workDir, 0o700)
	}
	if err == nil {
		workDir, err = filepath.EvalSymlinks(workDir)
	}
	if err == nil {
		dir, err = os.MkdirTemp(workDir, "tree-")
	}
	if err != nil {
		return "", fmt.Errorf("make a private directory: %w", err)
	}
	return dir, nil
}

func (b *builder) close() error {
	err := b.root.Close()
	if b.folder != nil {
		err = errors.Join(err, b.folder.Close())
	}
	return err
}

// add writes one entry of a tar; content is what follows its header.
func (b *builder) add(header *tar.Header, content io.Reader) error {
	b.count++
	if b.count > b.limits.Files {
		return overLimit(header.Name, FlagFiles, int64(b.limits.Files), "the archive has more entries")
	}
	if header.Typeflag == tar.TypeXGlobalHeader || inGit(header.Name) {
		return nil
	}
	name, err := b.checkName(header.Name)
	if err != nil {
		return err
	}
	switch header.Typeflag {
	case tar.TypeDir:
		return b.addDirectory(name)
	case tar.TypeReg:
		if isSparse(header) {
			return &Error{Kind: BadEntry, Entry: header.Name, Reason: "sparse files are not taken; Argo CD sends none"}
		}
		return b.addFile(name, content)
	case tar.TypeSymlink:
		return b.addLink(name, header.Linkname)
	default:
		return &Error{Kind: BadEntry, Entry: header.Name, Reason: fmt.Sprintf("entries of type %q (hard links, devices, pipes) are not taken; Argo CD sends none", header.Typeflag)}
	}
}

func inGit(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == ".git" {
			return true
		}
	}
	return false
}

func isSparse(header *tar.Header) bool {
	for record := range header.PAXRecords {
		if strings.HasPrefix(record, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// checkName returns the cleaned name of an entry, or says why it is not taken. A
// backslash is a character like others on Linux, the only place where this runs.
func (b *builder) checkName(given string) (string, error) {
	if len(given) > b.limits.PathBytes {
		return "", overLimit(given[:64]+"...", FlagPathBytes, int64(b.limits.PathBytes), "this path has more bytes")
	}
	if given == "" || strings.ContainsRune(given, 0) {
		return "", &Error{Kind: BadEntry, Entry: given, Reason: "a path may be neither empty nor hold a NUL"}
	}
	depth := 0
	for part := range strings.SplitSeq(given, "/") {
		if part != "" && part != "." {
			depth++
		}
		if part == ".." {
			return "", &Error{Kind: BadEntry, Entry: given, Reason: "a path may not hold '..'; it could leave the tree"}
		}
		if len(part) > nameBytes {
			return "", &Error{Kind: BadEntry, Entry: given[:64] + "...", Reason: fmt.Sprintf("a name in this path has more than %d bytes, the most that file systems take", nameBytes)}
		}
	}
	if path.IsAbs(given) {
		return "", &Error{Kind: BadEntry, Entry: given, Reason: "a path may not be absolute"}
	}
	if depth > b.limits.PathDepth {
		return "", overLimit(given, FlagPathDepth, int64(b.limits.PathDepth), "this path has more names")
	}
	return path.Clean(given), nil
}

// take accounts for a new file, folder or link, which takes a block of the disk however
// little it holds.
func (b *builder) take(name string) error {
	b.made++
	b.taken += blockBytes
	switch {
	case b.made > b.limits.Files:
		return overLimit(name, FlagFiles, int64(b.limits.Files), "the archive holds more files and folders")
	case b.taken > b.limits.TreeBytes:
		return overLimit(name, FlagTreeBytes, b.limits.TreeBytes, "the files and folders take more bytes on disk")
	}
	return nil
}

func (b *builder) addDirectory(name string) error {
	if b.folders[name] {
		return nil
	}
	err := b.addDirectory(path.Dir(name))
	if err == nil {
		err = b.take(name)
	}
	if err != nil {
		return err
	}
	err = b.root.Mkdir(name, 0o700)
	if err != nil {
		return explain(name, err)
	}
	b.folders[name] = true
	return nil
}

// openFolder returns the folder of a new file or link.
func (b *builder) openFolder(name string) (*os.Root, error) {
	folder := path.Dir(name)
	if b.folder != nil && b.folderPath == folder {
		return b.folder, nil
	}
	err := b.addDirectory(folder)
	if err != nil {
		return nil, err
	}
	opened, err := b.root.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("open a folder of the private copy: %w", err)
	}
	if b.folder != nil {
		err = b.folder.Close()
	}
	b.folder, b.folderPath = opened, folder
	if err != nil {
		return nil, fmt.Errorf("close a folder of the private copy: %w", err)
	}
	return opened, nil
}

func (b *builder) addFile(name string, content io.Reader) error {
	folder, err := b.openFolder(name)
	if err == nil {
		err = b.take(name)
	}
	if err != nil {
		return err
	}
	written, err := folder.OpenFile(path.Base(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return explain(name, err)
	}
	b.files++
	// Hiding ReadFrom of the file keeps io from taking a new buffer for each.
	n, err := io.CopyBuffer(struct{ io.Writer }{written}, content, b.buffer)
	b.bytes += n
	b.taken += n / blockBytes * blockBytes // the last block, or the only one, was taken before
	closeErr := written.Close()
	_, onDisk := errors.AsType[*os.PathError](err)
	switch {
	case onDisk || err == nil && closeErr != nil:
		return fmt.Errorf("write a file of the private copy: %w", errors.Join(err, closeErr))
	case err != nil:
		return &Error{Kind: BadArchive, Entry: name, Reason: fmt.Sprintf("the archive is cut off or damaged in this entry: %v", err)}
	default:
		return nil
	}
}

// explain tells the sender's mistake from ours when a path cannot be made.
func explain(name string, err error) error {
	if errors.Is(err, fs.ErrExist) {
		return &Error{Kind: BadEntry, Entry: name, Reason: "this path comes twice, or another entry's path leads through it though it is no folder"}
	}
	return fmt.Errorf("write the private copy: %w", err)
}
