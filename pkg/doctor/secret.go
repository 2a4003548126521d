package doctor

import (
	"bytes"
	"context"
	"fmt"
	"regexp"

	corev1 "k8s.io/api/core/v1"
)

// minSecret is the least length that the backend takes.
const minSecret = 16

// secret measures the Secret that the extension refers to.
func secret(ctx context.Context, r reader, facts Facts) Fact[Secret] {
	ref, is := facts.reference()
	if !is {
		return Hidden[Secret]("the extension's configuration refers to none")
	}
	found := one[corev1.Secret](ctx, r, "Secret", ref.secret)
	if !found.Found {
		return Fact[Secret]{Obstacle: found.Obstacle}
	}
	measured := Secret{Name: found.Value.Name, Labels: found.Value.Labels, Keys: map[string]string{}}
	for key, value := range found.Value.Data {
		measured.Keys[key] = flaw(value)
	}
	return There(measured)
}

// flaw says what the backend would refuse about a secret, without quoting it.
func flaw(value []byte) string {
	value = bytes.TrimSpace(value) // as Argo CD and the backend do
	switch {
	case len(value) == 0:
		return "is empty"
	case value[0] == '$':
		return "begins with $: it holds the name of a secret where the value belongs"
	case bytes.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "holds a character that no header can carry"
	case len(value) < minSecret:
		return fmt.Sprintf("has %d characters and can be guessed: %d are the least", len(value), minSecret)
	}
	return ""
}

// makeSecret are the commands that make the Secret anew.
func makeSecret(namespace string, ref reference) []string {
	return []string{
		fmt.Sprintf(`kubectl -n %s create secret generic %s --from-literal=%s="$(openssl rand -hex 32)"`, namespace, ref.secret, ref.key),
		fmt.Sprintf("kubectl -n %s label secret %s %s=%s", namespace, ref.secret, partOfLabel, partOf),
	}
}

// restartServer makes argocd-server read its Secrets again, which it does at its start
// and when its settings change.
func (f Facts) restartServer() string {
	return fmt.Sprintf("kubectl -n %s rollout restart deployment %s", f.Namespace, f.deploymentOf(apiServer))
}

// judgeSecret looks at the Secret that the configuration refers to.
func judgeSecret(f Facts) finding {
	ref, is := f.reference()
	if !is && f.Settings.Obstacle != "" {
		return unread("argocd-cm", f.Settings.Obstacle)
	}
	if !is {
		return bad("the extension's configuration refers to no Secret, so nobody knows which one is sent", f.addComponent("extension")...)
	}
	switch {
	case f.Secret.Obstacle != "":
		return unknown(fmt.Sprintf("the Secret %s %s", ref.secret, f.Secret.Obstacle))
	case !f.Secret.Found:
		return bad(fmt.Sprintf("there is no Secret %s, so argocd-server sends its name instead, and the backend refuses everything", ref.secret), append(makeSecret(f.Namespace, ref), f.restartServer())...)
	case f.Secret.Value.Labels[partOfLabel] != partOf && ref.secret != ownSecret:
		return bad(fmt.Sprintf("the Secret %s lacks the label %s: %s, without which Argo CD does not read it", ref.secret, partOfLabel, partOf), makeSecret(f.Namespace, ref)[1], f.restartServer())
	}
	problem, there := f.Secret.Value.Keys[ref.key]
	anew := fmt.Sprintf(`kubectl -n %s patch secret %s --type merge -p "{\"stringData\":{\"%s\":\"$(openssl rand -hex 32)\"}}"`, f.Namespace, ref.secret, ref.key)
	switch {
	case !there:
		return bad(fmt.Sprintf("the Secret %s has no key %s, to which the extension's configuration refers", ref.secret, ref.key), anew, f.restartServer())
	case problem != "":
		return bad(fmt.Sprintf("the value of %s in the Secret %s %s", ref.key, ref.secret, problem), anew, f.restartServer())
	}
	return fine(fmt.Sprintf("the Secret %s has the label that Argo CD asks for, and its key %s is long enough", ref.secret, ref.key))
}

// addComponent are the lines that add a component to the kustomization of Argo CD, of
// this binary's version where it is a released one.
func (f Facts) addComponent(name string) []string {
	at := componentsAt + name
	if released.MatchString(f.Version) {
		at += "?ref=" + f.Version
	}
	return []string{"in the kustomization.yaml of Argo CD:", "components:", "- " + at}
}

var released = regexp.MustCompile(`^v\d+\.\d+\.\d+$`)

// componentsAt is where the components are.
const componentsAt = "https://github.com/moorpin/moorpin//manifests/components/"
