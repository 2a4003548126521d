package receive

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/argoproj/argo-cd/v2/cmpserver/apiclient"
)

// Metadata is the first message of a stream.
type Metadata struct {
	// AppName is the base name of the app's folder; it is not the Application's
	// name, which is ARGOCD_APP_NAME in Env.
	AppName string
	// AppRelPath is the app's folder, relative to the root of what was sent.
	AppRelPath string
	// Checksum is the SHA-256 of the archive in lower-case hex.
	Checksum string
	// Size is the length of the archive in bytes, 0 when the sender left it out.
	Size int64
	// Env holds the environment that Argo CD gives to a plugin. A name without a
	// value is in it with "".
	Env map[string]string
	// Bytes is about what this takes of the memory.
	Bytes int64
}

func receiveMetadata(incoming messages, limits Limits) (Metadata, error) {
	message, err := incoming.next()
	if err != nil {
		return Metadata{}, fmt.Errorf("receive the metadata: %w", err)
	}
	sent := message.GetMetadata()
	if sent == nil {
		return Metadata{}, &Error{Kind: BadMetadata, Reason: "the stream does not begin with metadata; only Argo CD's plugin client may call this"}
	}
	if sum, err := hex.DecodeString(sent.GetChecksum()); err != nil || len(sum) != 32 {
		return Metadata{}, &Error{Kind: BadMetadata, Entry: sent.GetChecksum(), Reason: "the checksum of the metadata is no SHA-256 in hex"}
	}
	if sent.GetSize_() > limits.ArchiveBytes {
		return Metadata{}, overLimit("", FlagArchiveBytes, limits.ArchiveBytes, fmt.Sprintf("the archive is announced with %d bytes, more", sent.GetSize_()))
	}
	if strings.ContainsRune(sent.GetAppRelPath(), 0) {
		return Metadata{}, &Error{Kind: BadMetadata, Entry: sent.GetAppRelPath(), Reason: "the app's path holds a NUL"}
	}
	named := int64(len(sent.GetAppName()) + len(sent.GetAppRelPath()))
	env, size, err := environment(sent.GetEnv(), named, limits)
	if err != nil {
		return Metadata{}, err
	}
	return Metadata{
		AppName: sent.GetAppName(), AppRelPath: sent.GetAppRelPath(),
		Checksum: strings.ToLower(sent.GetChecksum()), Size: sent.GetSize_(), Env: env, Bytes: size,
	}, nil
}

// entryBytes is what a variable costs beside its name and value.
const entryBytes = 64

// environment makes a map of the entries, and adds their sizes to size; the last of a name wins, as it does for
// a process. Argo CD sends names twice only where users choose them: two entries of
// plugin.env, or parameters whose names become the same variable.
func environment(entries []*apiclient.EnvEntry, size int64, limits Limits) (map[string]string, int64, error) {
	for _, entry := range entries {
		size += int64(len(entry.GetName())+len(entry.GetValue())) + entryBytes
	}
	if size > limits.MetadataBytes {
		return nil, 0, overLimit("", FlagMetadataBytes, limits.MetadataBytes, "the metadata has more bytes")
	}
	env := make(map[string]string, len(entries))
	for _, entry := range entries {
		name, value := entry.GetName(), entry.GetValue()
		if entry == nil || name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return nil, 0, &Error{Kind: BadMetadata, Entry: name, Reason: "an environment variable needs a name without '=', and neither name nor value may hold a NUL"}
		}
		earlier, twice := env[name]
		if twice && earlier != value && !chosenByUser(name) {
			return nil, 0, &Error{Kind: BadMetadata, Entry: name, Reason: "this environment variable is sent twice with different values"}
		}
		env[name] = value
	}
	return env, size, nil
}

func chosenByUser(name string) bool {
	return strings.HasPrefix(name, "ARGOCD_ENV_") || strings.HasPrefix(name, "PARAM_")
}
