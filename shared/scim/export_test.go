package scim

import "time"

// SetChangeTime bounds how long a change is tried while others come between.
func (s *Service) SetChangeTime(d time.Duration) { s.changeTime = d }

// WaitingChanges is how many resources are being changed.
func (s *Service) WaitingChanges() int { return s.changing.keys() }

// WaitingLists is how many turns lists of everything have taken or wait for.
func (s *Service) WaitingLists() int { return s.listing.keys() }

func (t *turns) keys() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.byKey)
}

// WholeListsOfTeam bounds the lists of everything of one team at a time.
const WholeListsOfTeam = wholeListsOfTeam

// Tree reads JSON as requests are read.
func Tree(text string) (map[string]any, error) { return decodeObject([]byte(text)) }

// Text writes a tree in its one form.
func Text(tree any) string {
	text, err := encode(tree)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// TypeOf is the resource type of that name.
func TypeOf(name string) *resourceType {
	if name == "Group" {
		return groupType
	}
	return userType
}

// Read is what is stored of a request body.
func Read(typeName string, body map[string]any) (map[string]any, error) {
	return TypeOf(typeName).read(body)
}

// Patch applies the message of a PATCH to stored attributes.
func Patch(typeName string, attributes, fixed, message map[string]any) (map[string]any, error) {
	operations, err := parsePatch(message)
	if err != nil {
		return nil, err
	}
	return TypeOf(typeName).patch(attributes, fixed, operations)
}

// Match tells whether a filter holds of a resource.
func Match(typeName, text string, root bool, resource map[string]any) (bool, error) {
	f, err := parseFilter(text)
	if err != nil {
		return false, err
	}
	m, err := (&compiler{t: TypeOf(typeName), root: root}).compile(f)
	if err != nil {
		return false, err
	}
	return m(resource), nil
}

// Filter is a parsed filter.
type Filter = filter

// ParseFilter parses a filter.
func ParseFilter(text string) (*Filter, error) { return parseFilter(text) }

// ReprintPath parses a path and prints it.
func ReprintPath(text string) (string, error) {
	p, err := parsePath(text)
	return p.String(), err
}

// Project is what is shown of a resource.
func Project(typeName string, resource map[string]any, attributes, excluded string) map[string]any {
	return newProjection([]string{attributes}, []string{excluded}).apply(TypeOf(typeName), resource)
}

// Less tells whether a comes before b in the order of sortBy.
func Less(by, direction string, a, b map[string]any) (bool, error) {
	o, err := newOrder(&compiler{t: userType}, by, direction)
	return o.compare(o.key(a), o.key(b)) < 0, err
}

// NamesTag tells whether a field of entity tags names tag.
func NamesTag(field, tag string) bool { return namesTag(field, tag) }

// MaxElements bounds the elements of an attribute.
const MaxElements = maxElements
