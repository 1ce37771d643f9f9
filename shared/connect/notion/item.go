package notion

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	names "docent/shared/access"
	"docent/shared/filter"
	"docent/shared/source"
)

// item returns o with its text as an item, and what is missing from the text.
func (s *session) item(ctx context.Context, o object) (*source.Item, lack, error) {
	i := &source.Item{URI: o.uri(), Title: o.title(), SourceType: "documentation", CreatedAt: o.Created, UpdatedAt: o.Edited}
	if s.settings.Text(access) != bySource {
		i.Access = &names.Names{Users: []string{}, Groups: []string{}} // Notion does not tell who reads it
	}
	if o.Object == dataSourceKind {
		i.Body = o.About.String()
		if fields := slices.Sorted(maps.Keys(o.Properties)); len(fields) > 0 {
			i.Body = strings.TrimSpace(i.Body + "\n\nFields: " + strings.Join(fields, ", "))
		}
		return i, nothing, nil
	}
	text, missed, err := s.text(ctx, o.ID)
	if err != nil {
		return nil, nothing, err
	}
	i.Body = strings.TrimSpace(o.fields() + text)
	i.Metadata = o.metadata()
	return i, missed, nil
}

// property is the value of a property of a page, in the member that its type names.
type property struct {
	Type        string   `json:"type"`
	Title       texts    `json:"title"`
	RichText    texts    `json:"rich_text"`
	Select      *named   `json:"select"`
	Status      *named   `json:"status"`
	MultiSelect []named  `json:"multi_select"`
	People      []named  `json:"people"`
	Number      *float64 `json:"number"`
	Checkbox    bool     `json:"checkbox"`
	URL         string   `json:"url"`
	Email       string   `json:"email"`
	Phone       string   `json:"phone_number"`
	Date        *span    `json:"date"`
	UniqueID    *struct {
		Prefix string `json:"prefix"`
		Number int    `json:"number"`
	} `json:"unique_id"`
	Formula *struct {
		Type    string   `json:"type"`
		String  string   `json:"string"`
		Number  *float64 `json:"number"`
		Boolean bool     `json:"boolean"`
		Date    *span    `json:"date"`
	} `json:"formula"`
}

// span is a day or a time, or the days or times from one to another.
type span struct {
	Start string `json:"start"`
	End   string `json:"end"` // may be empty
}

// UnmarshalJSON reads a property. A member that does not have the form of a value is left empty: in a data source it describes
// a column, and a form that Notion adds must not make the whole list unreadable.
func (p *property) UnmarshalJSON(text []byte) error {
	type members property
	var other *json.UnmarshalTypeError
	if err := json.Unmarshal(text, (*members)(p)); err != nil && !errors.As(err, &other) {
		return err
	}
	return nil
}

type named struct {
	Name string `json:"name"`
}

// value returns p as metadata; the zero Value for a property that is empty or has no text.
func (p property) value() filter.Value {
	switch {
	case p.Type == "checkbox":
		return filter.Bool(p.Checkbox)
	case p.Type == "number" && p.Number != nil:
		return filter.Number(*p.Number)
	case p.Type == "multi_select":
		return listOf(p.MultiSelect)
	case p.Type == "people":
		return listOf(p.People)
	case p.Formula != nil && p.Formula.Type == "boolean":
		return filter.Bool(p.Formula.Boolean)
	case p.Formula != nil && p.Formula.Type == "number" && p.Formula.Number != nil:
		return filter.Number(*p.Formula.Number)
	}
	if text := p.text(); text != "" {
		return filter.Text(text)
	}
	return filter.Value{}
}

// text returns a property of one text, or "".
func (p property) text() string {
	switch {
	case p.Type == "select" && p.Select != nil:
		return p.Select.Name
	case p.Type == "status" && p.Status != nil:
		return p.Status.Name
	case p.date() != nil:
		return p.date().Start
	case p.Type == "unique_id" && p.UniqueID != nil:
		return strings.TrimPrefix(p.UniqueID.Prefix+"-"+strconv.Itoa(p.UniqueID.Number), "-")
	case p.Type == "formula" && p.Formula != nil:
		return p.Formula.String
	case p.Type == "rich_text":
		return p.RichText.String()
	default:
		return cmp.Or(p.URL, p.Email, p.Phone)
	}
}

// date returns the value of a date, also of one that a formula computes, or nil.
func (p property) date() *span {
	switch {
	case p.Type == "date":
		return p.Date
	case p.Type == "formula" && p.Formula != nil:
		return p.Formula.Date
	}
	return nil
}

func listOf(all []named) filter.Value {
	var list []string
	for _, one := range all {
		if one.Name != "" {
			list = append(list, one.Name)
		}
	}
	if len(list) == 0 {
		return filter.Value{}
	}
	return filter.List(list...)
}

// fields returns the properties of a row of a database as lines before its text.
func (o object) fields() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(o.Properties)) {
		if value := o.Properties[name].value(); !value.IsZero() && o.Properties[name].Type != "checkbox" {
			b.WriteString(name + ": " + value.String())
			if date := o.Properties[name].date(); date != nil && date.End != "" {
				b.WriteString(" to " + date.End)
			}
			b.WriteByte('\n')
		}
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

var notInName = regexp.MustCompile(`[^A-Za-z0-9]+`)

// nameOf returns the name of a property as a name of metadata, as in dueDate for "Due
// date"; empty: it has none.
func nameOf(property string) string {
	var b strings.Builder
	for _, word := range notInName.Split(property, -1) {
		switch {
		case word == "":
		case b.Len() == 0:
			b.WriteString(strings.ToLower(word[:1]) + word[1:])
		default:
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()[:min(b.Len(), 40)]
}

// metadata returns the properties that filters can select by.
func (o object) metadata() filter.Metadata {
	m := filter.Metadata{}
	for _, property := range slices.Sorted(maps.Keys(o.Properties)) {
		name, value := nameOf(property), o.Properties[property].value()
		if _, taken := m[name]; taken || value.IsZero() || utf8.RuneCountInString(value.String()) > filter.MaxText {
			continue
		}
		if (filter.Metadata{name: value}).Check("") != nil {
			continue // a reserved name, or one that does not begin with a letter
		}
		if m[name] = value; m.Check("") != nil { // too much of it
			delete(m, name)
			break
		}
	}
	if len(m) == 0 {
		return nil
	}
	return m
}
