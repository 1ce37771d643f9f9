package githubtest

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha1" //nolint:gosec // git's own hash
	"encoding/hex"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"docent/shared/connect/connecttest"
)

// Commit is a state of all files, by name.
type Commit struct {
	Files map[string]string // of a submodule, its commit after Submodule
	// Rewritten means that the commit does not descend from the one before it.
	Rewritten bool
}

// Submodule begins the text of a file that is a submodule: the API reports that it changed, and has no content of it.
const Submodule = "Subproject commit "

// Link begins the text of a file that is a symbolic link to another one. An archive has no text of it.
const Link = "link to "

// SHA returns the id of a commit, a hash of its content.
func (c Commit) SHA() string {
	h := sha1.New() //nolint:gosec // as above
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		_, _ = io.WriteString(h, name+"\x00"+c.Files[name]+"\x00")
	}
	return hex.EncodeToString(h.Sum(nil))
}

func blobSHA(text string) string {
	if commit, ok := strings.CutPrefix(text, Submodule); ok {
		return commit
	}
	return hash(strings.TrimPrefix(text, Link))
}

func hash(text string) string {
	sum := sha1.Sum([]byte(text)) //nolint:gosec // as above
	return hex.EncodeToString(sum[:])
}

// folderSHA returns the id of a folder of a commit, that of the commit for the top.
func (c Commit) folderSHA(folder string) string {
	if folder == "" {
		return c.SHA()
	}
	return hash("tree " + c.SHA() + " " + folder)
}

// tree lists one folder or, if that is asked for, all below the top.
func tree(r *Repository, w http.ResponseWriter, q *http.Request) {
	type entry struct {
		Path string `json:"path"`
		Mode string `json:"mode"`
		Type string `json:"type"`
		SHA  string `json:"sha"`
		Size int    `json:"size,omitempty"`
	}
	blobOf := func(path, text string) entry {
		switch {
		case strings.HasPrefix(text, Submodule):
			return entry{path, "160000", "commit", blobSHA(text), 0}
		case strings.HasPrefix(text, Link):
			return entry{path, "120000", "blob", blobSHA(text), len(text)}
		}
		return entry{path, "100644", "blob", blobSHA(text), len(text)}
	}
	for _, c := range r.Commits {
		if q.URL.Query().Get("recursive") == "1" {
			if c.SHA() != q.PathValue("sha") {
				continue
			}
			entries := []entry{}
			for name, text := range c.Files {
				entries = append(entries, blobOf(name, text))
			}
			answer(w, map[string]any{"sha": q.PathValue("sha"), "tree": entries, "truncated": len(entries) > 1000})
			return
		}
		folders := map[string]bool{"": true}
		for name := range c.Files {
			for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
				folders[dir] = true
			}
		}
		for folder := range folders {
			if c.folderSHA(folder) != q.PathValue("sha") {
				continue
			}
			entries := []entry{}
			for name, text := range c.Files {
				if strings.TrimSuffix(path.Dir(name), ".") == folder {
					entries = append(entries, blobOf(path.Base(name), text))
				}
			}
			for below := range folders {
				if below != "" && strings.TrimSuffix(path.Dir(below), ".") == folder {
					entries = append(entries, entry{path.Base(below), "040000", "tree", c.folderSHA(below), 0})
				}
			}
			answer(w, map[string]any{"sha": q.PathValue("sha"), "tree": entries, "truncated": false})
			return
		}
	}
	refuse(w, http.StatusNotFound, "Not Found")
}

func (r *Repository) find(sha string) int {
	return slices.IndexFunc(r.Commits, func(c Commit) bool { return c.SHA() == sha })
}

func head(r *Repository, w http.ResponseWriter, q *http.Request) {
	switch {
	case r.Away:
		refuse(w, http.StatusConflict, "Git Repository is unavailable.")
	case len(r.Commits) == 0:
		refuse(w, http.StatusConflict, "Git Repository is empty.")
	case r.Left != "" && q.PathValue("ref") == r.Left:
		_, _ = io.WriteString(w, r.Commits[0].SHA())
	case q.PathValue("ref") != r.Branch && q.PathValue("ref") != "HEAD" || q.Header.Get("Accept") != "application/vnd.github.sha":
		refuse(w, http.StatusUnprocessableEntity, "No commit found for SHA: "+q.PathValue("ref"))
	default:
		w.Header().Set("Content-Type", "application/vnd.github.sha; charset=utf-8")
		_, _ = io.WriteString(w, r.Commits[len(r.Commits)-1].SHA())
	}
}

func archive(r *Repository, w http.ResponseWriter, q *http.Request) {
	sha := q.PathValue("sha")
	at := r.find(sha)
	if at < 0 {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	w.Header().Set("Content-Type", "application/x-gzip")
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	top := q.PathValue("owner") + "-" + q.PathValue("name") + "-" + sha[:7] + "/"
	_ = t.WriteHeader(&tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header", PAXRecords: map[string]string{"comment": sha}})
	_ = t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: top, Mode: 0o755})
	attributes := r.Commits[at].Files[".gitattributes"]
	for _, name := range slices.Sorted(maps.Keys(r.Commits[at].Files)) {
		if connecttest.LeavesOut(attributes, name) {
			continue
		}
		text := r.Commits[at].Files[name]
		if strings.HasPrefix(text, Submodule) {
			_ = t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: top + name + "/", Mode: 0o755})
			continue
		}
		if to, isLink := strings.CutPrefix(text, Link); isLink {
			_ = t.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: top + name, Linkname: to, Mode: 0o777})
			continue
		}
		_ = t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: top + name, Mode: 0o644, Size: int64(len(text))})
		_, _ = io.WriteString(t, text)
	}
	_ = t.Close()
	_ = z.Close()
}

func compare(r *Repository, w http.ResponseWriter, q *http.Request) {
	from, to, _ := strings.Cut(q.PathValue("span"), "...")
	a, b := r.find(from), r.find(to)
	if a < 0 || b < 0 {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	status := "ahead"
	if slices.ContainsFunc(r.Commits[a+1:max(b+1, a+1)], func(c Commit) bool { return c.Rewritten }) {
		status = "diverged"
	}
	type file struct {
		Name     string `json:"filename"`
		Previous string `json:"previous_filename,omitempty"`
		Status   string `json:"status"`
		SHA      string `json:"sha"`
	}
	before, after := r.Commits[a].Files, maps.Clone(r.Commits[b].Files)
	files := []file{}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		text, there := after[name]
		switch {
		case there && text != before[name]:
			files = append(files, file{name, "", "modified", blobSHA(text)})
		case !there:
			f := file{name, "", "removed", blobSHA(before[name])}
			for other, text := range after {
				if _, old := before[other]; !old && text == before[name] {
					f = file{other, name, "renamed", blobSHA(text)}
				}
			}
			files = append(files, f)
		}
		delete(after, name)
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if !slices.ContainsFunc(files, func(f file) bool { return f.Name == name }) {
			files = append(files, file{name, "", "added", blobSHA(after[name])})
		}
	}
	answer(w, map[string]any{"status": status, "files": files[:min(len(files), 300)]})
}

// contents returns a file of a commit as it is.
func contents(r *Repository, w http.ResponseWriter, q *http.Request) {
	at := r.find(q.URL.Query().Get("ref"))
	if at < 0 || r.Commits[at].Files[q.PathValue("path")] == "" || q.Header.Get("Accept") != "application/vnd.github.raw+json" {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	w.Header().Set("Content-Type", "application/vnd.github.raw+json; charset=utf-8")
	_, _ = io.WriteString(w, r.Commits[at].Files[q.PathValue("path")])
}

func blob(r *Repository, w http.ResponseWriter, q *http.Request) {
	for _, c := range r.Commits {
		for _, text := range c.Files {
			if !strings.HasPrefix(text, Submodule) && blobSHA(text) == q.PathValue("sha") && q.Header.Get("Accept") == "application/vnd.github.raw+json" {
				w.Header().Set("Content-Type", "application/vnd.github.raw+json; charset=utf-8") // whatever is in the file
				_, _ = io.WriteString(w, strings.TrimPrefix(text, Link))
				return
			}
		}
	}
	refuse(w, http.StatusNotFound, "Not Found")
}
