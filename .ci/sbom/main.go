// Command sbom writes the bill of materials of a Go binary, as CycloneDX JSON: every module
// that is linked in, with its version and checksum, as the binary itself records them.
//
//	go run . BINARY > BINARY.sbom.json
//
// The same binary gives the same bytes: there is no time and no serial number in it. It
// refuses a binary without build information.
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: sbom BINARY")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(path string, out io.Writer) error {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read what %s was built from: %w", path, err)
	}
	bom := cyclonedx.NewBOM()
	bom.SerialNumber = ""
	self, err := component(cyclonedx.ComponentTypeApplication, &info.Main)
	if err != nil {
		return err
	}
	var settings []cyclonedx.Property
	for _, setting := range info.Settings {
		settings = append(settings, cyclonedx.Property{Name: "go:" + setting.Key, Value: setting.Value})
	}
	self.Properties = &settings
	bom.Metadata = &cyclonedx.Metadata{Component: &self}
	components := []cyclonedx.Component{{
		Type: cyclonedx.ComponentTypeLibrary, BOMRef: "pkg:golang/std@" + info.GoVersion, Name: "std",
		Version: info.GoVersion, PackageURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"),
	}}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		found, err := component(cyclonedx.ComponentTypeLibrary, module)
		if err != nil {
			return err
		}
		components = append(components, found)
	}
	bom.Components = &components
	if err := cyclonedx.NewBOMEncoder(out, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return fmt.Errorf("write the bill of materials: %w", err)
	}
	return nil
}

// component describes a module. Go's checksum h1 is a SHA-256 in base64.
func component(kind cyclonedx.ComponentType, module *debug.Module) (cyclonedx.Component, error) {
	url := "pkg:golang/" + module.Path + "@" + module.Version
	found := cyclonedx.Component{Type: kind, BOMRef: url, Name: module.Path, Version: module.Version, PackageURL: url}
	if sum, is := strings.CutPrefix(module.Sum, "h1:"); is {
		raw, err := base64.StdEncoding.DecodeString(sum)
		if err != nil {
			return found, fmt.Errorf("checksum of %s: %w", module.Path, err)
		}
		found.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(raw)}}
	}
	return found, nil
}
