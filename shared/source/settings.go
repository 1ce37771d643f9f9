package source

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"docent/shared/apierr"
	"docent/shared/uri"
)

// Settings are the configuration of a source, without secrets. Provider.Settings
// declares their names and kinds.
type Settings struct{ values map[string]any } // string or []string

// NewSettings returns settings with these values, each a string or a []string.
func NewSettings(values map[string]any) Settings { return Settings{values} }

// Text returns the setting name, or "" if it is absent.
func (s Settings) Text(name string) string {
	text, _ := s.values[name].(string)
	return text
}

// List returns the setting name, or nil if it is absent.
func (s Settings) List(name string) []string {
	list, _ := s.values[name].([]string)
	return list
}

// MarshalJSON encodes s as an object with a member per setting.
func (s Settings) MarshalJSON() ([]byte, error) {
	if s.values == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(s.values)
}

// UnmarshalJSON decodes what MarshalJSON encodes. It leaves out members that are
// neither a string nor a list of strings.
func (s *Settings) UnmarshalJSON(text []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	s.values = map[string]any{}
	for name, raw := range members {
		var one string
		var list []string
		if json.Unmarshal(raw, &one) == nil && one != "" {
			s.values[name] = one
		} else if json.Unmarshal(raw, &list) == nil && list != nil {
			s.values[name] = list
		}
	}
	return nil
}

// Secrets are the credentials between Docent and a provider, by name.
type Secrets map[string]string

// Bounds of settings.
const (
	maxURL    = 2048
	maxSecret = 1024
)

// Configure splits the settings of a new source into settings and secrets. It rejects those of other providers, and names that are
// written a little differently, such as baseURL: without the setting, a token might go to another server, or more be read. It drops other
// unknown ones.
func (s *Service) Configure(name ProviderName, given Settings) (Settings, Secrets, error) {
	settings, secrets := map[string]any{}, Secrets{}
	for key, value := range given.values {
		var allowed []string
		if meant := s.likeName(name, key); meant != "" {
			return Settings{}, nil, apierr.BadField("/settings/"+key, "is not a setting; write %s", meant)
		}
		for _, p := range s.Providers {
			i := slices.IndexFunc(p.Settings, func(s Setting) bool { return s.Name == key })
			if i < 0 {
				continue
			}
			allowed = append(allowed, string(p.Name))
			if p.Name != name {
				continue
			}
			if err := p.Settings[i].check(value); err != nil {
				return Settings{}, nil, err
			}
			if p.Settings[i].Kind == Secret {
				secrets[key] = value.(string) //nolint:forcetypeassert // checked
			} else {
				settings[key] = value
			}
		}
		if len(allowed) > 0 && !slices.Contains(allowed, string(name)) {
			return Settings{}, nil, apierr.BadField("/settings/"+key, "is allowed for %s only", strings.Join(allowed, " and "))
		}
	}
	return Settings{settings}, secrets, nil
}

// likeName returns the name of a provider's setting that key resembles; "": of none, or it is one.
func (s *Service) likeName(provider ProviderName, key string) (meant string) {
	for _, p := range s.Providers {
		for _, setting := range p.Settings {
			switch {
			case setting.Name == key:
				return ""
			case p.Name == provider && plainName(setting.Name) == plainName(key):
				meant = setting.Name
			}
		}
	}
	return meant
}

// plainName returns name in lower case, as a singular and without what joins words.
func plainName(name string) string {
	return strings.TrimSuffix(strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name)), "s")
}

func (s Setting) check(value any) error {
	_, list := value.([]string)
	switch {
	case list && s.Kind != List:
		return apierr.BadField("/settings/"+s.Name, "must be a text")
	case !list && s.Kind == List:
		return apierr.BadField("/settings/"+s.Name, "must be a list of texts")
	}
	return nil
}

// checkNewName is checkName of a name that the source does not have yet.
func (d DataSource) checkNewName() error {
	if strings.TrimSpace(d.Name) == "" {
		return apierr.BadField("/name", "must have 1 to %d characters and not be blank", MaxName)
	}
	return d.checkName()
}

func (d DataSource) checkName() error {
	if n := utf8.RuneCountInString(d.Name); n < 1 || n > MaxName || !utf8.ValidString(d.Name) || strings.ContainsFunc(d.Name, unicode.IsControl) {
		return apierr.BadField("/name", "must have 1 to %d characters and no control characters", MaxName)
	}
	return nil
}

// check returns a field error if a new source is invalid.
func (d DataSource) check(p Provider, secrets Secrets) error {
	if err := d.checkName(); err != nil {
		return err
	}
	for _, setting := range p.Settings {
		if text := secrets[setting.Name]; text != "" {
			if err := CheckSecret("/settings/"+setting.Name, text); err != nil {
				return err
			}
		}
	}
	if p.Check == nil {
		return nil
	}
	return p.Check(d.Settings, secrets)
}

// CheckList returns a field error unless the setting name has 1 to most entries
// that check accepts.
func (s Settings) CheckList(name string, most int, check func(pointer, text string) error) error {
	list := s.List(name)
	if n := len(list); n < 1 || n > most {
		return apierr.BadField("/settings/"+name, "must have 1 to %d entries", most)
	}
	for i, text := range list {
		if err := check(fmt.Sprintf("/settings/%s/%d", name, i), text); err != nil {
			return err
		}
	}
	return nil
}

// CheckSpelling returns a field error if two entries of the setting name differ in case or a final ".git" only. They are one
// repository, whose items would be stored twice, under two addresses.
func (s Settings) CheckSpelling(name string) error {
	spelled := map[string]string{}
	for i, text := range s.List(name) {
		plain := strings.TrimSuffix(strings.ToLower(text), ".git")
		if first, known := spelled[plain]; known && first != text {
			return apierr.BadField(fmt.Sprintf("/settings/%s/%d", name, i), "is %s in another spelling", first)
		}
		spelled[plain] = text
	}
	return nil
}

// CheckWebURL returns a field error unless text is an http or https URL.
func CheckWebURL(pointer, text string) error {
	if len(text) > maxURL {
		return apierr.BadField(pointer, "must have at most %d bytes", maxURL)
	}
	if err := uri.CheckWeb(text); err != nil {
		return apierr.BadField(pointer, "%s", err)
	}
	return nil
}

// CheckSecret returns a field error unless text can be a secret.
func CheckSecret(pointer, text string) error {
	if text == "" || len(text) > maxSecret || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return apierr.BadField(pointer, "must be 1 to %d printable ASCII characters without spaces", maxSecret)
	}
	return nil
}
