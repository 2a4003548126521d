package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/pkg/health"
	"github.com/moorpin/moorpin/pkg/manifest"
)

// Names in a folder of a suite, as Argo CD's repository has them.
const (
	ScriptFile = "health.lua"
	TestsFile  = "health_test.yaml"
	inputs     = "testdata"
)

// Limits of a suite that people give.
const (
	maxScript = 1 << 20
	maxInput  = 8 << 20
	maxTests  = 1000
)

// Suite is a check with the cases that people gave for it.
type Suite struct {
	Script string
	Tests  []Test
}

// Test is one case of a suite.
type Test struct {
	// Input is the file that holds the object.
	Input  string
	Object map[string]any
	Want   health.Status
}

// testsFile is the form of health_test.yaml.
type testsFile struct {
	Tests []listedTest `json:"tests"`
}

type listedTest struct {
	InputPath    string        `json:"inputPath"`
	HealthStatus health.Status `json:"healthStatus"`
}

// ReadSuite reads a suite from a folder: health.lua, health_test.yaml and the objects
// that it names. It refuses a suite without cases, a case without a status, and a path
// that leads out of the file system.
func ReadSuite(files fs.FS, folder string) (Suite, error) {
	script, err := readFile(files, path.Join(folder, ScriptFile), maxScript)
	if err != nil {
		return Suite{}, err
	}
	name := path.Join(folder, TestsFile)
	text, err := readFile(files, name, maxInput)
	if err != nil {
		return Suite{}, err
	}
	var listed testsFile
	if err := yaml.UnmarshalStrict(text, &listed); err != nil {
		return Suite{}, fmt.Errorf("%s: %w", name, err)
	}
	if len(listed.Tests) == 0 || len(listed.Tests) > maxTests {
		return Suite{}, fmt.Errorf("%s: it has %d tests; give between 1 and %d", name, len(listed.Tests), maxTests)
	}
	suite := Suite{Script: string(script)}
	for i, test := range listed.Tests {
		if test.HealthStatus.Code == "" {
			return Suite{}, fmt.Errorf("%s: test %d (%s) has no healthStatus.status", name, i+1, test.InputPath)
		}
		object, err := readObject(files, path.Join(folder, test.InputPath))
		if err != nil {
			return Suite{}, fmt.Errorf("%s: test %d: %w", name, i+1, err)
		}
		suite.Tests = append(suite.Tests, Test{Input: test.InputPath, Object: object, Want: test.HealthStatus})
	}
	return suite, nil
}

func readObject(files fs.FS, name string) (map[string]any, error) {
	text, err := readFile(files, name, maxInput)
	if err != nil {
		return nil, err
	}
	objects, err := manifest.Decode(name, text, manifest.Limits{})
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the file and the line
	}
	if len(objects) != 1 {
		return nil, fmt.Errorf("%s: it holds %d objects; give one", name, len(objects))
	}
	return objects[0].Content, nil
}

func readFile(files fs.FS, name string, limit int64) (text []byte, err error) {
	file, err := files.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	text, err = io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("read %s: it is larger than %d KiB", name, limit>>10)
	}
	return text, nil
}

// Run runs all cases of the suite in Argo CD's VM, and then, compiled once, broken
// variants of their objects, for which any valid answer will do. It returns a
// [*DisproofError] for the first that goes wrong; any other error is that ctx has ended.
func (s Suite) Run(ctx context.Context) error {
	return s.RunWith(ctx, false)
}

// RunWith is Run for a script that has Lua's libraries open, or not.
func (s Suite) RunWith(ctx context.Context, openLibs bool) error {
	script := Script{Text: s.Script, OpenLibs: openLibs}
	for _, test := range s.Tests {
		status, err := script.Run(ctx, test.Object)
		if err == nil && status != test.Want {
			err = fmt.Errorf("the script says %s, %s wants %s", say(status), TestsFile, say(test.Want))
		}
		if err != nil {
			return blame(ctx, &DisproofError{Case: test.Input, Object: test.Object, Reason: err})
		}
	}
	program := compile(script)
	most := max(leastVariants, mostVariants/max(1, len(s.Tests)))
	for _, test := range s.Tests {
		for _, variant := range variants(test.Object, most) {
			if _, err := program.run(ctx, variant.object); err != nil {
				return blame(ctx, &DisproofError{Case: test.Input + " " + variant.name, Object: variant.object, Reason: err, Broken: true})
			}
		}
	}
	return nil
}

// blame returns the disproof, or its reason where that is the end of ctx.
func blame(ctx context.Context, found *DisproofError) error {
	if ctx.Err() != nil {
		return found.Reason
	}
	return found
}

// Files are the files of a suite made from a proof, by name inside its folder.
func Files(script string, proof Proof) (map[string][]byte, error) {
	files := map[string][]byte{ScriptFile: []byte(script)}
	var listed testsFile
	for _, example := range proof.Examples {
		name := path.Join(inputs, fileName(example.Name)+".yaml")
		if _, twice := files[name]; twice {
			continue
		}
		text, err := yaml.Marshal(example.Object)
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", name, err)
		}
		files[name] = text
		listed.Tests = append(listed.Tests, listedTest{name, example.Status})
	}
	text, err := yaml.Marshal(listed)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", TestsFile, err)
	}
	files[TestsFile] = text
	return files, nil
}

// fileName keeps letters and digits of a case's name.
func fileName(name string) string {
	var text bytes.Buffer
	for _, letter := range strings.ToLower(name) {
		switch {
		case letter >= 'a' && letter <= 'z', letter >= '0' && letter <= '9':
			text.WriteRune(letter)
		case text.Len() > 0 && !strings.HasSuffix(text.String(), "-"):
			text.WriteByte('-')
		}
	}
	return strings.Trim(text.String(), "-")
}
