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
			t.Errorf("%s: the dashboard's form, left empty, would connect a source that nothing reads: make a setting Required, or have Check refuse no settings", p.Name)
		}
		for _, s := range p.Settings {
			for problem, wrong := range map[string]bool{"has no Name": s.Name == "", "has no Flag": s.Flag == "", "has no Help": s.Help == "",
				"is a secret without Env": s.Kind == source.Secret && s.Env == "", "has Choices, but is no text": s.Choices != nil && s.Kind != source.Text,
				"is Required, and has Either": s.Required && s.Either != ""} {
				if wrong {
					t.Errorf("%s: setting %q %s", p.Name, s.Name, problem)
				}
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
		if _, ok := p.Opener.(connect.Opener); !ok {
			t.Errorf("%s: its Opener is not a connect.Opener", p.Name)
		}
		if p.SyncEvery <= 0 || p.FullScanEvery < p.SyncEvery {
			t.Errorf("%s: SyncEvery is not set, or FullScanEvery is shorter", p.Name)
		}
	}
}
