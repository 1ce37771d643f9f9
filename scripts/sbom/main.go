// Command sbom writes the software bill of materials of a Go program in CycloneDX's JSON: the modules that are linked in it, as
// the Go tool recorded them, with their hashes of go.sum. The bill of the same program has the same bytes.
//
//	sbom PROGRAM FILE
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("give the program and the file to write")
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return fmt.Errorf("read what is linked in %s: %w", args[0], err)
	}
	text, err := json.MarshalIndent(billOf(info), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(args[1], append(text, '\n'), 0o644) //nolint:gosec // a bill of materials is published
}

// bill is a document of CycloneDX 1.6, as far as it is used.
type bill struct {
	Schema       string       `json:"$schema"`
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	PURL       string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// billOf returns the bill of a program: the program, Go's standard library, and each module that is linked.
func billOf(info *buildinfo.BuildInfo) bill {
	program := componentOf("application", info.Main.Path, info.Main.Version, "")
	for _, s := range info.Settings {
		if slices.Contains([]string{"GOOS", "GOARCH", "CGO_ENABLED", "vcs.revision", "vcs.time"}, s.Key) {
			program.Properties = append(program.Properties, property{"golang:" + s.Key, s.Value})
		}
	}
	components := []component{componentOf("library", "std", info.GoVersion, "")}
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = &debug.Module{Path: d.Replace.Path, Version: d.Replace.Version, Sum: d.Replace.Sum}
		}
		components = append(components, componentOf("library", d.Path, d.Version, d.Sum))
	}
	uses := dependency{Ref: program.Ref}
	all := []dependency{}
	for _, c := range components {
		uses.DependsOn = append(uses.DependsOn, c.Ref)
		all = append(all, dependency{Ref: c.Ref})
	}
	return bill{"http://cyclonedx.org/schema/bom-1.6.schema.json", "CycloneDX", "1.6", 1,
		metadata{program}, components, append([]dependency{uses}, all...)}
}

// componentOf returns a module. sum is its hash in go.sum, of its files and not of an archive, so it is a property.
func componentOf(kind, path, version, sum string) component {
	purl := "pkg:golang/" + path
	if version != "" {
		purl += "@" + version
	}
	c := component{Type: kind, Ref: purl, Name: path, Version: version, PURL: purl}
	if sum != "" {
		c.Properties = []property{{"golang:h1", sum}}
	}
	return c
}
