// Package confine runs work on hostile input in child processes that can be killed,
// that cannot take more than they were given, and that reach nothing but what the work
// is about.
//
// [Start] runs this same program again with one fixed argument; its main calls [Serve]
// when it finds that argument. Before the child reads a byte of the work it bounds
// itself and shuts itself in: with Landlock it reads and writes its own [Spec.Folder],
// reads and executes what [Spec.Read] names and what every program needs of the system,
// and reaches nothing else: no service account token, no file of another child, no
// /proc, no signal to or memory of a process that it has not started. It gains no
// privileges by executing, has no environment but [Spec.Env], and ends with its parent.
// [Child.Call] hands it a request and returns its answer; while it works, the parent
// watches the memory, the time and the files of the child together with all that it
// started, and kills them all when a bound of [Limits] is passed or the context ends.
//
//	valid:    Start(Spec{Argument: "render-child", Folder: "/tmp/moorpin/slot-1", Limits: Limits{Memory: 512 << 20}, ...})
//	invalid:  Start(Spec{Folder: "/"})   (a folder of its own is removed with the child)
//
// It refuses to start unconfined under [Require]. Under [Auto], where the kernel has no
// Landlock, the child runs with everything else of the above, and its [Status] says so.
// What it does not hold back is the network: charts and bases may be remote.
package confine

import (
	"fmt"
	"time"
)

// Mode says what is done where the kernel cannot confine.
type Mode string

// The modes.
const (
	// Auto confines where the kernel can.
	Auto Mode = "auto"
	// Require refuses to start a child that is not confined.
	Require Mode = "require"
	// Off bounds children, and does not confine them.
	Off Mode = "off"
)

// ParseMode reads a mode by its name.
func ParseMode(text string) (Mode, error) {
	switch mode := Mode(text); mode {
	case Auto, Require, Off:
		return mode, nil
	}
	return "", fmt.Errorf("%q is not known; use auto, require or off", text)
}

// Limits bound one child and all that it starts, together. A bound that is zero does
// not bind.
type Limits struct {
	// Memory bounds what the processes hold together, in bytes, files that they map aside.
	// The kernel gives no single one more than a quarter and 128 MiB above it.
	Memory int64
	// CPU bounds the processor time of the processes in one call, ended ones included.
	CPU time.Duration
	// Processes bounds how many processes there are at once. Default 256.
	Processes int64
	// DiskBytes and DiskFiles bound what lies in the folder, each file and folder with at
	// least a block of 4096 bytes.
	DiskBytes, DiskFiles int64
	// AnswerBytes bounds an answer. Default 256 MiB.
	AnswerBytes int64
}

// Spec is what a child is started with.
type Spec struct {
	// Argument is the only argument of the child's process.
	Argument string
	// Folder is the child's own: it exists, nothing else uses it, and it is the child's
	// working directory. [Child.Close] removes it.
	Folder string
	// Read names files and folders that the child may read and execute. What does not
	// exist is passed over.
	Read []string
	// Env is the whole environment of the child, NAME=value.
	Env    []string
	Limits Limits
	Mode   Mode
}

// Status says what holds a child back.
type Status struct {
	// Confined tells whether Landlock does.
	Confined bool
	// ABI is the version of Landlock that the kernel has; 0 when it has none.
	ABI int
	// Reason says why the child is not confined; it is empty when it is.
	Reason string
}

// Bound names a bound of [Limits].
type Bound string

// The bounds.
const (
	Memory    Bound = "memory"
	CPU       Bound = "processor time"
	Processes Bound = "processes"
	Disk      Bound = "disk"
	Files     Bound = "files"
	Answer    Bound = "answer"
)

// Exceeded says that a child was ended, or its answer refused, because it passed a bound.
type Exceeded struct { //nolint:errname // it reads as what it is: confine.Exceeded.
	Bound Bound
	// Limit is in bytes, files or, for [CPU], nanoseconds.
	Limit int64
}

// Error returns the sentence for people.
func (e *Exceeded) Error() string {
	switch e.Bound {
	case CPU:
		return fmt.Sprintf("it needs more than %s of processor time", time.Duration(e.Limit))
	case Processes:
		return fmt.Sprintf("it starts more than %d processes", e.Limit)
	case Files:
		return fmt.Sprintf("it writes more than %d files", e.Limit)
	case Disk:
		return fmt.Sprintf("it writes more than %d bytes to disk", e.Limit)
	case Answer:
		return fmt.Sprintf("what it comes to is more than %d bytes", e.Limit)
	case Memory:
	}
	return fmt.Sprintf("it needs more than %d bytes of memory", e.Limit)
}

// Died says that a child broke down by itself.
type Died struct { //nolint:errname // it reads as what it is: confine.Died.
	// Reason is the first line of what it said, without where in memory.
	Reason string
	// Said is the beginning of all that it said, for a log.
	Said string
}

// Error returns the sentence for people.
func (e *Died) Error() string { return "its process broke down: " + e.Reason }
