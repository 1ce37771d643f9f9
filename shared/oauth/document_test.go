package oauth

import (
	"errors"
	"strings"
	"testing"
)

const described = "https://program.example/client.json"

func TestADescriptionSaysWhereCodesMayGo(t *testing.T) {
	t.Parallel()
	c, err := parseDocument(described, []byte(`{"client_id":"`+described+`","client_name":" Program ","logo_uri":"x",
		"redirect_uris":["https://program.example/cb","http://localhost:*/cb","javascript:alert(1)","http://127.0.0.1/cb"],
		"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"private_key_jwt","client_secret":null}`))
	if err != nil || c.Name != "Program" || c.ID() != described || c.publisher() != "program.example" {
		t.Fatalf("%+v, %v", c, err)
	}
	for address, want := range map[string]bool{
		"https://program.example/cb": true, "http://127.0.0.1:9/cb": true, "javascript:alert(1)": false, "http://localhost:1/cb": false, "https://program.example/other": false,
	} {
		if got := c.allows(address); got != want {
			t.Errorf("%s: %v, want %v", address, got, want)
		}
	}
}

func TestDescriptionsThatAreRefused(t *testing.T) {
	t.Parallel()
	const id, to = `"client_id":"` + described + `"`, `"redirect_uris":["https://program.example/cb"]`
	for name, text := range map[string]string{
		"not JSON":           `<html>`,
		"a list":             `[]`,
		"of another address": `{"client_id":"https://program.example/other.json",` + to + `}`,
		"of none":            `{` + to + `}`,
		"with a secret":      `{` + id + `,` + to + `,"client_secret":"x"}`,
		"with one to share":  `{` + id + `,` + to + `,"token_endpoint_auth_method":"client_secret_post"}`,
		"for other grants":   `{` + id + `,` + to + `,"grant_types":["client_credentials"]}`,
		"for other replies":  `{` + id + `,` + to + `,"response_types":["token"]}`,
		"a name of two":      `{` + id + `,` + to + `,"client_name":"a\nb"}`,
		"a long name":        `{` + id + `,` + to + `,"client_name":"` + strings.Repeat("x", MaxName+1) + `"}`,
		"no address":         `{` + id + `}`,
		"no usable address":  `{` + id + `,"redirect_uris":["http://program.example/cb"]}`,
		"too large":          `{` + id + `,` + to + `,"x":"` + strings.Repeat("x", MaxDocument) + `"}`,
	} {
		_, err := parseDocument(described, []byte(text))
		var refused *Error
		if !errors.As(err, &refused) || refused.Code != InvalidClient || !strings.Contains(refused.Description, described) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAddressesOfDescriptions(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		described: true,
		"https://program.example:8443/a/b?version=2":          true,
		"https://program.example":                             false,
		"https://program.example/":                            false,
		"https://program.example/a/../b":                      false,
		"https://program.example/a/%2e%2e/b":                  false,
		"https://program.example/a#b":                         false,
		"https://program.example/a b":                         false,
		"https://ada:secret@program.example/a":                false,
		"https:///client.json":                                false,
		"https://program.example/" + strings.Repeat("x", 500): false,
		"http://program.example/client.json":                  false,
		"HTTPS://program.example/client.json":                 false,
		"https://prögram.example/client.json":                 false,
		"https://program.example/client.json\u202e":           false,
		"https://program.example:port/client.json":            false,
	} {
		c, err := parseClient(id)
		if (err == nil) != want {
			t.Errorf("%s: %v", id, err)
		}
		if err == nil && (c.ID() != id || c.allows("https://program.example/cb")) {
			t.Errorf("%s is the client %+v", id, c)
		}
	}
}

func FuzzDescription(f *testing.F) {
	f.Add(`{"client_id":"` + described + `","client_name":"Program","redirect_uris":["https://program.example/cb"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseDocument(described, []byte(text))
		if err != nil {
			return
		}
		if c.ID() != described || len(c.RedirectURIs) == 0 {
			t.Fatalf("%+v", c)
		}
		for _, to := range c.RedirectURIs {
			if !c.allows(to) || checkRedirect(to) != nil {
				t.Errorf("codes may go to %q", to)
			}
		}
	})
}
