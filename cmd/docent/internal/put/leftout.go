package put

import (
	"fmt"
	"maps"
	"slices"
)

// leftOut are the members of front matter that metadata cannot hold, by their names.
type leftOut map[string]*leftOutOf

type leftOutOf struct {
	files int
	path  string // of one of them
}

func (l leftOut) add(path string, names []string) {
	for _, name := range names {
		of := l[name]
		if of == nil {
			of = &leftOutOf{path: path}
			l[name] = of
		}
		of.files++
		of.path = min(of.path, path)
	}
}

// warnLeftOut warns once of each name: often all files of a folder have it.
func (r *run) warnLeftOut() {
	for _, name := range slices.Sorted(maps.Keys(r.leftOut)) {
		of := r.leftOut[name]
		where := of.path
		if of.files > 1 {
			where = fmt.Sprintf("%d files, such as %s", of.files, of.path)
		}
		r.Warn(fmt.Sprintf("not kept as metadata: %s in the front matter of %s", name, where))
	}
}
