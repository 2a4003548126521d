package docscheck

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// metric is the name of one of Moorpin's metrics; one that ends with _ stands for all
// that begin so.
var metric = regexp.MustCompile(`\bmoorpin_[a-z0-9_]*`)

// suffixes are what Prometheus adds to the name of a histogram.
var suffixes = []string{"_bucket", "_sum", "_count"}

// makers are functions of ours that make a metric of their first argument, and what they
// put before it.
var makers = map[string]string{"counters": "moorpin_cmp_", "Gauge": "moorpin_"}

// metricNames refuses metrics that no registry has.
func (p *Project) metricNames(text string, says sayer) {
	for _, name := range metric.FindAllString(text, -1) {
		if !p.isMetric(name) {
			says("there is no metric %s", name)
		}
	}
}

func (p *Project) isMetric(name string) bool {
	if p.metrics[name] {
		return true
	}
	for _, suffix := range suffixes {
		if short, is := strings.CutSuffix(name, suffix); is && p.metrics[short] {
			return true
		}
	}
	if !strings.HasSuffix(name, "_") {
		return false
	}
	for known := range p.metrics {
		if strings.HasPrefix(known, name) {
			return true
		}
	}
	return false
}

// Metrics are the names of the metrics that the sources of a project make.
func Metrics(root string) (map[string]bool, error) {
	names := map[string]bool{}
	for _, folder := range []string{"cmp", "extension"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() && entry.Name() == "node_modules" {
				return filepath.SkipDir
			}
			if entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			return metricsOf(path, names)
		})
		if err != nil {
			return nil, fmt.Errorf("find metrics: %w", err)
		}
	}
	return names, nil
}

func metricsOf(path string, names map[string]bool) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	constants := constantsOf(file)
	ast.Inspect(file, func(node ast.Node) bool {
		switch found := node.(type) {
		case *ast.CompositeLit:
			if name, is := ofOptions(found, constants); is {
				names[name] = true
			}
		case *ast.CallExpr:
			if name, is := ofCall(found, constants); is {
				names[name] = true
			}
		}
		return true
	})
	return nil
}

// constantsOf are the string constants of a file.
func constantsOf(file *ast.File) map[string]string {
	found := map[string]string{}
	ast.Inspect(file, func(node ast.Node) bool {
		spec, is := node.(*ast.ValueSpec)
		if !is || len(spec.Names) != len(spec.Values) {
			return true
		}
		for i, name := range spec.Names {
			if value, is := text(spec.Values[i], nil); is {
				found[name.Name] = value
			}
		}
		return true
	})
	return found
}

// ofOptions is the name in Prometheus' options, such as prometheus.GaugeOpts{...}.
func ofOptions(literal *ast.CompositeLit, constants map[string]string) (string, bool) {
	kind, is := literal.Type.(*ast.SelectorExpr)
	if !is || !strings.HasSuffix(kind.Sel.Name, "Opts") {
		return "", false
	}
	var parts [3]string
	for _, element := range literal.Elts {
		pair, is := element.(*ast.KeyValueExpr)
		if !is {
			continue
		}
		key, _ := pair.Key.(*ast.Ident)
		for i, wanted := range []string{"Namespace", "Subsystem", "Name"} {
			if key != nil && key.Name == wanted {
				parts[i], _ = text(pair.Value, constants)
			}
		}
	}
	if parts[2] == "" {
		return "", false // a parameter of one of the makers
	}
	name := parts[2]
	for i := 1; i >= 0; i-- {
		if parts[i] != "" {
			name = parts[i] + "_" + name
		}
	}
	return name, true
}

// ofCall is the name that a call of NewDesc or of one of the makers makes.
func ofCall(call *ast.CallExpr, constants map[string]string) (string, bool) {
	name := ""
	switch function := call.Fun.(type) {
	case *ast.Ident:
		name = function.Name
	case *ast.SelectorExpr:
		name = function.Sel.Name
	}
	prefix, ours := makers[name]
	if len(call.Args) == 0 || !ours && name != "NewDesc" {
		return "", false
	}
	value, is := text(call.Args[0], constants)
	return prefix + value, is
}

// text is the value of a string literal or constant.
func text(expression ast.Expr, constants map[string]string) (string, bool) {
	switch found := expression.(type) {
	case *ast.BasicLit:
		if found.Kind != token.STRING {
			return "", false
		}
		value, err := strconv.Unquote(found.Value)
		return value, err == nil
	case *ast.Ident:
		value, is := constants[found.Name]
		return value, is
	}
	return "", false
}
