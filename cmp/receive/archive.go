package receive

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
)

// receiveArchive unpacks the rest of the stream and proves that it was what the
// metadata promised.
func receiveArchive(incoming *incoming, metadata Metadata, into *builder) error {
	archive := &archive{incoming: incoming, limits: into.limits, sum: sha256.New()}
	err := untar(archive, into)
	if archive.err != nil {
		// gzip and tar dress up what their source says; the source knows better.
		return archive.err
	}
	refusal, refused := errors.AsType[*Error](err)
	damaged := refused && refusal.Kind == BadArchive
	if err != nil && !damaged {
		return err
	}
	// A damaged archive most often is one that arrived damaged.
	_, restErr := io.Copy(io.Discard, archive)
	if restErr != nil {
		return fmt.Errorf("receive the rest of the archive: %w", restErr)
	}
	if got := hex.EncodeToString(archive.sum.Sum(nil)); got != metadata.Checksum {
		return &Error{Kind: BadChecksum, Reason: fmt.Sprintf(
			"the archive of %d bytes arrived with the SHA-256 %s, announced was %s; it was damaged on its way, refresh the Application", archive.size, got, metadata.Checksum)}
	}
	return err
}

// archive reads the chunks of a stream as one text, adds them to the checksum, and
// counts what they inflate to.
type archive struct {
	incoming *incoming
	limits   Limits
	sum      hash.Hash
	chunk    []byte
	size     int64
	inflated int64
	err      error
}

// Read hands out the archive's bytes. Its first error other than io.EOF is kept in err.
func (a *archive) Read(into []byte) (int, error) {
	for len(a.chunk) == 0 {
		if a.err != nil {
			return 0, a.err
		}
		message, err := a.incoming.next()
		if errors.Is(err, io.EOF) {
			return 0, io.EOF
		}
		if err != nil {
			return 0, a.fail(err)
		}
		if message.GetFile() == nil {
			return 0, a.fail(&Error{Kind: BadArchive, Reason: "a message in the middle of the stream holds no piece of the archive"})
		}
		a.chunk = message.GetFile().GetChunk()
		a.size += int64(len(a.chunk))
		if a.size > a.limits.ArchiveBytes {
			return 0, a.fail(overLimit("", FlagArchiveBytes, a.limits.ArchiveBytes, "the archive has more bytes"))
		}
		_, _ = a.sum.Write(a.chunk) // a hash never fails
	}
	n := copy(into, a.chunk)
	a.chunk = a.chunk[n:]
	return n, nil
}

func (a *archive) fail(err error) error {
	a.err = err
	return err
}

// inflate counts what came out of the archive and stops a bomb.
func (a *archive) inflate(n int) error {
	a.inflated += int64(n)
	if a.inflated > a.limits.TreeBytes {
		return a.fail(overLimit("", FlagTreeBytes, a.limits.TreeBytes, "the archive inflates to more bytes"))
	}
	if a.inflated > ratioFloor && a.inflated > a.limits.Ratio*a.size {
		return a.fail(overLimit("", FlagRatio, a.limits.Ratio, "the archive inflates to more times its own size"))
	}
	return nil
}

// counted is the inflated archive.
type counted struct {
	inflated io.Reader
	archive  *archive
}

func (c counted) Read(into []byte) (int, error) {
	n, err := c.inflated.Read(into)
	if limitErr := c.archive.inflate(n); limitErr != nil {
		return 0, limitErr
	}
	return n, err //nolint:wrapcheck // readers must pass io.EOF on as it is.
}

// untar writes the entries, and makes sure that there is nothing behind them.
func untar(archive *archive, into *builder) error {
	packed := bufio.NewReaderSize(archive, 64<<10)
	inflating, err := gzip.NewReader(packed)
	if err != nil {
		return &Error{Kind: BadArchive, Reason: fmt.Sprintf("what was sent is no gzipped tar: %v", err)}
	}
	// Argo CD sends one member; a second would hide from whoever reads just one.
	inflating.Multistream(false)
	inflated := counted{inflated: inflating, archive: archive}
	entries := tar.NewReader(inflated)
	last := ""
	for {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return &Error{Kind: BadArchive, Entry: last, Reason: fmt.Sprintf("the tar is broken behind this entry: %v", err)}
		}
		last = header.Name
		if err := into.add(header, entries); err != nil {
			return err
		}
	}
	if err := onlyZeros(inflated); err != nil {
		return err
	}
	if _, err := packed.ReadByte(); !errors.Is(err, io.EOF) {
		return &Error{Kind: BadArchive, Reason: "something follows the end of the gzipped tar"}
	}
	return nil
}

// onlyZeros reads the padding behind the tar's end; reaching its end also proves
// the checksum that gzip carries.
func onlyZeros(inflated io.Reader) error {
	buffer := make([]byte, 4<<10)
	for {
		n, err := inflated.Read(buffer)
		if strings.Trim(string(buffer[:n]), "\x00") != "" {
			return &Error{Kind: BadArchive, Reason: "something follows the end of the tar"}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &Error{Kind: BadArchive, Reason: fmt.Sprintf("the archive is cut off or damaged: %v", err)}
		}
	}
}
