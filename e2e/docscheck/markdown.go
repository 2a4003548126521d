package docscheck

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

// kind is what a piece of a document is.
type kind int

const (
	prose kind = iota
	inline
	block
)

// piece is a part of a document with the line that it begins in. In a piece of prose,
// code is left out.
type piece struct {
	kind kind
	line int
	text string
}

var (
	fence    = regexp.MustCompile("^\\s*(```|~~~)")
	listItem = regexp.MustCompile(`^\s*([-*+]|\d+\.)\s`)
	code     = regexp.MustCompile("``([^`]+)``|`([^`]+)`")
)

// pieces takes a document apart. A block is as long as it is; prose goes by lines, with
// code that a line break splits put together again.
func pieces(text string) []piece {
	var found []piece
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		start := i
		switch {
		case fence.MatchString(lines[i]):
			mark := fence.FindStringSubmatch(lines[i])[1]
			for i++; i < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[i]), mark); i++ {
			}
			found = append(found, piece{block, start + 2, strings.Join(lines[start+1:min(i, len(lines))], "\n")})
		case indented(lines, i):
			for i+1 < len(lines) && (strings.TrimSpace(lines[i+1]) == "" || strings.HasPrefix(lines[i+1], "    ")) {
				i++
			}
			found = append(found, piece{block, start + 1, strings.Join(lines[start:i+1], "\n")})
		default:
			for i+1 < len(lines) && strings.Count(strings.Join(lines[start:i+1], "\n"), "`")%2 == 1 && strings.TrimSpace(lines[i+1]) != "" {
				i++
			}
			found = append(found, proseAndCode(start+1, strings.Join(lines[start:i+1], " "))...)
		}
	}
	return found
}

// indented tells that a block of code begins: four spaces behind an empty line. The
// continuation of a list item looks the same with two or three.
func indented(lines []string, i int) bool {
	return strings.HasPrefix(lines[i], "    ") && strings.TrimSpace(lines[i]) != "" && (i == 0 || strings.TrimSpace(lines[i-1]) == "") && !listItem.MatchString(lines[i])
}

func proseAndCode(line int, text string) []piece {
	found := []piece{{prose, line, code.ReplaceAllString(text, "CODE")}}
	for _, match := range code.FindAllStringSubmatch(text, -1) {
		found = append(found, piece{inline, line, strings.TrimSpace(match[1] + match[2])})
	}
	return found
}

var (
	link   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	source = regexp.MustCompile(`\b(?:src|srcset|href)="([^"]+)"`)
)

// links holds relative links against files and headings.
func (p *Project) links(file, text string, says sayer) {
	for _, pattern := range []*regexp.Regexp{link, source} {
		for _, match := range pattern.FindAllStringSubmatch(text, -1) {
			p.link(file, match[1], says)
		}
	}
}

func (p *Project) link(file, target string, says sayer) {
	const home = "https://github.com/moorpin/moorpin/blob/main/"
	own, is := strings.CutPrefix(target, home)
	if !is && (strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:")) {
		return
	}
	path, anchor, _ := strings.Cut(target, "#")
	at := filepath.Join(p.root, filepath.FromSlash(file))
	switch {
	case is:
		path, _, _ = strings.Cut(own, "#")
		at = filepath.Join(p.root, filepath.FromSlash(path))
	case path != "":
		at = filepath.Join(filepath.Dir(at), filepath.FromSlash(path))
	}
	text, err := os.ReadFile(at)
	if err != nil {
		if folder, statErr := os.Stat(at); statErr != nil || !folder.IsDir() {
			says("the link to %s leads nowhere", target)
		}
		return
	}
	if anchor != "" && !headings(string(text))[anchor] {
		says("%s has no heading #%s", target, anchor)
	}
}

// headings are the anchors that GitHub makes of a document's headings.
func headings(text string) map[string]bool {
	found := map[string]bool{}
	for line := range strings.SplitSeq(text, "\n") {
		title := strings.TrimLeft(line, "#")
		if title == line || !strings.HasPrefix(title, " ") {
			continue
		}
		found[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(title))] = true
	}
	return found
}
