package docx

import (
	"encoding/xml"
	"strings"

	"docent/shared/extract/readers/ooxml"
)

// formField reads the mark at which a field begins, and returns what the field shows if its result does not say so: the chosen entry of a
// list, or a box that is ticked or not. Only forms of old have such fields; newer ones have content controls.
func (in *inline) formField() (shows string, err error) {
	err = in.d.Each(func(e xml.StartElement) error {
		if e.Name.Local != "ffData" {
			return nil
		}
		return in.d.Each(func(e xml.StartElement) error {
			switch e.Name.Local {
			case "checkBox":
				shows, err = in.checkBox()
			case "ddList":
				shows, err = in.choice()
			}
			return err
		})
	})
	return shows, err
}

func (in *inline) checkBox() (string, error) {
	ticked, byDefault := (*bool)(nil), false
	err := in.d.Each(func(e xml.StartElement) error {
		on := ooxml.On(ooxml.Attr(e, "val"))
		switch e.Name.Local {
		case "checked":
			ticked = &on
		case "default":
			byDefault = on
		}
		return nil
	})
	if ticked != nil {
		byDefault = *ticked
	}
	if byDefault {
		return "☒", err
	}
	return "☐", err
}

func (in *inline) choice() (string, error) {
	entries, chosen, byDefault := []string{}, "", ""
	err := in.d.Each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "result":
			chosen = ooxml.Attr(e, "val")
		case "default":
			byDefault = ooxml.Attr(e, "val")
		case "listEntry":
			if len(entries) < maxEntries {
				entries = append(entries, ooxml.Attr(e, "val"))
			}
		}
		return nil
	})
	if chosen == "" {
		chosen = byDefault
	}
	if at := number(chosen); at < len(entries) {
		return strings.TrimSpace(entries[at]), err
	}
	return "", err
}

// maxEntries of a list; Word has at most 25.
const maxEntries = 100
