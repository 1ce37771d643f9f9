// Command dashboard bundles the web dashboard: dashboard/src and Preact become dashboard/dist.
// The result depends on the sources only, so it can be committed and compared.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	log.SetFlags(0)
	from := flag.String("from", "dashboard/src", "folder of the sources")
	modules := flag.String("modules", ".cache/dashboard/node_modules", "folder of the npm packages")
	to := flag.String("to", "dashboard/dist", "folder to write, emptied first, except for reference.json")
	flag.Parse()
	files, err := bundle(*from, *modules)
	if err != nil {
		log.Fatal(err)
	}
	if err := write(*to, files); err != nil {
		log.Fatal(err)
	}
}

// start is the first file that a browser loads after the page.
const start = "main"

// bundle returns the files of the dashboard by name.
func bundle(from, modules string) (map[string][]byte, error) {
	from, err := filepath.Abs(from)
	if err != nil {
		return nil, err
	}
	modules, err = filepath.Abs(modules)
	if err != nil {
		return nil, err
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: from, EntryPoints: []string{"main.tsx", "style.css"}, Outdir: "/dist", NodePaths: []string{modules},
		EntryNames: "[name]-[hash]", ChunkNames: "part-[hash]",
		Bundle: true, Splitting: true, Format: api.FormatESModule, Platform: api.PlatformBrowser, Charset: api.CharsetUTF8,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, LegalComments: api.LegalCommentsNone,
		// light-dark() and oklch() are used as they are.
		Engines: []api.Engine{{Name: api.EngineChrome, Version: "123"}, {Name: api.EngineFirefox, Version: "120"}, {Name: api.EngineSafari, Version: "17.5"}},
		Loader:  map[string]api.Loader{".md": api.LoaderText},
		JSX:     api.JSXAutomatic, JSXImportSource: "preact",
		TsconfigRaw: `{"compilerOptions":{"jsx":"react-jsx","jsxImportSource":"preact"}}`,
	})
	if len(result.Errors) > 0 {
		return nil, errors.New(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{Kind: api.ErrorMessage}), ""))
	}
	files := map[string][]byte{}
	names := map[string]string{}
	for _, f := range result.OutputFiles {
		name := filepath.Base(f.Path)
		files[name] = f.Contents
		if stem, _, found := strings.Cut(name, "-"); found {
			names[stem+filepath.Ext(name)] = name
		}
	}
	icon, err := os.ReadFile(filepath.Join(from, "icon.svg"))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(icon)
	names["icon.svg"] = "icon-" + hex.EncodeToString(sum[:4]) + ".svg"
	files[names["icon.svg"]] = icon
	page, err := os.ReadFile(filepath.Join(from, "index.html"))
	if err != nil {
		return nil, err
	}
	files["index.html"] = []byte(strings.NewReplacer("{{icon}}", names["icon.svg"], "{{style}}", names["style.css"],
		"{{script}}", names[start+".js"]).Replace(string(page)))
	return files, nil
}

// write replaces the files in the folder to, and leaves reference.json, which make openapi
// writes.
func write(to string, files map[string][]byte) error {
	if err := os.MkdirAll(to, 0o755); err != nil { //nolint:gosec // sources are for everyone to read
		return err
	}
	old, err := os.ReadDir(to)
	if err != nil {
		return err
	}
	for _, e := range old {
		if _, kept := files[e.Name()]; kept || e.Name() == "reference.json" {
			continue
		}
		if err := os.Remove(filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(to, name), text, 0o644); err != nil { //nolint:gosec // as above
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}
