package gitlabtest

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"crypto/sha1" //nolint:gosec // as Git names commits
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"docent/shared/connect/connecttest"
)

// Commit is a commit with all its files, by name.
type Commit struct{ Files map[string]string }

// Link begins the text of a file that is a symbolic link to another one. An archive has no text of it.
const Link = "link to "

func mode(text string) string {
	switch {
	case text == "":
		return "0"
	case strings.HasPrefix(text, Link):
		return "120000"
	}
	return "100644"
}

func sha(parts ...any) string {
	sum := sha1.Sum(fmt.Append(nil, parts...)) //nolint:gosec // as Git names commits
	return hex.EncodeToString(sum[:])
}

// commit returns the commit of a name, which is the default branch or a hash.
func (p *Project) commit(ref string) (Commit, string, bool) {
	for n := len(p.Commits) - 1; n >= 0 && !p.Broken; n-- {
		name := sha(p.ID, n, p.Commits[n].Files)
		if ref == name || ref == p.Branch {
			return p.Commits[n], name, true
		}
	}
	return Commit{}, "", false
}

func head(p *Project, w http.ResponseWriter, q *http.Request) {
	_, name, ok := p.commit(q.PathValue("ref"))
	if !ok {
		refuse(w, http.StatusNotFound, "404 Commit Not Found")
		return
	}
	reply(w, http.StatusOK, map[string]any{"id": name, "short_id": name[:8], "title": "A commit"})
}

func tree(p *Project, w http.ResponseWriter, q *http.Request) {
	c, name, ok := p.commit(cmp.Or(q.URL.Query().Get("ref"), p.Branch))
	if !ok {
		refuse(w, http.StatusNotFound, "404 Tree Not Found")
		return
	}
	entries := []map[string]string{}
	for _, file := range slices.Sorted(maps.Keys(c.Files)) {
		entries = append(entries, map[string]string{"id": name, "name": file, "type": "blob", "path": file, "mode": mode(c.Files[file])})
	}
	paged(w, q, entries, every[map[string]string])
}

func archive(p *Project, w http.ResponseWriter, q *http.Request) {
	c, name, ok := p.commit(q.URL.Query().Get("sha"))
	if !ok {
		refuse(w, http.StatusNotFound, "404 File Not Found")
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	top := "project-" + name + "/"
	_ = t.WriteHeader(&tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header", PAXRecords: map[string]string{"comment": name}})
	_ = t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: top, Mode: 0o755})
	attributes := c.Files[".gitattributes"]
	for _, file := range slices.Sorted(maps.Keys(c.Files)) {
		if connecttest.LeavesOut(attributes, file) {
			continue
		}
		if to, isLink := strings.CutPrefix(c.Files[file], Link); isLink {
			_ = t.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: top + file, Linkname: to, Mode: 0o777})
			continue
		}
		text := c.Files[file]
		if kept := p.Large[text]; kept != "" && q.URL.Query().Get("include_lfs_blobs") != "false" {
			text = kept
		}
		_ = t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: top + file, Mode: 0o644, Size: int64(len(text))})
		_, _ = io.WriteString(t, text)
	}
	_ = t.Close()
	_ = z.Close()
}

func compare(p *Project, w http.ResponseWriter, q *http.Request) {
	from, _, known := p.commit(q.URL.Query().Get("from"))
	to, name, ok := p.commit(q.URL.Query().Get("to"))
	if !known || !ok || q.URL.Query().Get("straight") != "true" {
		refuse(w, http.StatusNotFound, "404 Ref Not Found")
		return
	}
	type diff struct {
		Old     string `json:"old_path"`
		New     string `json:"new_path"`
		Mode    string `json:"b_mode"`
		Diff    string `json:"diff"`
		Added   bool   `json:"new_file"`
		Renamed bool   `json:"renamed_file"`
		Deleted bool   `json:"deleted_file"`
	}
	diffs := []diff{}
	added := maps.Clone(to.Files)
	for _, file := range slices.Sorted(maps.Keys(from.Files)) {
		text, there := to.Files[file]
		delete(added, file)
		if there && text == from.Files[file] {
			continue
		}
		d := diff{Old: file, New: file, Deleted: !there}
		for other, same := range to.Files {
			if _, old := from.Files[other]; !there && !old && same == from.Files[file] {
				d = diff{Old: file, New: other, Renamed: true}
				delete(added, other)
			}
		}
		diffs = append(diffs, d)
	}
	for _, file := range slices.Sorted(maps.Keys(added)) {
		diffs = append(diffs, diff{Old: file, New: file, Added: true})
	}
	for n, d := range diffs {
		diffs[n].Mode = mode(to.Files[d.New])
	}
	reply(w, http.StatusOK, map[string]any{"commit": map[string]string{"id": name}, "diffs": diffs, "compare_timeout": len(diffs) > 1000, "compare_same_ref": false})
}

func raw(p *Project, w http.ResponseWriter, q *http.Request) {
	c, _, ok := p.commit(q.URL.Query().Get("ref"))
	text, there := c.Files[q.PathValue("path")]
	if !ok || !there {
		refuse(w, http.StatusNotFound, "404 File Not Found")
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8") // whatever is in the file
	_, _ = io.WriteString(w, strings.TrimPrefix(text, Link))
}
