package argocd

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// cliConfig is the file that `argocd login` writes.
type cliConfig struct {
	CurrentContext string `json:"current-context"`
	Contexts       []struct {
		Name   string `json:"name"`
		Server string `json:"server"`
		User   string `json:"user"`
	} `json:"contexts"`
	Servers []cliServer `json:"servers"`
	Users   []struct {
		Name      string `json:"name"`
		AuthToken string `json:"auth-token"`
	} `json:"users"`
}

type cliServer struct {
	Server      string `json:"server"`
	Insecure    bool   `json:"insecure"`
	PlainText   bool   `json:"plain-text"`
	RootPath    string `json:"grpc-web-root-path"`
	Core        bool   `json:"core"`
	CA          string `json:"certificate-authority-data"`
	Certificate string `json:"client-certificate-data"`
	Key         string `json:"client-certificate-key-data"`
}

// Session reads the argocd CLI's configuration: the server and the token of a
// context, or of the current one when it is "". The error names no token.
func Session(data []byte, context string) (Config, error) {
	var parsed cliConfig
	if err := yaml.Unmarshal(data, &parsed); err != nil {
		// The decoder's own message may quote the file, which holds tokens.
		return Config{}, errors.New("this is no configuration of the argocd CLI; log in again with `argocd login`")
	}
	if context == "" {
		context = parsed.CurrentContext
	}
	if context == "" {
		return Config{}, fmt.Errorf("no context is current; log in with `argocd login`, or name one of: %s", strings.Join(parsed.names(), ", "))
	}
	for _, c := range parsed.Contexts {
		if c.Name != context {
			continue
		}
		config, err := parsed.server(c.Server)
		if err != nil {
			return Config{}, fmt.Errorf("context %q: %w", context, err)
		}
		for _, user := range parsed.Users {
			if user.Name == c.User {
				config.Token = user.AuthToken
			}
		}
		return config, nil
	}
	return Config{}, fmt.Errorf("there is no context %q; there are: %s", context, strings.Join(parsed.names(), ", "))
}

func (c cliConfig) names() []string {
	names := make([]string, len(c.Contexts))
	for i, context := range c.Contexts {
		names[i] = context.Name
	}
	return names
}

func (c cliConfig) server(name string) (Config, error) {
	for _, s := range c.Servers {
		if s.Server != name {
			continue
		}
		switch {
		case s.Core:
			return Config{}, fmt.Errorf("server %q was logged in to with --core, which has no API server to ask; log in to one", name)
		case name == "port-forward":
			return Config{}, fmt.Errorf("server %q is a port-forward of the argocd CLI, which ends with it; run `kubectl port-forward` and name the server", name)
		}
		config := Config{URL: Address(name, s.PlainText), RootPath: s.RootPath, Insecure: s.Insecure}
		for _, part := range []struct {
			into *[]byte
			text string
		}{{&config.CA, s.CA}, {&config.ClientCertificate, s.Certificate}, {&config.ClientKey, s.Key}} {
			var err error
			if *part.into, err = base64.StdEncoding.DecodeString(part.text); err != nil {
				return Config{}, fmt.Errorf("server %q: a certificate or its key is not base64", name)
			}
		}
		return config, nil
	}
	return Config{}, fmt.Errorf("server %q is not among the file's servers; log in again", name)
}

// Address makes a URL of what the argocd CLI calls a server: HOST, HOST:PORT, or a
// URL already.
func Address(server string, plainText bool) string {
	switch {
	case strings.Contains(server, "://"):
		return server
	case plainText:
		return "http://" + server
	}
	return "https://" + server
}
