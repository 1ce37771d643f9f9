package scim

import (
	"strings"

	"docent/shared/team"
)

// kind is the data type of an attribute (RFC 7643 section 2.3).
type kind string

const (
	stringKind    kind = "string"
	booleanKind   kind = "boolean"
	complexKind   kind = "complex"
	referenceKind kind = "reference"
	dateTimeKind  kind = "dateTime"
	binaryKind    kind = "binary"
)

// Characteristics of attributes (RFC 7643 section 2.2).
const (
	readOnly  = "readOnly"
	readWrite = "readWrite"
	immutable = "immutable"
	writeOnly = "writeOnly"

	always    = "always"
	byDefault = "default"
	never     = "never"

	server = "server"
	none   = "none"
)

// attribute is the definition of an attribute or sub-attribute. Its JSON form is
// that of /Schemas (RFC 7643 section 7).
type attribute struct {
	Name        string       `json:"name"`
	Kind        kind         `json:"type"`
	Multi       bool         `json:"multiValued"`
	Description string       `json:"description"`
	Required    bool         `json:"required"`
	CaseExact   bool         `json:"caseExact"`
	Mutability  string       `json:"mutability"`
	Returned    string       `json:"returned"`
	Uniqueness  string       `json:"uniqueness"`
	Canonical   []string     `json:"canonicalValues,omitempty"` // documented, never enforced
	References  []string     `json:"referenceTypes,omitempty"`
	Sub         []*attribute `json:"subAttributes,omitempty"`

	// derived: it follows from other attributes, so what clients send is ignored,
	// although RFC 7643 section 8.7.1 lets them send it.
	derived bool
}

// ours tells whether the value of a is never the client's.
func (a *attribute) ours() bool { return a.Mutability == readOnly || a.derived }

// sub finds a sub-attribute by its name in any case.
func (a *attribute) sub(name string) *attribute { return find(a.Sub, name) }

func find(attributes []*attribute, name string) *attribute {
	for _, a := range attributes {
		if strings.EqualFold(a.Name, name) {
			return a
		}
	}
	return nil
}

// schema is a set of attributes under a URN.
type schema struct {
	ID          string       `json:"id"`
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Attributes  []*attribute `json:"attributes"`
}

// resourceType is a kind of resource: its core schema and its extensions.
type resourceType struct {
	Name       string // of one resource
	Endpoint   string // begins with a slash
	core       *schema
	extensions []*schema
}

// common are the attributes that every resource has (RFC 7643 section 3.1).
var common = []*attribute{
	{Name: "schemas", Kind: referenceKind, Multi: true, CaseExact: true, Mutability: readOnly, Returned: always},
	{Name: "id", Kind: stringKind, CaseExact: true, Mutability: readOnly, Returned: always},
	{Name: "externalId", Kind: stringKind, CaseExact: true, Mutability: readWrite, Returned: byDefault},
	{Name: "meta", Kind: complexKind, Mutability: readOnly, Returned: byDefault, Sub: []*attribute{
		{Name: "resourceType", Kind: stringKind, CaseExact: true, Mutability: readOnly, Returned: byDefault},
		{Name: "created", Kind: dateTimeKind, Mutability: readOnly, Returned: byDefault},
		{Name: "lastModified", Kind: dateTimeKind, Mutability: readOnly, Returned: byDefault},
		{Name: "location", Kind: referenceKind, CaseExact: true, Mutability: readOnly, Returned: byDefault},
		{Name: "version", Kind: stringKind, CaseExact: true, Mutability: readOnly, Returned: byDefault},
	}},
}

// attributeRef is where in a resource an attribute lies: in the extension ext, or in
// the resource itself when ext is empty. attr is nil when the place is the whole
// extension.
type attributeRef struct {
	ext  string
	attr *attribute
	sub  *attribute
}

// locate finds what a name means for t; urn is empty or a known schema's.
func (t *resourceType) locate(urn, attr, sub string) (attributeRef, bool) {
	var p attributeRef
	switch {
	case urn == "":
		p.attr = t.plain(attr)
	case strings.EqualFold(urn, t.core.ID):
		p.attr = t.plain(attr)
	default:
		for _, e := range t.extensions {
			if strings.EqualFold(urn, e.ID) {
				p.ext = e.ID
				if attr == "" {
					return p, true
				}
				p.attr = find(e.Attributes, attr)
			}
		}
	}
	if p.attr == nil {
		return p, false
	}
	if sub != "" {
		p.sub = p.attr.sub(sub)
	}
	return p, sub == "" || p.sub != nil
}

func (t *resourceType) plain(name string) *attribute {
	if a := find(common, name); a != nil {
		return a
	}
	return find(t.core.Attributes, name)
}

// splitName takes an attribute name apart at the longest known URN that it starts
// with, else at its last colon; attr is empty when it is a known URN alone. It is
// false for what cannot be a name.
func splitName(word string) (urn, attr, sub string, ok bool) {
	rest := word
	for _, s := range schemas {
		if len(s.ID) <= len(urn) || len(word) < len(s.ID) || !strings.EqualFold(word[:len(s.ID)], s.ID) {
			continue
		}
		switch {
		case len(word) == len(s.ID):
			urn, rest = s.ID, ""
		case word[len(s.ID)] == ':' || word[len(s.ID)] == '.': // Entra ID has been seen to send a dot
			urn, rest = s.ID, word[len(s.ID)+1:]
		}
	}
	if rest == "" {
		return urn, "", "", urn != "" && len(urn) == len(word)
	}
	if cut := strings.LastIndexByte(rest, ':'); urn == "" && cut >= 0 {
		urn, rest = rest[:cut], rest[cut+1:]
	}
	attr, sub, dotted := strings.Cut(rest, ".")
	if !isAttributeName(attr) || dotted && !isAttributeName(sub) {
		return "", "", "", false
	}
	return urn, attr, sub, true
}

// isAttributeName follows ATTRNAME of RFC 7643 section 2.1, and takes "$ref".
func isAttributeName(s string) bool {
	if s == "" || strings.EqualFold(s, "$ref") {
		return s != ""
	}
	for i, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-' && c != '_') {
			return false
		}
	}
	return true
}

// fold is the form in which two texts are equal when case does not count. It is
// the one of user names, so that keys, filters and order agree.
func fold(s string) string { return team.FoldName(s) }

// comparable is s as a compares it: folded unless case counts.
func (a *attribute) comparable(s string) string {
	if a.CaseExact || a.Kind == binaryKind {
		return s
	}
	return fold(s)
}
