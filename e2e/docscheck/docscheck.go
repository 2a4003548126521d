// Package docscheck holds the documents against the project: every command with its
// flags, path, link, make target, test, metric and alert that they name exists.
//
// It reads Markdown as far as that takes: links, code in the line, and blocks of code,
// indented or fenced. A name in plain prose is not recognised, flags and metrics apart,
// and a command that is recognised is not run.
package docscheck

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Problem is something that a document names and that is not there.
type Problem struct {
	File string // relative to the project's root
	Line int
	Says string
}

// String is the problem as compilers print it.
func (p Problem) String() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Says) }

// Project is what documents are held against.
type Project struct {
	root    string
	command *cobra.Command
	targets map[string]bool
	metrics map[string]bool
	flags   map[string]bool
}

// Open reads what the project at a root has; the command is its command line.
func Open(root string, command *cobra.Command) (*Project, error) {
	targets, err := makeTargets(filepath.Join(root, "Makefile"))
	if err != nil {
		return nil, err
	}
	metrics, err := Metrics(root)
	if err != nil {
		return nil, err
	}
	p := &Project{root: root, command: command, targets: targets, metrics: metrics, flags: map[string]bool{}}
	p.collectFlags(command)
	return p, nil
}

// Check holds the README, all documents below docs, the help of the commands and the
// alerts against the project.
func (p *Project) Check() ([]Problem, error) {
	files := []string{"README.md"}
	if _, err := os.Stat(filepath.Join(p.root, "CHANGELOG.md")); err == nil {
		files = append(files, "CHANGELOG.md")
	}
	for _, folder := range []string{"docs", "manifests"} {
		err := filepath.WalkDir(filepath.Join(p.root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".md" {
				return err
			}
			name, err := filepath.Rel(p.root, path)
			files = append(files, filepath.ToSlash(name))
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("find documents: %w", err)
		}
	}
	var problems []Problem
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(file)))
		if err != nil {
			return nil, fmt.Errorf("read document: %w", err)
		}
		problems = append(problems, p.Document(file, string(text))...)
	}
	problems = append(problems, p.help(p.command)...)
	alerts, err := p.alerts()
	problems = append(problems, alerts...)
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return problems, err
}

// Document holds one document against the project; the file says where it is.
func (p *Project) Document(file, text string) []Problem {
	var problems []Problem
	complain := func(line int, format string, args ...any) {
		problems = append(problems, Problem{file, line, fmt.Sprintf(format, args...)})
	}
	for _, piece := range pieces(text) {
		says := func(format string, args ...any) { complain(piece.line, format, args...) }
		switch piece.kind {
		case prose:
			p.prose(piece.text, says)
			p.links(file, piece.text, says)
		case inline:
			p.inline(piece.text, says)
		case block:
			p.script(piece.text, says)
		}
		p.metricNames(piece.text, says)
	}
	return problems
}

// help holds the help of a command, and of all below it, against the project.
func (p *Project) help(command *cobra.Command) []Problem {
	var problems []Problem
	says := func(format string, args ...any) {
		problems = append(problems, Problem{"help of " + command.CommandPath(), 0, fmt.Sprintf(format, args...)})
	}
	p.script(command.Example, says)
	p.prose(command.Long, says)
	p.metricNames(command.Long, says)
	for _, below := range command.Commands() {
		problems = append(problems, p.help(below)...)
	}
	return problems
}

// sayer takes a complaint.
type sayer func(format string, args ...any)

// makeTargets are the targets of a Makefile.
func makeTargets(path string) (map[string]bool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read Makefile: %w", err)
	}
	targets := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		name, _, found := strings.Cut(line, ":")
		if found && name != "" && !strings.ContainsAny(name, " \t=.$#") {
			targets[name] = true
		}
	}
	return targets, nil
}
