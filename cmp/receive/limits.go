package receive

import "fmt"

// Limits bound what is taken from a sender. A field that is zero stands for its
// default; the defaults suit the largest monorepos that still fit into Argo CD's
// own time limit of a minute.
type Limits struct {
	// ArchiveBytes bounds the compressed archive. Default 2 GiB; repo-server
	// packs some 50 MB a second, so more would not arrive in a minute.
	ArchiveBytes int64
	// TreeBytes bounds what the archive inflates to, .git and the headers of the
	// tar included, and what it takes of the disk, where a file, folder or link has at
	// least a block of 4096 bytes. Default 8 GiB.
	TreeBytes int64
	// Ratio bounds how many times its own size the archive may become, once it
	// has inflated to more than 64 MiB. Default 200; text packs 5 to 20 times, a
	// bomb 1000 times.
	Ratio int64
	// Files bounds the entries of the archive, .git included, and the files, folders
	// and links that are made. Default 1000000.
	Files int
	// PathDepth bounds the names in a path. Default 64.
	PathDepth int
	// PathBytes bounds the length of a path and of a link's target. Default 1024;
	// with the folder that the tree lies in, Linux opens 4096. A single name may
	// have 255.
	PathBytes int
	// MetadataBytes bounds the metadata message, in which each variable counts 64
	// more than its name and value have. Default 16 MiB; the Helm values of an
	// Application arrive in it twice.
	MetadataBytes int64
}

// The flags of `moorpin cmp serve` and `moorpin cmp render` that raise the limits,
// without dashes; errors name them.
const (
	FlagArchiveBytes  = "max-archive-bytes"
	FlagTreeBytes     = "max-tree-bytes"
	FlagRatio         = "max-ratio"
	FlagFiles         = "max-files"
	FlagPathDepth     = "max-path-depth"
	FlagPathBytes     = "max-path-bytes"
	FlagMetadataBytes = "max-metadata-bytes"
)

// ratioFloor is where Ratio begins to count: below it no bomb hurts, and a small
// archive of like files can pack better than any ratio worth setting.
const ratioFloor = 64 << 20

// blockBytes is what file systems commonly give out at once.
const blockBytes = 4096

// nameBytes is the longest name that file systems take.
const nameBytes = 255

// WithDefaults returns the limits with every zero replaced by its default.
func (l Limits) WithDefaults() Limits {
	l.ArchiveBytes = orDefault(l.ArchiveBytes, 2<<30)
	l.TreeBytes = orDefault(l.TreeBytes, 8<<30)
	l.Ratio = orDefault(l.Ratio, 200)
	l.Files = orDefault(l.Files, 1_000_000)
	l.PathDepth = orDefault(l.PathDepth, 64)
	l.PathBytes = orDefault(l.PathBytes, 1024)
	l.MetadataBytes = orDefault(l.MetadataBytes, 16<<20)
	return l
}

func orDefault[N int | int64](value, standard N) N {
	if value == 0 {
		return standard
	}
	return value
}

// overLimit makes the refusal for a limit that was passed. what is the subject of
// the sentence: "the archive", "a name".
func overLimit(entry, flag string, limit int64, what string) *Error {
	return &Error{
		Kind: OverLimit, Entry: entry, Flag: flag, Limit: limit,
		Reason: fmt.Sprintf("%s than the limit of %d; make it smaller, or raise --%s of the plugin", what, limit, flag),
	}
}
