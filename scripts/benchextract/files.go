package main

import (
	_ "embed"
	"fmt"
	"path"
	"strconv"
	"strings"
)

//go:embed files.txt
var list string

// file is a public file: where it is, and of a PDF how many pages it has.
type file struct {
	Repository, Commit, Path string
	Pages                    int // 0: not a PDF
}

func (f file) name() string { return path.Base(f.Path) }

// parseFiles reads a list in the form of files.txt. Names are unique, because questions and the folder of fetched files
// know a file by its name alone.
func parseFiles(list string) ([]file, error) {
	var files []file
	seen := map[string]bool{}
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		if strings.HasPrefix(line, "#") || len(fields) == 0 {
			continue
		}
		if len(fields) < 3 {
			return nil, fmt.Errorf("%q is not a repository, a commit and a path", strings.TrimSpace(line))
		}
		f := file{Repository: fields[0], Commit: fields[1], Path: fields[2]}
		isPDF := strings.HasSuffix(f.Path, ".pdf")
		if isPDF != (len(fields) == 4) || len(fields) > 4 {
			return nil, fmt.Errorf("%s: a PDF has a number of pages behind its path, and nothing else has", f.Path)
		}
		if isPDF {
			var err error
			if f.Pages, err = strconv.Atoi(fields[3]); err != nil || f.Pages < 1 {
				return nil, fmt.Errorf("%s: %q is not a number of pages", f.Path, fields[3])
			}
		}
		if seen[f.name()] {
			return nil, fmt.Errorf("%s: a file of this name is listed already", f.Path)
		}
		seen[f.name()] = true
		files = append(files, f)
	}
	return files, nil
}
