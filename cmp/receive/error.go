package receive

import "fmt"

// Kind says what an [Error] is about.
type Kind string

// The kinds of refusals.
const (
	// BadMetadata is a first message that is missing or makes no sense.
	BadMetadata Kind = "metadata"
	// BadChecksum is an archive that differs from what the metadata promised.
	BadChecksum Kind = "checksum"
	// BadArchive is text that is no gzipped tar, or more or less than a whole one.
	BadArchive Kind = "archive"
	// BadEntry is a name or a type of entry that is not taken.
	BadEntry Kind = "entry"
	// BadLink is a symbolic link that leads out of the tree.
	BadLink Kind = "link"
	// OverLimit is whatever passes the [Limits].
	OverLimit Kind = "limit"
	// BadAppPath is an app's folder that is not in the tree.
	BadAppPath Kind = "app-path"
)

// Error is a refusal: the sender's mistake, not ours. Failures of the stream, of
// the disk and of time are other errors.
type Error struct {
	Kind Kind
	// Entry names the entry of the archive, or the path or variable of the
	// metadata; empty where the fault is the whole's.
	Entry string
	// Flag is the flag that raises the limit, without dashes, for OverLimit.
	Flag string
	// Limit is the limit that was passed, for OverLimit.
	Limit int64
	// Reason says what is wrong and what to do.
	Reason string
}

// Error returns the sentence for people.
func (e *Error) Error() string {
	if e.Entry == "" {
		return e.Reason
	}
	return fmt.Sprintf("%q: %s", e.Entry, e.Reason)
}
