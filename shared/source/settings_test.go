package source_test

import (
	"encoding/json"
	"slices"
	"testing"

	"docent/shared/source"
)

func TestConfigureSplitsSecretsAndRejectsForeignSettings(t *testing.T) {
	t.Parallel()
	s := &source.Service{Providers: []source.Provider{
		{Name: "hub", Settings: []source.Setting{{Name: "projects", Kind: source.List}, {Name: "token", Kind: source.Secret}}},
		{Name: "wiki", Settings: []source.Setting{{Name: "address"}}},
	}}
	for text, ok := range map[string]bool{
		`{"projects":["a","b"],"token":"t","unknown":7}`:      true,
		`{"projects":["a","b"],"token":"t","address":""}`:     true, // absent
		`{"projects":["a","b"],"token":"t","projekte":"x"}`:   true,
		`{"projects":["a","b"],"token":"t","Projects":["a"]}`: false,
		`{"projects":["a","b"],"token":"t","project":"a"}`:    false,
		`{"projects":["a","b"],"token":"t","to_ken":"x"}`:     false,
		`{"projects":["a","b"],"token":"t","address":"x"}`:    false,
		`{"projects":"a","token":"t"}`:                        false,
		`{"projects":["a","b"],"token":["t"]}`:                false,
	} {
		var given source.Settings
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			t.Fatal(err)
		}
		settings, secrets, err := s.Configure("hub", given)
		if (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
		if err != nil {
			continue
		}
		stored, err := json.Marshal(settings)
		if err != nil || string(stored) != `{"projects":["a","b"]}` || !slices.Equal(settings.List("projects"), []string{"a", "b"}) {
			t.Errorf("%s: settings are %s, %v", text, stored, err)
		}
		if len(secrets) != 1 || secrets["token"] != "t" {
			t.Errorf("%s: secrets are not what was given", text)
		}
	}
}
