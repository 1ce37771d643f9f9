package app_test

import (
	"regexp"
	"slices"
	"testing"

	"docent/shared/app"
	"docent/shared/connect"
	"docent/shared/source"
)

// TestEveryProviderIsComplete finds mistakes that would otherwise show only when a source of the
// provider is added, synced or receives a delivery.
func TestEveryProviderIsComplete(t *testing.T) {
	t.Parallel()
	names := map[source.ProviderName]bool{source.Custom: true}
	kinds := map[string]source.SettingKind{}
	for _, p := range app.Providers() {
		if names[p.Name] || !regexp.MustCompile(`^[a-z][a-z_]*$`).MatchString(string(p.Name)) {
			t.Errorf("%q is not a new name", p.Name)
		}
		names[p.Name] = true
		if p.Title == "" {
			t.Errorf("%s has no title", p.Name)
		}
		required := slices.ContainsFunc(p.Settings, func(s source.Setting) bool { return s.Required })
		if len(p.Settings) > 0 && !required && (p.Check == nil || p.Check(source.Settings{}, source.Secrets{}) == nil) {
			t.Errorf("%s: a form without any setting connects a source that is filled by import", p.Name)
		}
		for _, s := range p.Settings {
			if s.Name == "" || s.Flag == "" || s.Help == "" || s.Kind == source.Secret && s.Env == "" || s.Choices != nil && s.Kind != source.Text || s.Required && s.Either != "" {
				t.Errorf("%s: setting %+v is incomplete", p.Name, s)
			}
			for _, name := range []string{"setting " + s.Name, "flag " + s.Flag} {
				if kind, known := kinds[name]; known && kind != s.Kind {
					t.Errorf("%s: another provider has %s of another kind", p.Name, name)
				}
				kinds[name] = s.Kind
			}
		}
		if w := p.Webhook; w != nil && (w.OperationID == "" || w.Label == "" || w.Guide == "" || len(w.Headers) == 0 || w.Verify == nil || w.Read == nil) {
			t.Errorf("%s: the webhook is incomplete", p.Name)
		}
		if p.Opener == nil {
			continue
		}
		if _, ok := p.Opener.(connect.Opener); !ok || p.SyncEvery <= 0 || p.FullScanEvery < p.SyncEvery {
			t.Errorf("%s: its opener is not a connect.Opener, or its times are not set", p.Name)
		}
	}
}
