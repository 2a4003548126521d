package docscheck

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// foreignFlags are flags of other programs that documents name by themselves.
var foreignFlags = map[string]string{
	"--build-arg":              "docker build",
	"--force":                  "argocd app sync",
	"--cascade":                "kubectl delete",
	"--hard-refresh":           "argocd app get",
	"--replace":                "argocd app sync",
	"--enable-proxy-extension": "argocd-server",
}

var (
	flagName    = regexp.MustCompile(`(?:^|[\s(])(--[a-z][a-z0-9-]+)`)
	assignment  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	target      = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	projectPath = regexp.MustCompile(`^\.?/?((?:pkg|cmp|extension|lua|e2e|docs|manifests|\.ci)/[A-Za-z0-9_./-]*)$`)
	testName    = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)\w+)`)
)

// prose finds flags that no command has.
func (p *Project) prose(text string, says sayer) {
	for _, match := range flagName.FindAllStringSubmatch(text, -1) {
		p.anyFlag(match[1], says)
	}
}

// anyFlag refuses a flag that no command has.
func (p *Project) anyFlag(name string, says sayer) {
	if _, foreign := foreignFlags[name]; !foreign && !p.flags[strings.TrimPrefix(name, "--")] {
		says("no command has the flag %s", name)
	}
}

// collectFlags gathers the flags of a command and all below it.
func (p *Project) collectFlags(command *cobra.Command) {
	command.InitDefaultHelpFlag()
	command.Flags().VisitAll(func(flag *pflag.Flag) { p.flags[flag.Name] = true })
	for _, below := range command.Commands() {
		p.collectFlags(below)
	}
}

// inline holds code in a line against the project: a flag, a command, or a path.
func (p *Project) inline(text string, says sayer) {
	if strings.HasPrefix(text, "--") {
		name, _, _ := strings.Cut(strings.Fields(text)[0], "=")
		p.anyFlag(name, says)
		return
	}
	p.script(text, says)
}

// script holds every command of a text against the project.
func (p *Project) script(text string, says sayer) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, " #")
		for _, words := range commands(line) {
			p.words(words, says)
		}
	}
}

var separators = []string{"&&", "||", "|", ";", "--", "&"}

// commands splits a line into commands, each into words. What follows a lone -- is a
// command of its own, as in kubectl exec.
func commands(line string) [][]string {
	var found [][]string
	var words []string
	add := func() {
		for len(words) > 0 && (assignment.MatchString(words[0]) || words[0] == "$" || words[0] == "sudo") {
			words = words[1:]
		}
		if len(words) > 0 {
			found = append(found, words)
		}
		words = nil
	}
	for word := range strings.FieldsSeq(line) {
		ends := strings.HasSuffix(word, ";")
		word = strings.Trim(strings.TrimSuffix(word, ";"), "\"'`(),[]")
		if slices.Contains(separators, word) {
			add()
			continue
		}
		if word != "" {
			words = append(words, word)
		}
		if ends {
			add()
		}
	}
	add()
	return found
}

// words holds one command against the project.
func (p *Project) words(words []string, says sayer) {
	for _, word := range words {
		p.path(word, says)
	}
	switch {
	case filepath.Base(words[0]) == "moorpin" && (len(words) > 1 || words[0] != "moorpin") && !strings.HasSuffix(words[0], "//moorpin"):
		p.moorpin(words[1:], says)
	case words[0] == "make":
		for _, word := range words[1:] {
			if target.MatchString(word) && !p.targets[word] {
				says("the Makefile has no target %s", word)
			}
		}
	case words[0] == "go" && len(words) > 1 && words[1] == "test":
		p.goTest(words[2:], says)
	}
}

// path refuses a path of the project that does not exist. A pattern or a placeholder is
// none.
func (p *Project) path(word string, says sayer) {
	word, _, _ = strings.Cut(word, "=")
	match := projectPath.FindStringSubmatch(strings.TrimRight(word, ".:,"))
	if match == nil || strings.Contains(word, "...") {
		return
	}
	if _, err := os.Stat(filepath.Join(p.root, filepath.FromSlash(match[1]))); err != nil {
		says("there is no %s", match[1])
	}
}

// moorpin walks the words of a command line down the tree of commands.
func (p *Project) moorpin(words []string, says sayer) {
	command := p.command
	for i := 0; i < len(words); i++ {
		word := words[i]
		if strings.HasPrefix(word, "-") && word != "-" {
			takes, known := flagOf(command, word)
			if !known {
				says("`%s` has no flag %s", command.CommandPath(), word)
				continue
			}
			if takes {
				i++
			}
			continue
		}
		if !command.HasSubCommands() {
			continue // an argument
		}
		below := child(command, word)
		if below == nil {
			if !placeholder(word) {
				says("`%s` has no command %s", command.CommandPath(), word)
			}
			return
		}
		command = below
	}
}

// placeholder tells a word such as COMMAND or ... from a name.
func placeholder(word string) bool {
	return strings.ToUpper(word) == word
}

func child(command *cobra.Command, name string) *cobra.Command {
	for _, below := range command.Commands() {
		if below.Name() == name {
			return below
		}
	}
	return nil
}

// flagOf reports whether a flag takes the next word, and whether the command has it.
func flagOf(command *cobra.Command, word string) (takes, known bool) {
	name, _, valued := strings.Cut(strings.TrimLeft(word, "-"), "=")
	command.InitDefaultHelpFlag()
	flag := command.Flags().Lookup(name)
	if flag == nil {
		flag = command.InheritedFlags().Lookup(name)
	}
	if !strings.HasPrefix(word, "--") {
		flag = command.Flags().ShorthandLookup(name[:1])
		valued = valued || len(name) > 1
	}
	if flag == nil {
		return false, false
	}
	return !valued && flag.NoOptDefVal == "", true
}

// goTest refuses a test that no file of the package has.
func (p *Project) goTest(words []string, says sayer) {
	packages, patterns := []string{}, []string{}
	for i, word := range words {
		switch {
		case strings.HasPrefix(word, "./"):
			packages = append(packages, word)
		case (word == "-run" || word == "-bench" || word == "-fuzz") && i+1 < len(words):
			patterns = append(patterns, words[i+1])
		}
	}
	for _, pattern := range patterns {
		wanted, err := regexp.Compile(pattern)
		if err != nil || pattern == "^$" || pattern == "." {
			continue
		}
		for _, name := range packages {
			if !strings.HasSuffix(name, "...") && !p.hasTest(name, wanted) {
				says("%s has no test that matches %s", name, pattern)
			}
		}
	}
}

func (p *Project) hasTest(folder string, wanted *regexp.Regexp) bool {
	files, err := filepath.Glob(filepath.Join(p.root, filepath.FromSlash(folder), "*_test.go"))
	if err != nil {
		return false
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		for _, match := range testName.FindAllStringSubmatch(string(text), -1) {
			if wanted.MatchString(match[1]) {
				return true
			}
		}
	}
	return false
}
