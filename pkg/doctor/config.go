package doctor

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// What Argo CD calls the settings of proxy extensions, and Moorpin its own.
const (
	configPrefix  = "extension.config"
	extensionName = "moorpin"
	configKey     = configPrefix + "." + extensionName
	secretHeader  = "Moorpin-Secret"
	partOfLabel   = "app.kubernetes.io/part-of"
	partOf        = "argocd"
	// ownSecret is what a reference without a name is about.
	ownSecret = "argocd-secret"
)

// extension is one configured proxy extension, as Argo CD reads it.
type extension struct {
	Name    string  `json:"name"`
	Backend backend `json:"backend"`
}

type backend struct {
	Services []service `json:"services"`
}

type service struct {
	URL     string `json:"url"`
	Cluster *struct {
		Name   string `json:"name"`
		Server string `json:"server"`
	} `json:"cluster"`
	Headers []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"headers"`
}

// extensions reads all proxy extensions of argocd-cm: one that Argo CD cannot take makes
// it serve none at all. Its error names the key.
func extensions(data map[string]string) ([]extension, error) {
	var found []extension
	for _, key := range slices.Sorted(maps.Keys(data)) {
		rest, is := strings.CutPrefix(key, configPrefix)
		if !is {
			continue
		}
		name := strings.TrimPrefix(rest, ".")
		if name == "" {
			var main struct {
				Extensions []extension `json:"extensions"`
			}
			if err := yaml.Unmarshal([]byte(data[key]), &main); err != nil {
				return nil, fmt.Errorf("%s is no YAML of the right shape", key) // the decoder's words may quote a secret
			}
			found = append(found, main.Extensions...)
			continue
		}
		one := extension{Name: name}
		if err := yaml.Unmarshal([]byte(data[key]), &one.Backend); err != nil {
			return nil, fmt.Errorf("%s is no YAML of the right shape", key)
		}
		found = append(found, one)
	}
	return found, validate(found)
}

var safeName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// validate refuses what Argo CD refuses.
func validate(all []extension) error {
	seen := map[string]bool{}
	for _, one := range all {
		switch {
		case !safeName.MatchString(one.Name):
			return fmt.Errorf("an extension has the name %q, which may hold letters, digits, dashes and underscores only", one.Name)
		case seen[one.Name]:
			return fmt.Errorf("the extension %s is configured twice", one.Name)
		case len(one.Backend.Services) == 0:
			return fmt.Errorf("the extension %s has no services", one.Name)
		}
		seen[one.Name] = true
		for _, s := range one.Backend.Services {
			if err := s.validate(one.Name, len(one.Backend.Services)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s service) validate(name string, among int) error {
	switch {
	case s.URL == "":
		return fmt.Errorf("a service of the extension %s has no url", name)
	case among > 1 && s.Cluster == nil:
		return fmt.Errorf("the extension %s has several services, and one of them names no cluster", name)
	case s.Cluster != nil && s.Cluster.Name == "" && s.Cluster.Server == "":
		return fmt.Errorf("a service of the extension %s has a cluster without name and server", name)
	}
	for _, header := range s.Headers {
		if header.Name == "" || header.Value == "" {
			return fmt.Errorf("a header of the extension %s lacks its name or its value", name)
		}
	}
	return nil
}

// own is Moorpin's extension, and whether there is one.
func own(all []extension) (extension, bool) {
	for _, one := range all {
		if one.Name == extensionName {
			return one, true
		}
	}
	return extension{}, false
}

// reference is where a header's value comes from.
type reference struct{ secret, key string }

// secretReference is what the service sends as Moorpin's secret: the reference, whether
// the header is there, and whether it holds a reference at all.
func (s service) secretReference() (ref reference, sent, referred bool) {
	for _, header := range s.Headers {
		if !strings.EqualFold(header.Name, secretHeader) {
			continue
		}
		text, referred := strings.CutPrefix(header.Value, "$")
		if !referred {
			return reference{}, true, false
		}
		name, key, named := strings.Cut(text, ":")
		if !named {
			name, key = ownSecret, text
		}
		return reference{name, key}, true, true
	}
	return reference{}, false, false
}

// configured is Moorpin's extension of the facts, where it can be read.
func (f Facts) configured() (extension, bool) {
	if !f.Settings.Found {
		return extension{}, false
	}
	all, err := extensions(f.Settings.Value.Data)
	if err != nil {
		return extension{}, false
	}
	return own(all)
}

// reference is the Secret that the extension refers to, where it does.
func (f Facts) reference() (reference, bool) {
	found, is := f.configured()
	if !is {
		return reference{}, false
	}
	for _, s := range found.Backend.Services {
		if ref, _, referred := s.secretReference(); referred {
			return ref, true
		}
	}
	return reference{}, false
}

// host is the name and the port of a URL's Service, as the cluster's DNS has it.
type host struct{ address, name, namespace, port string }

func (s service) host(home string) (host, error) {
	parsed, err := url.Parse(s.URL)
	if err != nil || parsed.Hostname() == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return host{}, fmt.Errorf("the url of the extension %s is none of http or https", extensionName)
	}
	found := host{address: parsed.Hostname(), namespace: home, port: parsed.Port()}
	if found.port == "" {
		found.port = map[string]string{"http": "80", "https": "443"}[parsed.Scheme]
	}
	parts := strings.Split(parsed.Hostname(), ".")
	found.name = parts[0]
	if len(parts) > 1 {
		found.namespace = parts[1]
	}
	return found, nil
}
