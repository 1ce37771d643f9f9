// Package walk finds the files that docent put sends, gives each its URI, and reports whether the file of a URI is
// gone.
package walk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"docent/cmd/docent/internal/page"
)

// maxURI is the maximum number of code points of a document's URI.
const maxURI = 2048

// File is one file to send.
type File struct {
	Path string // as the user may find it
	URI  string
}

// Failure is a path that cannot be used, and the reason.
type Failure struct {
	Path string
	Err  error
}

// Tree is the result of Find.
type Tree struct {
	Files    []File         // in order of the paths, then by name; no URI twice
	Skipped  int            // files of other kinds, and links that lead nowhere
	Types    map[string]int // how many of them, by the extension in small letters, which may be empty
	Failures []Failure
	roots    []root
}

// root is one of the given paths.
type root struct {
	shown string // as given
	abs   string
	real  string // without symbolic links
	base  string // what the URIs below it start with; empty for a single file
	files int
}

// Find walks paths. Below a folder it skips hidden files and folders and node_modules. It follows symbolic links
// after everything else and takes no file or folder twice, so loops end and each file is sent once. A path that
// does not exist is an error.
//
// A file's URI is baseURI followed by its path relative to the given folder, or by its name if the file itself was
// given. Without a baseURI it is the file URI (RFC 8089) of its absolute path.
func Find(ctx context.Context, paths []string, baseURI string) (Tree, error) {
	if baseURI != "" {
		var err error
		if baseURI, err = checkBase(baseURI); err != nil {
			return Tree{}, err
		}
	}
	f := finder{ctx: ctx, base: baseURI, seen: map[string]bool{}, uris: map[string]string{}}
	for _, p := range paths {
		if err := f.root(p); err != nil {
			return Tree{}, err
		}
	}
	for len(f.links) > 0 {
		next := f.links[0]
		f.links = f.links[1:]
		f.follow(next)
	}
	return f.tree, ctx.Err()
}

// place is a file or folder below a root: rel is slash-separated, real has no links.
type place struct {
	root int
	rel  string
	real string
}

type finder struct {
	ctx   context.Context
	base  string
	seen  map[string]bool   // real paths of files and folders
	uris  map[string]string // URI to path
	links []place           // real is the link's own path
	tree  Tree
}

func (f *finder) root(path string) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("find %s: %w", path, err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return fmt.Errorf("find %s: %w", path, reason(err))
	}
	info, err := os.Stat(real)
	if err != nil {
		return fmt.Errorf("find %s: %w", path, reason(err))
	}
	r := root{shown: path, abs: abs, real: real}
	if info.IsDir() {
		r.base = f.base
		if r.base == "" {
			r.base = strings.TrimSuffix(fileURI(abs), "/") + "/"
		}
	}
	f.tree.roots = append(f.tree.roots, r)
	at := place{root: len(f.tree.roots) - 1, real: real}
	switch {
	case info.IsDir():
		f.folder(at)
	case page.Known(path) && !info.Mode().IsRegular():
		f.fail(path, errors.New("it is not an ordinary file"))
	case !page.Known(path):
		f.fail(path, errors.New("it is not a "+page.Kinds+" file"))
	default:
		f.file(at)
	}
	return nil
}

func (f *finder) folder(at place) {
	if f.seen[at.real] || f.ctx.Err() != nil {
		return
	}
	f.seen[at.real] = true
	entries, err := os.ReadDir(at.real)
	if err != nil {
		f.fail(f.shown(at), reason(err))
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || name == "node_modules" {
			continue
		}
		child := place{root: at.root, rel: join(at.rel, name), real: filepath.Join(at.real, name)}
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			f.links = append(f.links, child)
		case e.IsDir():
			f.folder(child)
		case e.Type().IsRegular() && page.Known(name):
			f.file(child)
		default:
			f.skip(name)
		}
	}
}

func (f *finder) skip(name string) {
	if f.tree.Types == nil {
		f.tree.Types = map[string]int{}
	}
	f.tree.Skipped++
	f.tree.Types[strings.ToLower(filepath.Ext(name))]++
}

// follow walks the target of a symbolic link. It ignores broken links and links to the link itself or to a folder
// that contains the walk.
func (f *finder) follow(link place) {
	real, err := filepath.EvalSymlinks(link.real)
	if err != nil {
		f.skip(link.rel)
		return
	}
	info, err := os.Stat(real)
	if err != nil {
		f.skip(link.rel)
		return
	}
	at := place{root: link.root, rel: link.rel, real: real}
	switch {
	case info.IsDir():
		if below, err := filepath.Rel(real, f.tree.roots[link.root].real); err == nil && filepath.IsLocal(below) {
			return
		}
		f.folder(at)
	case info.Mode().IsRegular() && page.Known(link.rel):
		f.file(at)
	default:
		f.skip(link.rel)
	}
}

func (f *finder) file(at place) {
	if f.seen[at.real] {
		return
	}
	f.seen[at.real] = true
	r := &f.tree.roots[at.root]
	r.files++
	path := f.shown(at)
	uri := fileURI(filepath.Join(r.abs, filepath.FromSlash(at.rel)))
	if f.base != "" {
		rel := at.rel
		if rel == "" {
			rel = filepath.Base(r.abs)
		}
		uri = f.base + escape(rel)
	}
	if n := utf8.RuneCountInString(uri); n > maxURI {
		f.fail(path, fmt.Errorf("its URI has %d characters, over the limit of %d", n, maxURI))
		return
	}
	if other, taken := f.uris[uri]; taken {
		f.fail(path, fmt.Errorf("its URI is already that of %s", other))
		return
	}
	f.uris[uri] = path
	f.tree.Files = append(f.tree.Files, File{Path: path, URI: uri})
}

func (f *finder) shown(at place) string {
	return filepath.Join(f.tree.roots[at.root].shown, filepath.FromSlash(at.rel))
}

func (f *finder) fail(path string, err error) {
	f.tree.Failures = append(f.tree.Failures, Failure{Path: path, Err: err})
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// reason returns the cause of a path error without the path, which is printed anyway.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
