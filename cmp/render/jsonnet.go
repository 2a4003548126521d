package render

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	pathutil "github.com/argoproj/argo-cd/v2/util/io/path"
	"github.com/google/go-jsonnet"
	"github.com/google/go-jsonnet/ast"
	"github.com/google/go-jsonnet/toolutils"
)

// guardJsonnet refuses programs that import from outside the repository, where the
// files and tokens of this process are (GHSA-m3vr-7329-44ww). The path of an import
// is a literal, so that reading the programs shows all of them.
func (j *job) guardJsonnet(programs []string, options v1alpha1.ApplicationSourceJsonnet) error {
	importer := &importer{job: j, seen: map[string]bool{}}
	for _, library := range options.Libs {
		// Where a library is a link, imports count from where it leads.
		found, err := pathutil.ResolveFileOrDirectoryPath(j.root, j.root, library)
		if err != nil {
			return refuse("directory.jsonnet.libs", "%q is no folder of this repository", library)
		}
		importer.libraries = append(importer.libraries, string(found))
	}
	err := j.guardVariables(importer, options, len(programs))
	if err != nil {
		return err
	}
	for _, program := range programs {
		err := importer.checkFile(program)
		if err != nil {
			return err
		}
	}
	return nil
}

// guardVariables looks at the variables that are code. Argo CD substitutes the build
// environment in them once for each program, each time in what the last time left, so
// that "$$$${x}" is something else for each of the first three programs.
func (j *job) guardVariables(importer *importer, options v1alpha1.ApplicationSourceJsonnet, programs int) error {
	env := j.env()
	for _, variables := range [][]v1alpha1.JsonnetVar{options.TLAs, options.ExtVars} {
		for _, variable := range variables {
			if !variable.Code {
				continue
			}
			text := variable.Value
			for range programs {
				before := text
				text = env.Envsubst(before)
				err := importer.checkProgram("directory.jsonnet: "+variable.Name, "", text)
				if err != nil {
					return err
				}
				if text == before {
					break
				}
			}
		}
	}
	return nil
}

// importer finds imports where Argo CD's finds them.
type importer struct {
	job       *job
	libraries []string
	seen      map[string]bool
}

func (i *importer) checkFile(file string) error {
	if i.seen[file] {
		return nil
	}
	i.seen[file] = true
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read a Jsonnet file of the app: %w", err)
	}
	return i.checkProgram(i.job.relative(file), filepath.Dir(file), string(text))
}

// checkProgram follows the imports of a program that lies in folder. A program that
// does not parse imports nothing; Argo CD reports it.
func (i *importer) checkProgram(where, folder, text string) error {
	node, err := jsonnet.SnippetToAST(where, text)
	if err != nil {
		return nil //nolint:nilerr // see above.
	}
	return i.checkNode(where, folder, node)
}

func (i *importer) checkNode(where, folder string, node ast.Node) error {
	switch node := node.(type) {
	case *ast.Import:
		file, found, err := i.find(where, folder, node.File.Value)
		if err != nil || !found {
			return err
		}
		return i.checkFile(file)
	case *ast.ImportStr:
		_, _, err := i.find(where, folder, node.File.Value)
		return err
	case *ast.ImportBin:
		_, _, err := i.find(where, folder, node.File.Value)
		return err
	}
	children := toolutils.Children(node)
	if object, ok := node.(*ast.DesugaredObject); ok {
		children = append(children, object.Asserts...) // which Children leaves out
	}
	for _, child := range children {
		err := i.checkNode(where, folder, child)
		if err != nil {
			return err
		}
	}
	return nil
}

// find returns the file that an import leads to: the first that exists beside the
// program, in the libraries from the last to the first, and in the app's folder. What
// leaves the repository by its name is not looked up: the answer would tell what exists,
// and links of /proc lead elsewhere than they say.
func (i *importer) find(where, folder, path string) (file string, found bool, err error) {
	refused := refuse(where, "imports %q, which is no file of this repository", path)
	folders := []string{folder}
	for _, library := range slices.Backward(i.libraries) {
		folders = append(folders, library)
	}
	for _, folder := range append(folders, i.job.app) {
		file := filepath.Join(folder, path)
		// The code of a variable lies in no folder: there it counts from where this process is.
		here := folder == "" && filepath.IsLocal(path)
		if filepath.IsAbs(path) || !here && !i.job.below(file) {
			return "", false, refused
		}
		resolved, err := filepath.EvalSymlinks(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		inside := err == nil && strings.HasPrefix(resolved, i.job.root+"/")
		info, err := os.Stat(resolved)
		if !inside || err != nil || !info.Mode().IsRegular() {
			return "", false, refused
		}
		return file, true, nil
	}
	return "", false, nil
}
