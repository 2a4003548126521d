package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// socketMode lets only the user that runs the sidecar connect, which is the
// user that runs repo-server (999 in Argo CD's images).
const socketMode fs.FileMode = 0o600

// Socket is a unix socket that this process listens on and owns.
type Socket struct {
	net.Listener

	path string
	own  fs.FileInfo
}

// Listen makes the plugin socket and listens on it, for this user only. A
// socket of the same name that nobody answers on, as a killed sidecar leaves
// behind, is removed first; one that answers, or a file that is no socket, is
// an error and stays as it is.
func Listen(ctx context.Context, path string) (*Socket, error) {
	err := removeStale(ctx, path)
	if err != nil {
		return nil, err
	}
	before := syscall.Umask(int(0o777 &^ socketMode))
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	syscall.Umask(before)
	if err != nil {
		return nil, explainListen(path, err)
	}
	if unix, ok := listener.(*net.UnixListener); ok {
		unix.SetUnlinkOnClose(false) // Remove does it, and only if it is still ours
	}
	socket := &Socket{Listener: listener, path: path}
	socket.own, err = os.Lstat(path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("look at own socket: %w", err), listener.Close())
	}
	return socket, nil
}

// Remove deletes the socket's file, if it is still the one that Listen made:
// a successor's is left alone.
func (s *Socket) Remove() error {
	now, err := os.Lstat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at own socket: %w", err)
	}
	if !os.SameFile(s.own, now) {
		return nil
	}
	err = os.Remove(s.path)
	if err != nil {
		return fmt.Errorf("remove own socket: %w", err)
	}
	return nil
}

// removeStale clears path for a new socket, or says why it must not.
func removeStale(ctx context.Context, path string) error {
	found, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return explainListen(path, err)
	}
	if found.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s exists and is no socket: remove it or choose another path with --socket", path)
	}
	dialer := net.Dialer{Timeout: 2 * time.Second}
	connection, err := dialer.DialContext(ctx, "unix", path)
	if err == nil {
		return errors.Join(
			fmt.Errorf("another plugin server answers on %s: stop it, or choose another --name or --socket", path),
			connection.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("find out whether somebody answers on %s: %w", path, err)
	}
	err = os.Remove(path)
	if err != nil {
		return fmt.Errorf("remove the stale socket: %w", err)
	}
	return nil
}

// maxPath is how long a unix socket's path may be, its closing zero byte set
// aside: sun_path holds 108 bytes on Linux.
const maxPath = 107

// explainListen turns the errors of the file system into what to do about them.
func explainListen(path string, err error) error {
	folder := filepath.Dir(path)
	_, missing := os.Stat(folder)
	switch {
	case errors.Is(missing, fs.ErrNotExist):
		return fmt.Errorf("socket folder %s does not exist: mount Argo CD's plugins volume there, or set ARGOCD_PLUGINSOCKFILEPATH or --socket: %w", folder, err)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("socket folder %s is not a folder: set ARGOCD_PLUGINSOCKFILEPATH or --socket to another path: %w", folder, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("socket folder %s is not writable for user %d: let the sidecar run as repo-server's user (999) and mount the plugins volume without readOnly: %w",
			folder, os.Getuid(), err)
	case len(path) > maxPath:
		return fmt.Errorf("socket path %s has %d bytes, a unix socket's path has at most %d: choose a shorter one: %w", path, len(path), maxPath, err)
	}
	return fmt.Errorf("listen on %s: %w", path, err)
}
