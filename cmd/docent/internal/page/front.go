package page

import (
	"errors"
	"iter"
	"math"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"docent/client"
	"docent/shared/filter"
)

// accessKey is the key of front matter that says who may read the document.
const accessKey = "access"

// accessLine matches a line that may be meant as that key.
var accessLine = regexp.MustCompile(`(?mi)^[ \t]*["']?access["']?[ \t]*:`)

var errAccess = errors.New("access in its front matter must have users, groups or both, which are lists of names")

// readFront reads the front matter of a Markdown file: who may read the file, and its metadata. Metadata is every other
// key except title whose value is a scalar or a list of scalars. leftOut has the sorted keys of all other values. Front
// matter that is not YAML is ignored. It is an error if it may say who may read the file.
func readFront(front string) (a *client.Access, m filter.Metadata, leftOut []string, err error) {
	var document yaml.Node
	if yaml.Unmarshal([]byte(front), &document) != nil || len(document.Content) == 1 && document.Content[0].Kind != yaml.MappingNode {
		if accessLine.MatchString(front) {
			return nil, nil, nil, errors.New("its front matter has access, but is not YAML")
		}
		return nil, nil, nil, nil
	}
	m = filter.Metadata{}
	for key, node := range membersOf(document) {
		switch {
		case key == accessKey:
			if a, err = accessOf(node); err != nil {
				return nil, nil, nil, err
			}
			continue
		case strings.EqualFold(key, accessKey), key == "<<": // may be meant to say it
			return nil, nil, nil, errAccess
		case key == "title":
			continue
		}
		value, ok := valueOf(node)
		switch {
		case !ok:
			leftOut = append(leftOut, key)
		case !value.IsZero():
			m[key] = value
			if m.Check("") != nil { // a name, a length, or one too many
				delete(m, key)
				leftOut = append(leftOut, key)
			}
		}
	}
	if len(m) == 0 {
		m = nil
	}
	slices.Sort(leftOut)
	return a, m, slices.Compact(leftOut), nil
}

// membersOf yields the members of a document that is an object.
func membersOf(document yaml.Node) iter.Seq2[string, *yaml.Node] {
	return func(yield func(string, *yaml.Node) bool) {
		if len(document.Content) == 0 {
			return
		}
		for pair := range slices.Chunk(document.Content[0].Content, 2) { // keys and values in turn
			if !yield(pair[0].Value, pair[1]) {
				return
			}
		}
	}
}

// accessOf reads {users: [...], groups: [...]}; one of the two may be absent. It refuses everything else: a rule that
// was misread would let the whole team read the document.
func accessOf(node *yaml.Node) (*client.Access, error) {
	if node.Kind != yaml.MappingNode || len(node.Content) == 0 {
		return nil, errAccess
	}
	a := &client.Access{Users: []string{}, Groups: []string{}}
	for pair := range slices.Chunk(node.Content, 2) {
		names := map[string]*[]string{"users": &a.Users, "groups": &a.Groups}[pair[0].Value]
		if names == nil || pair[1].Kind != yaml.SequenceNode {
			return nil, errAccess
		}
		for _, one := range pair[1].Content {
			if one.Kind != yaml.ScalarNode || strings.TrimSpace(one.Value) == "" {
				return nil, errAccess
			}
			*names = append(*names, strings.TrimSpace(one.Value))
		}
	}
	return a, nil
}

// valueOf returns a scalar, or a list of scalars as a list of strings. It returns the zero Value for null, and false
// for what metadata cannot hold.
func valueOf(node *yaml.Node) (filter.Value, bool) {
	switch node.Kind {
	case yaml.ScalarNode:
		return scalarOf(node)
	case yaml.SequenceNode:
		texts := make([]string, 0, len(node.Content))
		for _, one := range node.Content {
			if one.Kind != yaml.ScalarNode {
				return filter.Value{}, false
			}
			texts = append(texts, strings.TrimSpace(one.Value))
		}
		return filter.List(texts...), true
	default:
		return filter.Value{}, false
	}
}

// scalarOf returns a scalar. A date stays the text that it is in the file.
func scalarOf(node *yaml.Node) (filter.Value, bool) {
	switch node.ShortTag() {
	case "!!null":
		return filter.Value{}, true
	case "!!bool":
		var b bool
		err := node.Decode(&b)
		return filter.Bool(b), err == nil
	case "!!int", "!!float":
		var n float64
		err := node.Decode(&n)
		return filter.Number(n), err == nil && !math.IsInf(n, 0) && !math.IsNaN(n)
	case "!!str", "!!timestamp":
		return filter.Text(strings.TrimSpace(node.Value)), true
	default:
		return filter.Value{}, false
	}
}
