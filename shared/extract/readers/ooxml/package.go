// Package ooxml reads the container of Office files: a ZIP archive of XML parts that point to each other. It counts
// what it expands while it expands it, so that a small file cannot become a large one.
package ooxml

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"docent/shared/extract"
)

const (
	maxParts      = 20_000
	maxDirectory  = 8 << 20 // bytes of the list of parts; it is held in memory while it is read
	maxRatio      = 400     // expanded bytes for each byte in the file, of a part over ratioFrom
	ratioFrom     = 16 << 20
	maxEqualSigns = 200_000 // without a tag between them; the attributes of a tag, which has one for each, are in memory before they are counted
)

// Package is an open Office file.
type Package struct {
	ctx   context.Context
	size  int64
	parts map[string]*zip.File
	left  int64 // bytes that may still be expanded
	most  int64
}

// Open reads the list of parts. inflated bounds what all parts that are read may expand to.
func Open(ctx context.Context, file io.ReaderAt, size, inflated int64) (*Package, error) {
	if err := checkStart(file, size); err != nil {
		return nil, err
	}
	counted := &countedReader{file: file, left: maxDirectory}
	archive, err := zip.NewReader(counted, size)
	if counted.left < 0 || err == nil && len(archive.File) > maxParts {
		return nil, extract.Errorf("The file has more than %d parts.", maxParts)
	}
	if err != nil {
		return nil, damaged("The file", err)
	}
	counted.open = true
	p := &Package{ctx: ctx, size: size, parts: make(map[string]*zip.File, len(archive.File)), left: inflated, most: inflated}
	for _, f := range archive.File {
		name := normal(f.Name)
		if _, twice := p.parts[name]; !twice {
			p.parts[name] = f
		}
	}
	return p, nil
}

// Has reports whether the file has the part.
func (p *Package) Has(name string) bool {
	_, ok := p.parts[normal(name)]
	return ok
}

// open opens a part to read it once.
func (p *Package) open(name string) (*part, error) {
	f, ok := p.parts[normal(name)]
	if !ok {
		return nil, extract.Errorf("The file has no part %s.", shown(name))
	}
	if f.Flags&1 != 0 {
		return nil, encrypted()
	}
	r, err := f.Open()
	if err != nil {
		return nil, damaged("The part "+shown(name), err)
	}
	return &part{pkg: p, name: name, in: r, compressed: int64(min(f.CompressedSize64, uint64(p.size)))}, nil
}

// part counts what is read of it, in its package.
type part struct {
	pkg        *Package
	name       string
	in         io.ReadCloser
	compressed int64
	read       int64
	token      int64 // since a token began
	equalSigns int   // since the last begin of a tag
}

func (r *part) Read(b []byte) (int, error) {
	if err := r.pkg.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.in.Read(b)
	r.read += int64(n)
	r.token += int64(n)
	tagged := r.attributes(b[:n])
	r.pkg.left -= int64(n)
	switch {
	case r.pkg.left < 0:
		return 0, r.pkg.tooLarge()
	case r.read > ratioFrom && r.read > maxRatio*r.compressed:
		return 0, tooDense()
	case r.token > maxToken:
		return 0, tooLong(r.name)
	case tagged > maxEqualSigns:
		return 0, tooManyAttributes(r.name)
	case err != nil && !errors.Is(err, io.EOF):
		return n, damaged("The part "+shown(r.name), err)
	}
	return n, err
}

// attributes counts the equal signs in b, and returns how many there are without a tag that begins between them: the most attributes
// that an element can have.
func (r *part) attributes(b []byte) int {
	const sign, tag = "=", '<'
	first, last := bytes.IndexByte(b, tag), bytes.LastIndexByte(b, tag)
	if first < 0 {
		r.equalSigns += bytes.Count(b, []byte(sign))
		return r.equalSigns
	}
	most := r.equalSigns + bytes.Count(b[:first], []byte(sign))
	r.equalSigns = bytes.Count(b[last:], []byte(sign))
	return most
}

func (r *part) Close() error { return r.in.Close() }

func (p *Package) tooLarge() *extract.Error {
	return extract.Errorf("The file expands to more than %d MB.", p.most>>20)
}

func tooDense() *extract.Error {
	return extract.Errorf("A part of the file expands to more than %d times its size.", maxRatio)
}

func tooLong(name string) *extract.Error {
	return extract.Errorf("The part %s has a text of more than %d MB.", shown(name), maxToken>>20)
}

func tooManyAttributes(name string) *extract.Error {
	return extract.Errorf("The part %s has an element of more than %d attributes.", shown(name), maxAttributes)
}

func encrypted() *extract.Error {
	return extract.Errorf("The file is protected by a password.")
}

func damaged(what string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var known *extract.Error
	if errors.As(err, &known) {
		return known
	}
	return extract.Errorf("%s is damaged.", what).WithCause(err)
}

// checkStart says what a file is that is not a ZIP archive.
func checkStart(file io.ReaderAt, size int64) error {
	var head [8]byte
	if _, err := file.ReadAt(head[:min(size, 8)], 0); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the file: %w", err)
	}
	switch {
	case bytes.HasPrefix(head[:], []byte("PK")):
		return nil
	case bytes.Equal(head[:], []byte{0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1}):
		if holds(file, size, utf16LE("EncryptedPackage")) {
			return encrypted()
		}
		return extract.Errorf("The file has the binary format of Office before 2007. Save it in the current format.")
	}
	return extract.Errorf("The file is not an Office file.")
}

// holds reports whether the first or last 4 MB of the file have the bytes.
func holds(file io.ReaderAt, size int64, what []byte) bool {
	const most = 4 << 20
	for _, from := range []int64{0, max(0, size-most)} {
		b := make([]byte, min(most, size-from))
		n, _ := file.ReadAt(b, from)
		if bytes.Contains(b[:n], what) {
			return true
		}
	}
	return false
}

func utf16LE(ascii string) []byte {
	b := make([]byte, 0, 2*len(ascii))
	for _, c := range []byte(ascii) {
		b = append(b, c, 0)
	}
	return b
}

// normal returns the form of a part's name by which it is found: names ignore case.
func normal(name string) string {
	return strings.ToLower(strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/"))
}

// shown returns a name for a message.
func shown(name string) string {
	return strings.ToValidUTF8(name[:min(len(name), 100)], "?")
}

// countedReader bounds the bytes that are read before open is set.
type countedReader struct {
	file io.ReaderAt
	left int64
	open bool
}

func (r *countedReader) ReadAt(b []byte, at int64) (int, error) {
	if !r.open {
		if r.left -= int64(len(b)); r.left < 0 {
			return 0, errors.New("the list of parts is too long")
		}
	}
	return r.file.ReadAt(b, at)
}
