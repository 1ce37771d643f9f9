package app

import "testing"

func TestTheCommandToOpenLaterNamesThisServer(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]ServeConfig{
		"docent open":                                   {DataDir: "data", BaseURL: usualBase},
		"docent open --data /var/docent":                {DataDir: "/var/docent", BaseURL: usualBase},
		"docent open --data '/var/my $d'":               {DataDir: "/var/my $d", BaseURL: usualBase},
		"docent open --server http://127.0.0.1:9090/v1": {DataDir: "data", BaseURL: "http://127.0.0.1:9090/v1"},
	} {
		c.Program = "docent"
		if got := openCommand(c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
