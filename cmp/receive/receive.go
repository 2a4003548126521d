// Package receive turns the stream that Argo CD's repo-server sends to a plugin
// into a private directory that is safe to render.
//
// The stream is one metadata message and then the chunks of a gzipped tar.
// [Open] takes the first, so that the caller may decide when to go on, and
// [Opened.Unpack] inflates the rest while it arrives, through [os.Root], so that nothing can be
// written outside the new directory, and gives the directory away only once the
// whole archive has matched the checksum of the metadata. Regular files,
// directories and symbolic links are taken, with permissions for this user only;
// whatever is called .git is left out at every level, because no renderer needs it
// and it is often the largest part.
//
// It refuses, with an [*Error] that names the entry: a checksum that differs,
// text that is no gzipped tar, a truncated one or one with something behind its
// end, names that are absolute, leave the tree, hold NUL or come twice, entries
// below a link or a file, hard links, devices and sparse files, links that lead
// out of the tree, and everything beyond the [Limits]. Even then it reads the
// stream to its end: Argo CD's client reports an answer that comes earlier as a
// bare "EOF".
//
//	valid:    apps/db/secret.yaml, apps/db/values.yaml -> ../../common/values.yaml
//	invalid:  ../secret.yaml, /etc/passwd, values.yaml -> /etc/passwd
package receive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/argoproj/argo-cd/v2/cmpserver/apiclient"
)

// Stream is the receiving side of the client streams of the plugin service.
type Stream interface {
	// Recv returns the next message, or io.EOF behind the last.
	Recv() (*apiclient.AppStreamRequest, error)
}

// Tree is a private copy of a repository.
type Tree struct {
	// Dir is its root: absolute, no link itself nor below one, and this process's own.
	Dir string
	// Metadata came with the archive; it is zero after [Copy].
	Metadata Metadata
	// Files counts the files and links, without .git.
	Files int
	// Entries counts the folders too.
	Entries int
	// Bytes adds up the sizes of the files.
	Bytes int64
}

// Opened is a stream whose metadata has arrived. Nothing of its archive has been
// received: the transport's flow control holds it back at the sender, so that a
// request may wait here for long at the cost of its metadata alone.
type Opened struct {
	Metadata Metadata

	stream Stream
	limits Limits
}

// Open receives the metadata of a stream, and no message behind it unless it refuses
// the metadata.
func Open(ctx context.Context, stream Stream, limits Limits) (*Opened, error) {
	limits = limits.WithDefaults()
	metadata, err := receiveMetadata(first{ctx, stream}, limits)
	if err != nil {
		return nil, errors.Join(err, drainAfter(ctx, stream, err))
	}
	return &Opened{Metadata: metadata, stream: stream, limits: limits}, nil
}

// drainAfter receives the rest of a stream as [incoming.drainAfter] does. Where no
// message has come yet, somebody may still wait for it.
func drainAfter(ctx context.Context, stream Stream, err error) error {
	if _, refused := errors.AsType[*Error](err); !refused {
		return nil
	}
	incoming := listen(ctx, stream)
	defer incoming.close()
	return incoming.drainAfter(err)
}

// Unpack receives the archive into a new directory below workDir, which is made when
// missing. The caller removes the Tree and, after an error, whatever lies below workDir:
// removing a million files takes longer than there is time for an answer. It may be
// called once.
func (o *Opened) Unpack(ctx context.Context, workDir string) (*Tree, error) {
	dir, err := newDir(workDir)
	if err != nil {
		return nil, err
	}
	return o.unpack(ctx, dir)
}

func (o *Opened) unpack(ctx context.Context, dir string) (*Tree, error) {
	incoming := listen(ctx, o.stream)
	defer incoming.close()

	tree, err := build(ctx, dir, o.limits, func(into *builder) error {
		return receiveArchive(incoming, o.Metadata, into)
	})
	if err != nil {
		return nil, errors.Join(err, incoming.drainAfter(err))
	}
	tree.Metadata = o.Metadata
	return tree, nil
}

// Unpack receives a whole stream: [Open], and then [Opened.Unpack]. After an error
// nothing is left behind.
func Unpack(ctx context.Context, stream Stream, workDir string, limits Limits) (*Tree, error) {
	opened, err := Open(ctx, stream, limits)
	if err != nil {
		return nil, err
	}
	return within(workDir, func(dir string) (*Tree, error) { return opened.unpack(ctx, dir) })
}

// within makes a tree in a new directory, which is removed after an error.
func within(workDir string, fill func(dir string) (*Tree, error)) (*Tree, error) {
	dir, err := newDir(workDir)
	if err != nil {
		return nil, err
	}
	tree, err := fill(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return tree, nil
}

// Drain receives a whole stream and keeps only its metadata, for an answer that
// needs no files. What it drops is neither verified nor bounded: it takes neither
// memory nor disk, and a match that is refused makes Argo CD render the app by
// itself, unpinned and without a word.
func Drain(ctx context.Context, stream Stream, limits Limits) (Metadata, error) {
	incoming := listen(ctx, stream)
	defer incoming.close()

	metadata, err := receiveMetadata(incoming, limits.WithDefaults())
	if err != nil {
		return Metadata{}, errors.Join(err, incoming.drainAfter(err))
	}
	return metadata, incoming.drain()
}

// Copy copies a checkout, as it is on disk, into a new directory below workDir,
// under the same rules and limits as [Unpack]; sockets, pipes and devices are left
// out, as Argo CD's sender does. dir may be a link, but none that leads into workDir.
func Copy(ctx context.Context, dir, workDir string, limits Limits) (*Tree, error) {
	return within(workDir, func(copied string) (*Tree, error) {
		return build(ctx, copied, limits.WithDefaults(), func(into *builder) error {
			return copyDir(ctx, dir, into)
		})
	})
}

// AppPath returns the folder that the metadata names, relative to Dir, "." for Dir
// itself. A folder that is a link stays one, since Argo CD treats it differently.
// It refuses a path that leaves the tree and one that is no directory.
func (t *Tree) AppPath() (string, error) {
	given := t.Metadata.AppRelPath
	path := filepath.Clean(given)
	if !filepath.IsLocal(path) {
		return "", &Error{Kind: BadAppPath, Entry: given, Reason: "the app's folder is not below the root of what was sent; spec.source.path must be relative and without .."}
	}
	// Links have been proved to stay inside, so that following them is safe.
	info, err := os.Stat(filepath.Join(t.Dir, path))
	if err != nil {
		return "", &Error{Kind: BadAppPath, Entry: given, Reason: "the app's folder is not in what was sent; check spec.source.path, and the globs that repo-server excludes from plugins"}
	}
	if !info.IsDir() {
		return "", &Error{Kind: BadAppPath, Entry: given, Reason: "the app's path is a file, not a folder; check spec.source.path"}
	}
	return path, nil
}

// Remove deletes the tree from disk.
func (t *Tree) Remove() error {
	err := os.RemoveAll(t.Dir)
	if err != nil {
		return fmt.Errorf("remove the private copy: %w", err)
	}
	return nil
}
