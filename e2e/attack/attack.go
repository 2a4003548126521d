// Package attack is a corpus of repositories and Applications that try to read what is
// not theirs, to fill memory, disk and time, or to keep others waiting. Each case is
// tried on a confined child, on the checks in front of it alone, and through a real
// repo-server; a new way in is a new case.
package attack

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"
)

// Secret is what no answer, error or log may hold: the content of the file that
// [Target.Token] names and of the variable [SecretVariable].
const Secret = "s3cret-of-the-sidecar"

// Leaks reports whether a text holds the [Secret], plain, in base64 or as a list of bytes.
func Leaks(text string) bool {
	return strings.Contains(text, Secret) || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(Secret))[:16]) ||
		strings.Contains(text, strings.ReplaceAll(strings.Trim(fmt.Sprintf("%d", []byte(Secret)), "[]"), " ", ","))
}

// SecretVariable is in the environment of the sidecar.
const SecretVariable = "MOORPIN_TEST_TOKEN"

// Target says where the things are that an attack is after.
type Target struct {
	// Token is the path of a file with the [Secret]; its folder holds a kustomization and
	// a chart that would render it.
	Token string
	// Process is the number of the sidecar, whose working directory is the token's folder.
	Process int
}

// Folder is the folder of the token.
func (t Target) Folder() string { return t.Token[:strings.LastIndexByte(t.Token, '/')] }

// Neighbour are the files of the token's folder beside the token itself.
func Neighbour() map[string]string {
	files := map[string]string{
		"values.yaml":                  "token: " + Secret + "\n",
		"kustomization.yaml":           "configMapGenerator: [{name: a, files: [token]}]\n",
		"Chart.yaml":                   "apiVersion: v2\nname: neighbour\nversion: 1.0.0\n",
		"component/token":              Secret,
		"component/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nconfigMapGenerator: [{name: a, files: [token]}]\n",
		"templates/leak.yaml":          "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: leak}\ndata: {token: {{ .Files.Get \"token\" | quote }}}\n",
	}
	maps.Copy(files, gitFolder(map[string]string{"token": Secret, "kustomization.yaml": files["kustomization.yaml"]}))
	return files
}

// LinkTo begins the text of a file that is a link, to what follows.
const LinkTo = "link to "

// Read is an attack on a file or on the environment. Whatever comes of it, the [Secret]
// may not be in it.
type Read struct {
	Reason string
	// Files are those of the repository; the Application is in the folder app.
	Files map[string]string
	// Kind and Block are the source of the Application, both empty where the files say it.
	Kind, Block string
	// Checked tells that the checks refuse it even where nothing is confined.
	Checked bool
}

// Works names the attacks on files that come to something where neither confinement nor
// checks hold them back. The others are tried because they might.
var Works = []string{
	"jsonnet import", "jsonnet import bytes", "jsonnet import upward", "jsonnet argument", "jsonnet second file", "jsonnet third file",
	"jsonnet variable", "jsonnet from Git alone", "jsonnet environment", "jsonnet through proc", "jsonnet through root",
	"helm file name", "helm file list", "helm from Git alone", "helm dependency", "helm dependency of proc", "helm old dependency",
	"helm value files", "helm value files of Git", "helm linked values", "helm linked file", "helm lock", "helm old lock",
	"kustomize resource", "kustomize through proc", "kustomize nested", "kustomize component", "kustomize source",
}

const (
	chart      = "apiVersion: v2\nname: app\nversion: 1.0.0\n"
	showValues = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {values: {{ toJson .Values | quote }}, name: {{ .Release.Name | quote }}}\n"
	// lazy is a program that is given an argument and does not look at it, eager one that does.
	lazy  = "function(x={}) {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'lazy'}}"
	eager = "function(x={}) {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'eager'}, data: {x: std.toString(x)}}"
	// unused and used do the same with an external variable.
	unused = "{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'unused'}}"
	used   = "{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'used'}, data: {x: std.toString(std.extVar('v'))}}"
)

// Reads returns the attacks on files, by name.
func Reads(target Target) map[string]Read {
	token, folder, proc := target.Token, target.Folder(), fmt.Sprintf("/proc/%d", target.Process)
	up := strings.Repeat("../", 24)
	charted := func(values string) map[string]string {
		return map[string]string{"app/Chart.yaml": chart, "app/values.yaml": values, "app/templates/a.yaml": showValues}
	}
	first := map[string]string{"app/a.jsonnet": eager}
	second := map[string]string{"app/a.jsonnet": lazy, "app/b.jsonnet": eager}
	third := map[string]string{"app/a.jsonnet": lazy, "app/b.jsonnet": lazy, "app/c.jsonnet": eager}
	with := func(files map[string]string, more ...string) map[string]string {
		all := map[string]string{}
		maps.Copy(all, files)
		for i := 0; i < len(more); i += 2 {
			all[more[i]] = more[i+1]
		}
		return all
	}
	locked := func(version, file string) map[string]string {
		files := charted("")
		files["app/Chart.yaml"] = "apiVersion: " + version + "\nname: app\nversion: 1.0.0\n"
		files["app/"+file] += "dependencies: " + dependencies("../inner") + "\n"
		files["inner/Chart.yaml"] = "apiVersion: v2\nname: neighbour\nversion: 1.0.0\n"
		return files
	}
	return map[string]Read{
		"jsonnet import":          {"an absolute import", map[string]string{"app/a.jsonnet": "{kind: 'A', apiVersion: 'v1', x: importstr '" + token + "'}"}, "", "", true},
		"jsonnet import bytes":    {"an absolute import of bytes", map[string]string{"app/a.jsonnet": "{kind: 'A', apiVersion: 'v1', x: importbin '" + token + "'}"}, "", "", true},
		"jsonnet import upward":   {"a relative import that leaves", map[string]string{"app/a.jsonnet": "{kind: 'A', apiVersion: 'v1', x: importstr '" + up + token + "'}"}, "", "", true},
		"jsonnet argument":        {"code in an argument", first, "directory", `{jsonnet: {tlas: [{name: x, code: true, value: "importstr '` + token + `'"}]}}`, true},
		"jsonnet second file":     {"Argo CD substitutes once a file, in what the last time left", second, "directory", `{jsonnet: {tlas: [{name: x, code: true, value: "importstr '$${NOPE}` + token + `'"}]}}`, true},
		"jsonnet third file":      {"and once more", third, "directory", `{jsonnet: {tlas: [{name: x, code: true, value: "importstr '$$$${NOPE}` + token + `'"}]}}`, true},
		"jsonnet variable":        {"external variables are the same", map[string]string{"app/a.jsonnet": unused, "app/b.jsonnet": used}, "directory", `{jsonnet: {extVars: [{name: v, code: true, value: "importstr '$${NOPE}` + token + `'"}]}}`, true},
		"jsonnet from Git alone":  {"a file of the repository sets the arguments", with(second, "app/.argocd-source.yaml", `directory: {jsonnet: {tlas: [{name: x, code: true, value: "importstr '$${NOPE}`+token+`'"}]}}`), "", "", true},
		"jsonnet environment":     {"the sidecar's variables", map[string]string{"app/a.jsonnet": "{kind: 'A', apiVersion: 'v1', x: importstr '" + proc + "/environ'}"}, "", "", true},
		"jsonnet own environment": {"its own variables", map[string]string{"app/a.jsonnet": "{kind: 'A', apiVersion: 'v1', x: importstr '/proc/self/environ'}"}, "", "", true},
		"jsonnet through proc":    {"the working directory of another process", map[string]string{"app/a.jsonnet": "{kind: 'A', apiVersion: 'v1', x: importstr '" + proc + "/cwd/token'}"}, "", "", true},
		"jsonnet through root":    {"the root of another process", map[string]string{"app/a.jsonnet": "{kind: 'A', apiVersion: 'v1', x: importstr '" + proc + "/root" + token + "'}"}, "", "", true},
		"jsonnet library":         {"a library path that leaves", map[string]string{"app/a.jsonnet": "{kind: 'A', apiVersion: 'v1', x: importstr 'token'}"}, "directory", "{jsonnet: {libs: ['" + up + folder + "', '" + folder + "']}}", false},
		"helm file name":          {"a comma in the name of a file parameter", charted(""), "helm", `fileParameters: [{name: "a=` + token + `,b", path: values.yaml}]`, true},
		"helm file list":          {"braces in the name of a file parameter", charted(""), "helm", `fileParameters: [{name: "a={` + token + `}", path: values.yaml}]`, true},
		"helm file path":          {"a comma in the path of a file parameter", with(charted(""), "app/x,", ""), "helm", `fileParameters: [{name: a, path: "x,,b=` + token + `"}]`, true},
		"helm escaped comma":      {"an escape before a comma that Argo CD takes for escaped", with(charted(""), "app/x", ""), "helm", `fileParameters: [{name: a, path: 'x\\,b=` + token + `'}]`, true},
		"helm from Git alone":     {"a file of the repository sets the parameters", with(charted(""), "app/.argocd-source.yaml", `helm: {fileParameters: [{name: "a=`+token+`,b", path: values.yaml}]}`), "", "", true},
		"helm file parameter":     {"the path itself leaves", charted(""), "helm", "fileParameters: [{name: a, path: " + up + token + "}]", false},
		"helm absolute file":      {"an absolute path", charted(""), "helm", "fileParameters: [{name: a, path: " + token + "}]", false},
		"helm values":             {"values of elsewhere", charted(""), "helm", "valueFiles: [" + up + token + "]", false},
		"helm values by URL":      {"a URL of a file", charted(""), "helm", "valueFiles: ['file://" + token + "']", false},
		"helm values by glob":     {"values by way of a process", charted(""), "helm", "valueFiles: ['" + proc + "/cwd/token']", false},
		"helm value files":        {"a comma in the name of a file with values", with(charted(""), "app/x", "a: b"), "helm", "valueFiles: ['x," + folder + "/values.yaml']", true},
		"helm value files of Git": {"a file of the repository names them", with(charted(""), "app/x", "a: b", "app/.argocd-source.yaml", "helm: {valueFiles: ['x,"+folder+"/values.yaml']}"), "", "", true},
		"helm value files by URL": {"a comma in a URL", charted(""), "helm", "valueFiles: ['http://127.0.0.1:1/," + folder + "/values.yaml']", true},
		"helm linked values":      {"a comma where a link leads, which Argo CD follows", with(charted(""), "links/x", LinkTo+"y,"+folder+"/values.yaml", "links/y", "a: b"), "helm", "valueFiles: [../links/x]", true},
		"helm linked file":        {"an escape before a comma there", with(charted(""), "links/x", LinkTo+`y\\,b=`+token, `links/y\`, ""), "helm", "fileParameters: [{name: a, path: ../links/x}]", true},
		"helm release name":       {"the name is a template with the environment", charted(""), "helm", `releaseName: '{{ env "` + SecretVariable + `" }}'`, true},
		"helm dependency":         {"a chart of elsewhere", with(charted(""), "app/Chart.yaml", chart+"dependencies: [{name: neighbour, version: 1.0.0, repository: 'file://"+folder+"'}]\n"), "", "", true},
		"helm dependency of proc": {"a chart by way of a process", with(charted(""), "app/Chart.yaml", chart+"dependencies: [{name: neighbour, version: 1.0.0, repository: 'file://"+up+proc+"/cwd'}]\n"), "", "", true},
		"helm old dependency":     {"the file of old charts", with(charted(""), "app/Chart.yaml", "apiVersion: v1\nname: app\nversion: 1.0.0\n", "app/requirements.yaml", "dependencies: [{name: neighbour, version: 1.0.0, repository: 'file://"+folder+"'}]\n"), "", "", true},
		"helm nested dependency":  {"a chart of this repository depends on it", with(charted(""), "app/Chart.yaml", chart+"dependencies: [{name: inner, version: 1.0.0, repository: 'file://../inner'}]\n", "inner/Chart.yaml", "apiVersion: v2\nname: inner\nversion: 1.0.0\ndependencies: [{name: neighbour, version: 1.0.0, repository: 'file://"+folder+"'}]\n"), "", "", true},
		"helm lock":               {"Helm builds what the lock names, where its digest fits", with(locked("v2", "Chart.yaml"), "app/Chart.lock", lock(folder)), "", "", true},
		"helm old lock":           {"the lock of old charts", with(locked("v1", "requirements.yaml"), "app/requirements.lock", lock(folder)), "", "", true},
		"kustomize resource":      {"a folder of elsewhere", map[string]string{"app/kustomization.yaml": "resources: ['" + up + folder + "']\n"}, "", "", true},
		"kustomize through proc":  {"a folder by way of a process", map[string]string{"app/kustomization.yaml": "resources: ['" + up + proc + "/cwd']\n"}, "", "", true},
		"kustomize nested":        {"named by a base of this repository", map[string]string{"app/kustomization.yaml": "resources: [../base]\n", "base/kustomization.yaml": "resources: ['" + up + proc + "/cwd']\n"}, "", "", true},
		"kustomize component":     {"a component of elsewhere", map[string]string{"app/kustomization.yaml": "components: ['" + up + proc + "/cwd/component']\n"}, "", "", true},
		"kustomize source":        {"a component that the Application names", map[string]string{"app/kustomization.yaml": "resources: []\n"}, "kustomize", "components: ['" + up + proc + "/cwd/component']", true},
		"kustomize generator":     {"a generator reads a file", map[string]string{"app/kustomization.yaml": "configMapGenerator: [{name: a, files: ['" + up + token + "', '" + token + "']}]\n"}, "", "", false},
		"kustomize secret":        {"a generator reads variables", map[string]string{"app/kustomization.yaml": "secretGenerator: [{name: a, envs: ['" + up + proc + "/environ']}]\n"}, "", "", false},
		"kustomize patch":         {"a patch of elsewhere", map[string]string{"app/kustomization.yaml": "resources: [a.yaml]\npatches: [{path: '" + up + token + "'}]\n", "app/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"}, "", "", false},
		"kustomize schema":        {"the path of an OpenAPI schema", map[string]string{"app/kustomization.yaml": "openapi: {path: '" + up + token + "'}\n"}, "", "", false},
		"kustomize git":           {"a repository on this disk", map[string]string{"app/kustomization.yaml": "resources: ['file://" + folder + "?ref=main']\n"}, "", "", true},
		"kustomize option":        {"an option of git for the ref", map[string]string{"app/kustomization.yaml": "resources: ['file://" + folder + "?ref=--upload-pack=cat%20" + token + "']\n"}, "", "", false},
		"kustomize helm":          {"a chart in a kustomization", map[string]string{"app/kustomization.yaml": "helmCharts: [{name: neighbour, releaseName: a}]\nhelmGlobals: {chartHome: '" + up + folder + "/..'}\n"}, "", "", false},
		"kustomize exec":          {"a plugin that is a program", map[string]string{"app/kustomization.yaml": "generators: [g.yaml]\n", "app/run.sh": "#!/bin/sh\ncat " + token + "\n", "app/g.yaml": "apiVersion: a/v1\nkind: Run\nmetadata: {name: a, annotations: {config.kubernetes.io/function: \"exec: {path: ./run.sh}\"}}\n"}, "", "", false},
	}
}

// dependencies is how a chart says that it depends on the one in a folder.
func dependencies(folder string) string {
	return `[{"name":"neighbour","version":"1.0.0","repository":"file://` + folder + `"}]`
}

// lock is a lock with a chart of elsewhere for one that depends on the chart ../inner,
// with the digest that Helm asks for.
func lock(folder string) string {
	digest := sha256.Sum256([]byte("[" + dependencies("../inner") + "," + dependencies(folder) + "]"))
	return "dependencies: " + dependencies(folder) + "\ndigest: sha256:" + hex.EncodeToString(digest[:]) + "\ngenerated: \"2026-01-01T00:00:00Z\"\n"
}

// Waste is an attack on memory, time or disk. It is refused in a sentence that holds
// Says, and everybody else is answered meanwhile.
type Waste struct {
	Reason      string
	Files       map[string]string
	Kind, Block string
	// Says lists what the refusal may say: one of them.
	Says []string
	// Renders tells that it may also be answered, for less than it asks for.
	Renders bool
	// Endless tells that it takes all the time that it is given.
	Endless bool
}

// Wastes returns the attacks on resources, by name.
func Wastes() map[string]Waste {
	memory, cpu := "--max-render-memory", "--max-render-cpu"
	endless := "{apiVersion: 'v1', kind: 'A', x: std.length([1 for a in std.range(1, 3000) for b in std.range(1, 3000) for c in std.range(1, 3000) if a * b * c < 0])}"
	return map[string]Waste{
		"endless jsonnet":   {"it never ends", map[string]string{"app/a.jsonnet": endless}, "", "", []string{"time ran out", cpu, "DeadlineExceeded"}, false, true},
		"jsonnet memory":    {"a list without end", map[string]string{"app/a.jsonnet": "{apiVersion: 'v1', kind: 'A', x: [std.toString(a) for a in std.range(1, 1000000000)]}"}, "", "", []string{memory}, false, false},
		"jsonnet text":      {"a text that doubles", map[string]string{"app/a.jsonnet": "local f(n) = if n == 0 then 'x' else f(n - 1) + f(n - 1); {apiVersion: 'v1', kind: 'A', x: f(40)}"}, "", "", []string{memory, cpu, "time ran out", "DeadlineExceeded"}, false, true},
		"jsonnet stack":     {"recursion without end", map[string]string{"app/a.jsonnet": "local f(x) = if x > 0 then f(1) tailstrict else 0; f(1)"}, "", "", []string{"broke down", memory, cpu, "time ran out", "DeadlineExceeded", "stack"}, false, false},
		"helm repeat":       {"a chart that repeats a text", map[string]string{"app/Chart.yaml": chart, "app/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: {{ repeat 1500000000 \"x\" }}}\n"}, "", "", []string{memory}, false, false},
		"helm range":        {"a chart that never ends", map[string]string{"app/Chart.yaml": chart, "app/templates/a.yaml": "{{- range $i := until 1000000 }}{{ range $j := until 1000000 }}{{ end }}{{ end }}\n"}, "", "", []string{memory, cpu, "time ran out", "DeadlineExceeded"}, false, true},
		"helm aliases":      {"what it prints expands", map[string]string{"app/Chart.yaml": chart, "app/templates/a.yaml": aliases(1 << 20)}, "", "", []string{memory, "expand", "ARGOCD_GRPC_MAX_SIZE_MB"}, false, false},
		"long list":         {"a CRD with a thousand defaults for an item, and twenty thousand items", map[string]string{"app/crd.yaml": wide(1000), "app/a.yaml": list(20_000)}, "", "", []string{memory, cpu, "time ran out", "DeadlineExceeded"}, true, false},
		"large CRD":         {"a CRD of 3 MB", map[string]string{"app/crd.yaml": wide(60_000), "app/a.yaml": list(1)}, "", "", []string{memory, cpu, "time ran out", "DeadlineExceeded"}, true, false},
		"large manifests":   {"9.9 MB of the YAML that takes most to parse", map[string]string{"app/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nx: [" + strings.Repeat("[],", 3_250_000) + "]\n"}, "", "", []string{memory, cpu, "time ran out", "DeadlineExceeded"}, true, false},
		"long kind":         {"a kind of 9 MB", map[string]string{"app/a.yaml": "apiVersion: v1\nkind: K" + strings.Repeat("k", 9_000_000) + "\nmetadata: {name: a}\n"}, "", "", []string{memory, "kind"}, true, false},
		"disk of kustomize": {"a generator that writes what it reads many times", map[string]string{"app/kustomization.yaml": "configMapGenerator: [" + strings.Repeat("{files: [big]},", 400) + "]\n", "app/big": strings.Repeat("x", 1_000_000)}, "", "", []string{memory, cpu, "time ran out", "DeadlineExceeded", "kustomize"}, true, false},
	}
}

// aliases is a text that repeats one of size bytes 150 times by aliases.
func aliases(size int) string {
	var text strings.Builder
	text.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: &a " + strings.Repeat("x", size) + "\n")
	for i := range 150 {
		fmt.Fprintf(&text, "  b%d: *a\n", i)
	}
	return text.String()
}

// wide is a CRD whose items have so many fields with a default.
func wide(fields int) string {
	var text strings.Builder
	text.WriteString(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: wides.test.moorpin.dev}
spec:
  group: test.moorpin.dev
  scope: Namespaced
  names: {kind: Wide, plural: wides, singular: wide, listKind: WideList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              items:
                type: array
                items:
                  type: object
                  properties:
`)
	for i := range fields {
		fmt.Fprintf(&text, "                    f%d: {type: integer, default: %d}\n", i, i)
	}
	return text.String()
}

// list is an object of that CRD with so many empty items.
func list(items int) string {
	return "apiVersion: test.moorpin.dev/v1\nkind: Wide\nmetadata: {name: a}\nspec: {items: [" + strings.TrimSuffix(strings.Repeat("{},", items), ",") + "]}\n"
}

// Honest is a folder whose render everybody expects to be answered, whatever goes on.
func Honest() map[string]string {
	return map[string]string{"app/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: honest}\ndata: {a: b}\n"}
}
