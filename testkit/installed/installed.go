// Package installed finds the programs that the Makefile installs for tests.
package installed

import (
	"errors"
	"os"
	"path/filepath"
)

// Root returns the folder of the go.mod above the working folder.
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

// Program returns the path of a program in the Python environment that scripts/venv creates under that name. It
// returns fs.ErrNotExist if the program is not installed.
func Program(environment, program string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, ".cache", environment, "bin", program)
	_, err = os.Stat(path)
	return path, err
}
