package confine

import (
	"errors"
	"fmt"

	landlock "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// system is what programs need of the machine, read only: themselves, their libraries,
// name resolution, certificates, time zones. Nothing below it is a secret on a machine
// that runs containers; the folders of secrets are elsewhere.
var system = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
	"/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols",
	"/etc/passwd", "/etc/group", "/etc/localtime", "/etc/timezone", "/etc/mime.types",
	"/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted", "/etc/ca-certificates",
	"/etc/gitconfig", "/etc/ssh/ssh_config", "/etc/ssh/ssh_config.d", "/etc/ssh/ssh_known_hosts",
}

// devices are read and written.
var devices = []string{"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/full"}

// Supported returns the version of Landlock that this kernel has, 0 when it has none.
func Supported() int {
	version, err := landlock.LandlockGetABIVersion()
	if err != nil || version < 0 {
		return 0
	}
	return version
}

// restrictThread shuts the calling thread in, and with it whatever it starts; the thread
// must not be used for anything else afterwards. Since the child begins in this state, all
// its threads, and all that it starts, are in one domain from their first instruction.
func restrictThread(spec Spec, program string) (Status, error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return Status{}, fmt.Errorf("give up privileges: %w", err)
	}
	version := Supported()
	if spec.Mode == Off {
		return Status{ABI: version, Reason: "it was told not to be"}, nil
	}
	if version == 0 {
		const reason = "the kernel has no Landlock, or it is not enabled; Linux 5.13 and later have it"
		if spec.Mode == Require {
			return Status{}, errors.New(reason)
		}
		return Status{Reason: reason}, nil
	}
	ruleset, err := newRuleset(version)
	if err != nil {
		return Status{}, err
	}
	defer func() { _ = unix.Close(ruleset.descriptor) }()
	err = ruleset.fill(spec, program)
	if err != nil {
		return Status{}, err
	}
	err = landlock.LandlockRestrictSelf(ruleset.descriptor, 0)
	if err != nil {
		return Status{}, fmt.Errorf("restrict by Landlock: %w", err)
	}
	return Status{Confined: true, ABI: version}, nil
}

// The rights that Landlock tells apart.
const (
	reading = landlock.AccessFSExecute | landlock.AccessFSReadFile | landlock.AccessFSReadDir
	// ofFiles are the rights that make sense for what is no folder.
	ofFiles = landlock.AccessFSExecute | landlock.AccessFSReadFile | landlock.AccessFSWriteFile | landlock.AccessFSTruncate | landlock.AccessFSIoctlDev
)

// handled are the rights to files that each version restricts, the first one at 0.
var handled = []uint64{1<<13 - 1, 1<<14 - 1, 1<<15 - 1, 1<<15 - 1, 1<<16 - 1, 1<<16 - 1, 1<<16 - 1, 1<<16 - 1, 1<<17 - 1}

// ruleset lists what stays within reach: everything that is not in it is not.
type ruleset struct {
	descriptor int
	handled    uint64
}

func newRuleset(version int) (*ruleset, error) {
	attributes := landlock.RulesetAttr{HandledAccessFS: handled[min(version, len(handled))-1]}
	if version >= 6 {
		attributes.Scoped = landlock.ScopeAbstractUnixSocket | landlock.ScopeSignal
	}
	descriptor, err := landlock.LandlockCreateRuleset(&attributes, 0)
	if err != nil {
		return nil, fmt.Errorf("make a ruleset of Landlock: %w", err)
	}
	return &ruleset{descriptor: descriptor, handled: attributes.HandledAccessFS}, nil
}

func (r *ruleset) fill(spec Spec, program string) error {
	// All rights but that to act on devices.
	err := r.allow(spec.Folder, r.handled&^landlock.AccessFSIoctlDev)
	for _, device := range devices {
		err = errors.Join(err, r.allow(device, landlock.AccessFSReadFile|landlock.AccessFSWriteFile))
	}
	for _, path := range append(append([]string{program}, system...), spec.Read...) {
		err = errors.Join(err, r.allow(path, reading))
	}
	return err
}

// allow gives rights to a file, or to a folder with all that it holds. A link is
// followed: what counts is where it leads. What does not exist is passed over.
func (r *ruleset) allow(path string, rights uint64) error {
	descriptor, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil // it is missing, or out of this process's own reach
	}
	defer func() { _ = unix.Close(descriptor) }()
	var info unix.Stat_t
	if err := unix.Fstat(descriptor, &info); err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	if info.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= ofFiles
	}
	beneath := landlock.PathBeneathAttr{ParentFd: descriptor, AllowedAccess: rights & r.handled}
	if err := landlock.LandlockAddPathBeneathRule(r.descriptor, &beneath, 0); err != nil {
		return fmt.Errorf("allow %s by Landlock: %w", path, err)
	}
	return nil
}

// boundSelf sets the limits of this process, and of each that it will start.
func boundSelf(limits Limits) error {
	// Whatever is started by a program that ends before it becomes this process's own,
	// so that the parent still finds it.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the parent of orphans: %w", err)
	}
	// A program that it starts may not look into this process, nor change it.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("keep others from tracing this process: %w", err)
	}
	return limitSelf(limits)
}

// openFiles is how many files one process may have open.
const openFiles = 4096

// limitSelf sets what the kernel itself holds every single process to. The parent
// watches the sum.
func limitSelf(limits Limits) error {
	set := map[int]int64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: openFiles}
	if limits.Memory > 0 {
		// Go maps some memory ahead of its use.
		set[unix.RLIMIT_DATA] = limits.Memory + limits.Memory/4 + 128<<20
	}
	if limits.CPU > 0 {
		// Of the time since it was started: a child is not used again once it has worked as
		// long as one call may.
		set[unix.RLIMIT_CPU] = 2*int64(limits.CPU.Seconds()) + 1
	}
	if limits.DiskBytes > 0 {
		set[unix.RLIMIT_FSIZE] = limits.DiskBytes
	}
	for resource, limit := range set {
		value := unix.Rlimit{Cur: uint64(limit), Max: uint64(limit)} //nolint:gosec // they are not negative.
		if err := unix.Setrlimit(resource, &value); err != nil {
			return fmt.Errorf("set limit %d of this process: %w", resource, err)
		}
	}
	return nil
}

func closeOnExec(descriptors ...int) {
	for _, descriptor := range descriptors {
		unix.CloseOnExec(descriptor)
	}
}

// killGroup kills this process and whatever it has started.
func killGroup() { _ = unix.Kill(0, unix.SIGKILL) }
