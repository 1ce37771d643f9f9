package ooxml

import (
	"encoding/xml"
	"path"
	"strings"

	"docent/shared/extract"
	"docent/shared/extract/readers/markdown"
)

const (
	maxRelations = 100_000 // of a part; each link of a document is one
	maxTarget    = 4096    // bytes of a target; a longer one is left out, because many elements can point to it

	maxRelationBytes = 32 << 20 // of the relations of a part, which are held in memory
)

// Relation is a pointer from a part to another, or to an address outside.
type Relation struct {
	Type     string // the last element of its address, such as "slide"
	Target   string // the name of a part, or an address if External
	External bool
}

// Relations returns the relations of a part by their ids, those of the whole file for "". A part without any has none.
func (p *Package) Relations(name string) (map[string]Relation, error) {
	folder, file := path.Split(name)
	rels := folder + "_rels/" + file + ".rels"
	if !p.Has(rels) {
		return nil, nil
	}
	d, err := p.Decoder(rels)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	found, size := map[string]Relation{}, 0
	err = d.Each(func(root xml.StartElement) error {
		return d.Each(func(e xml.StartElement) error {
			if e.Name.Local != "Relationship" {
				return nil
			}
			id, kind := Attr(e, "Id"), strings.Clone(path.Base(Attr(e, "Type"))) // a clone, so that the whole address is not held
			r := Relation{Type: kind, Target: Attr(e, "Target"), External: Attr(e, "TargetMode") == "External"}
			if len(r.Target) > maxTarget {
				return nil
			}
			if !r.External {
				r.Target = resolve(folder, r.Target)
			}
			if found[id] = r; len(found) > maxRelations {
				return extract.Errorf("The part %s points to more than %d others.", shown(name), maxRelations)
			}
			if size += len(id) + len(r.Type) + len(r.Target); size > maxRelationBytes {
				return extract.Errorf("The addresses of what the part %s points to have more than %d MB.", shown(name), maxRelationBytes>>20)
			}
			return nil
		})
	})
	return found, err
}

// Related returns the first part, by the order of ids, to which a part has a relation of the type, or "".
func (p *Package) Related(name, kind string) (string, error) {
	all, err := p.Relations(name)
	if err != nil {
		return "", err
	}
	best := ""
	for id, r := range all {
		if r.Type == kind && !r.External && (best == "" || id < best) {
			best = id
		}
	}
	if best == "" {
		return "", nil
	}
	return all[best].Target, nil
}

func resolve(folder, target string) string {
	if !strings.HasPrefix(target, "/") {
		target = "/" + folder + target
	}
	return strings.TrimPrefix(path.Clean(target), "/")
}

// Main returns the part that the file is about. Without one it returns an *extract.Error: the file is not kind, such
// as "a Word document".
func (p *Package) Main(kind string) (string, error) {
	main, err := p.Related("", "officeDocument")
	if err != nil {
		return "", err
	}
	if main == "" || !p.Has(main) {
		return "", extract.Errorf("The file is not %s.", kind)
	}
	return main, nil
}

// Title returns the title in the properties of the file, or "".
func (p *Package) Title() (string, error) {
	name, err := p.Related("", "core-properties")
	if err != nil || name == "" || !p.Has(name) {
		return "", err
	}
	d, err := p.Decoder(name)
	if err != nil {
		return "", err
	}
	defer d.Close()
	var title string
	err = d.Each(func(xml.StartElement) error {
		return d.Each(func(e xml.StartElement) (err error) {
			if e.Name.Local == "title" {
				title, err = d.Text()
			}
			return err
		})
	})
	return markdown.Title(title), err
}
