package protocol

import (
	"strings"

	"docent/shared/fold"
)

// Kind is the data type of an attribute (RFC 7643 section 2.3).
type Kind string

const (
	stringKind    Kind = "string"
	booleanKind   Kind = "boolean"
	complexKind   Kind = "complex"
	referenceKind Kind = "reference"
	dateTimeKind  Kind = "dateTime"
	binaryKind    Kind = "binary"
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

// Attribute is the definition of an attribute or sub-attribute. Its JSON form is
// that of /Schemas (RFC 7643 section 7).
type Attribute struct {
	Name        string       `json:"name"`
	Kind        Kind         `json:"type"`
	Multi       bool         `json:"multiValued"`
	Description string       `json:"description"`
	Required    bool         `json:"required"`
	CaseExact   bool         `json:"caseExact"`
	Mutability  string       `json:"mutability"`
	Returned    string       `json:"returned"`
	Uniqueness  string       `json:"uniqueness"`
	Canonical   []string     `json:"canonicalValues,omitempty"` // documented, never enforced
	References  []string     `json:"referenceTypes,omitempty"`
	Sub         []*Attribute `json:"subAttributes,omitempty"`

	// derived: it follows from other attributes, so what clients send is ignored,
	// although RFC 7643 section 8.7.1 lets them send it.
	derived bool
}

// serverOwned tells whether the value of a is never the client's.
func (a *Attribute) serverOwned() bool { return a.Mutability == readOnly || a.derived }

// sub finds a sub-attribute by its name in any case.
func (a *Attribute) sub(name string) *Attribute { return find(a.Sub, name) }

func find(attributes []*Attribute, name string) *Attribute {
	for _, a := range attributes {
		if strings.EqualFold(a.Name, name) {
			return a
		}
	}
	return nil
}

// Schema is a set of attributes under a URN.
type Schema struct {
	ID          string       `json:"id"`
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Attributes  []*Attribute `json:"attributes"`
}

// ResourceType is a kind of resource: its core schema and its extensions.
type ResourceType struct {
	Name       string // of one resource
	Endpoint   string // begins with a slash
	Core       *Schema
	Extensions []*Schema
}

// common are the attributes that every resource has (RFC 7643 section 3.1).
var common = []*Attribute{
	{Name: "schemas", Kind: referenceKind, Multi: true, CaseExact: true, Mutability: readOnly, Returned: always},
	{Name: "id", Kind: stringKind, CaseExact: true, Mutability: readOnly, Returned: always},
	{Name: "externalId", Kind: stringKind, CaseExact: true, Mutability: readWrite, Returned: byDefault},
	{Name: "meta", Kind: complexKind, Mutability: readOnly, Returned: byDefault, Sub: []*Attribute{
		{Name: "resourceType", Kind: stringKind, CaseExact: true, Mutability: readOnly, Returned: byDefault},
		{Name: "created", Kind: dateTimeKind, Mutability: readOnly, Returned: byDefault},
		{Name: "lastModified", Kind: dateTimeKind, Mutability: readOnly, Returned: byDefault},
		{Name: "location", Kind: referenceKind, CaseExact: true, Mutability: readOnly, Returned: byDefault},
		{Name: "version", Kind: stringKind, CaseExact: true, Mutability: readOnly, Returned: byDefault},
	}},
}

// AttributeRef is where in a resource an attribute lies: in the extension ext, or in
// the resource itself when ext is empty. attr is nil when the place is the whole
// extension.
type AttributeRef struct {
	Ext  string
	Attr *Attribute
	Sub  *Attribute
}

// Locate finds what a name means for t; urn is empty or a known schema's.
func (t *ResourceType) Locate(urn, attr, sub string) (AttributeRef, bool) {
	var p AttributeRef
	switch {
	case urn == "":
		p.Attr = t.plain(attr)
	case strings.EqualFold(urn, t.Core.ID):
		p.Attr = t.plain(attr)
	default:
		for _, e := range t.Extensions {
			if strings.EqualFold(urn, e.ID) {
				p.Ext = e.ID
				if attr == "" {
					return p, true
				}
				p.Attr = find(e.Attributes, attr)
			}
		}
	}
	if p.Attr == nil {
		return p, false
	}
	if sub != "" {
		p.Sub = p.Attr.sub(sub)
	}
	return p, sub == "" || p.Sub != nil
}

func (t *ResourceType) plain(name string) *Attribute {
	if a := find(common, name); a != nil {
		return a
	}
	return find(t.Core.Attributes, name)
}

// SplitName takes an attribute name apart at the longest known URN that it starts
// with, else at its last colon; attr is empty when it is a known URN alone. It is
// false for what cannot be a name.
func SplitName(word string) (urn, attr, sub string, ok bool) {
	rest := word
	for _, s := range Schemas {
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

// comparable is s as a compares it: folded unless case counts.
func (a *Attribute) comparable(s string) string {
	if a.CaseExact || a.Kind == binaryKind {
		return s
	}
	return fold.Text(s)
}

// SchemasOf lists the schemas of which attributes are assigned.
func (t *ResourceType) SchemasOf(attributes map[string]any) []any {
	urns := []any{t.Core.ID}
	for _, e := range t.Extensions {
		if _, ok := attributes[e.ID]; ok {
			urns = append(urns, e.ID)
		}
	}
	return urns
}
