// Package installed finds what the verbs of the Makefile install for tests.
package installed

import (
	"errors"
	"os"
	"path/filepath"
)

// Root is the folder of the go.mod that the working folder belongs to.
func Root() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder, nil
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", errors.New("no go.mod above the working folder")
		}
		folder = parent
	}
}

// Program is the path of a program of the Python environment that scripts/venv makes
// under that name. The error is fs.ErrNotExist where it is not installed.
func Program(environment, program string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, ".cache", environment, "bin", program)
	_, err = os.Stat(path)
	return path, err
}
