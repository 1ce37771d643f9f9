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

// Attribute is the definition of an attribute or a sub-attribute. Its JSON form is the one of
// /Schemas (RFC 7643 section 7).
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

	// derived: the value is computed from other attributes. A value that a client sends,
	// which RFC 7643 section 8.7.1 allows, is ignored.
	derived bool
	// composed: values that differ only in their Unicode normal form are equal (RFC 7644 section 7.8).
	composed bool
}

// serverOwned reports whether clients cannot set a.
func (a *Attribute) serverOwned() bool { return a.Mutability == readOnly || a.derived }

// isPrimary reports whether a marks the preferred element of a list.
func (a *Attribute) isPrimary() bool { return a.Name == "primary" && a.Kind == booleanKind }

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

// ResourceType is a kind of resource: User or Group.
type ResourceType struct {
	Name       string // singular
	Endpoint   string // begins with a slash
	Core       *Schema
	Extensions []*Schema
}

// common are the attributes of every resource (RFC 7643 section 3.1).
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

// AttributeRef is the position of an attribute in a resource. Ext is the URN of its extension,
// or empty for the core schema; Attr is nil for the extension as a whole.
type AttributeRef struct {
	Ext  string
	Attr *Attribute
	Sub  *Attribute
}

// Locate resolves a name, and reports whether t has it. urn is empty or the URN of a known
// schema.
func (t *ResourceType) Locate(urn, attr, sub string) (AttributeRef, bool) {
	var ref AttributeRef
	switch {
	case urn == "":
		ref.Attr = t.plain(attr)
	case strings.EqualFold(urn, t.Core.ID):
		ref.Attr = t.plain(attr)
	default:
		for _, e := range t.Extensions {
			if strings.EqualFold(urn, e.ID) {
				ref.Ext = e.ID
				if attr == "" {
					return ref, true
				}
				ref.Attr = find(e.Attributes, attr)
			}
		}
	}
	if ref.Attr == nil {
		return ref, false
	}
	if sub != "" {
		ref.Sub = ref.Attr.sub(sub)
	}
	return ref, sub == "" || ref.Sub != nil
}

func (t *ResourceType) plain(name string) *Attribute {
	if a := find(common, name); a != nil {
		return a
	}
	return find(t.Core.Attributes, name)
}

// SplitName splits an attribute name into schema URN, attribute and sub-attribute, and reports
// whether it can be a name. It splits at the longest known URN, otherwise at the last colon;
// attr is empty for a known URN alone.
func SplitName(word string) (urn, attr, sub string, ok bool) {
	rest := word
	for _, s := range Schemas {
		if len(s.ID) <= len(urn) || len(word) < len(s.ID) || !strings.EqualFold(word[:len(s.ID)], s.ID) {
			continue
		}
		switch {
		case len(word) == len(s.ID):
			urn, rest = s.ID, ""
		case word[len(s.ID)] == ':' || word[len(s.ID)] == '.': // Entra ID sometimes sends a dot
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

// isAttributeName reports whether s is an ATTRNAME of RFC 7643 section 2.1, or "$ref".
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

// comparable returns the form of s that a compares: folded, unless case matters.
func (a *Attribute) comparable(s string) string {
	if a.comparesAsIs() {
		return s
	}
	if a.composed {
		return fold.Composed(s)
	}
	return fold.Text(s)
}

func (a *Attribute) comparesAsIs() bool { return a.CaseExact || a.Kind == binaryKind }

// SchemasOf returns the URNs of the core schema and of the extensions with assigned attributes.
func (t *ResourceType) SchemasOf(attributes map[string]any) []any {
	urns := []any{t.Core.ID}
	for _, e := range t.Extensions {
		if _, ok := attributes[e.ID]; ok {
			urns = append(urns, e.ID)
		}
	}
	return urns
}
