package main

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"docent/shared/source"
)

// form is a provider as the dashboard's forms show it.
type form struct {
	Name     source.ProviderName `json:"name"`
	Title    string              `json:"title"`
	Imported bool                `json:"imported"` // a source may have no settings; then it is filled by import
	Settings []field             `json:"settings"`
	Webhook  *webhook            `json:"webhook,omitempty"`
}

type field struct {
	Name        string   `json:"name"`
	Label       string   `json:"label"`
	Kind        string   `json:"kind"`
	Help        string   `json:"help"`
	Placeholder string   `json:"placeholder,omitempty"`
	Either      string   `json:"either,omitempty"`
	Choices     []string `json:"choices,omitempty"`
	Required    bool     `json:"required,omitempty"`
	Parts       bool     `json:"parts,omitempty"`
}

type webhook struct {
	Label string `json:"label"`
	Guide string `json:"guide"`
}

var kinds = map[source.SettingKind]string{source.Text: "text", source.List: "list", source.Secret: "secret", source.URL: "url"}

func formOf(p source.Provider) form {
	f := form{Name: p.Name, Title: p.Title, Settings: make([]field, 0, len(p.Settings)),
		Imported: p.Check == nil || p.Check(source.Settings{}, source.Secrets{}) == nil}
	for _, s := range p.Settings {
		f.Settings = append(f.Settings, field{Name: s.Name, Label: labelOf(s.Name), Kind: kinds[s.Kind], Help: capital(s.Help) + ".",
			Placeholder: s.Placeholder, Either: s.Either, Choices: s.Choices, Required: s.Required, Parts: s.Parts})
	}
	if p.Webhook != nil {
		f.Webhook = &webhook{p.Webhook.Label, p.Webhook.Guide}
	}
	return f
}

// labelOf returns the words of a setting's name: "Base URL" for baseUrl.
func labelOf(name string) string {
	var words []string
	start := 0
	for i, r := range name + "A" {
		if unicode.IsUpper(r) {
			words, start = append(words, strings.ToLower(name[start:i])), i
		}
	}
	for i, w := range words {
		switch w {
		case "url", "urls", "id", "ids":
			n := len(strings.TrimSuffix(w, "s"))
			words[i] = strings.ToUpper(w[:n]) + w[n:]
		}
	}
	return capital(strings.Join(words, " "))
}

// capital returns text with its first letter as a capital.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}
