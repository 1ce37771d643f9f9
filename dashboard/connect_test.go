package dashboard_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"docent/shared/app"
	"docent/testkit/browser"
)

// TestAProgramIsConnected lets a program ask for access, and calls the tools with its token. Then the
// person ends the access.
func TestAProgramIsConnected(t *testing.T) {
	t.Parallel()
	b, base := signedIn(t)
	codes := make(chan url.Values, 1)
	program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/callback" {
			codes <- r.URL.Query()
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!DOCTYPE html><title>Program</title><h1>You can close this window</h1>"))
	}))
	t.Cleanup(program.Close)
	redirect := program.URL + "/callback"
	var client struct {
		ID string `json:"client_id"`
	}
	send(t, "POST", base+"/oauth/register", "application/json", `{"client_name":"Assistant","redirect_uris":["`+redirect+`"]}`, "", &client)
	const verifier = "a-verifier-of-at-least-forty-three-characters-1"
	sum := sha256.Sum256([]byte(verifier))
	request := url.Values{"response_type": {"code"}, "client_id": {client.ID}, "redirect_uri": {redirect}, "state": {"s"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}}
	request["resource"] = []string{base + "/mcp", "https://other.example/mcp"}
	b.Go(base + "/oauth/authorize?" + request.Encode())
	b.Wait("resource must be")
	request["resource"] = []string{base + "/mcp", base + "/mcp"}
	b.Go(base + "/oauth/authorize?" + request.Encode())
	b.Wait("Assistant")
	b.Wait("a program on your machine")
	b.Click("Give access")
	b.Wait("You can close this window")
	answer := <-codes
	if answer.Get("state") != "s" || answer.Get("iss") != base {
		t.Errorf("answer %v", answer)
	}
	var tokens struct {
		Access string `json:"access_token"`
	}
	send(t, "POST", base+"/oauth/token", "application/x-www-form-urlencoded", url.Values{"grant_type": {"authorization_code"}, "client_id": {client.ID},
		"code": {answer.Get("code")}, "redirect_uri": {redirect}, "code_verifier": {verifier}}.Encode(), "", &tokens)
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	if status := send(t, "POST", base+"/mcp", "application/json", list, tokens.Access, nil); status != 200 {
		t.Errorf("tools: status %d", status)
	}
	b.Go(base + "/dashboard/#/settings/agents")
	b.Wait("Assistant")
	b.Click("Disconnect Assistant")
	b.Click("Cancel")
	b.Click("Disconnect Assistant")
	b.Click("Disconnect program")
	b.Wait("No program is connected")
	if status := send(t, "POST", base+"/mcp", "application/json", list, tokens.Access, nil); status != 401 {
		t.Errorf("tools after the end: status %d", status)
	}
	browser.Value[bool](b, axe(t)+"; true")
	for _, v := range violations(t, b) {
		t.Error(v)
	}
}

// TestAProgramThatDescribesItselfNamesItsHost asks for a program with an address for an id, and refuses it.
func TestAProgramThatDescribesItselfNamesItsHost(t *testing.T) {
	t.Parallel()
	const id = "https://program.example/client.json"
	answers := make(chan url.Values, 1)
	program := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/callback" {
			answers <- r.URL.Query()
		}
	}))
	t.Cleanup(program.Close)
	redirect := program.URL + "/callback"
	b, base := signedInAt(t, serveWith(t, app.Parts{Clients: func(context.Context, string) ([]byte, error) {
		return []byte(`{"client_id":"` + id + `","client_name":"Assistant","redirect_uris":["` + redirect + `"]}`), nil
	}}))
	sum := sha256.Sum256(nil)
	b.Go(base + "/oauth/authorize?" + url.Values{"response_type": {"code"}, "client_id": {id}, "redirect_uri": {redirect},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}}.Encode())
	b.Wait("Its name was read at program.example")
	b.Wait("a program on your machine")
	b.Click("Refuse")
	if answer := <-answers; answer.Get("error") != "access_denied" {
		t.Errorf("answer %v", answer)
	}
}

// TestAProgramThatDoesNotOpen: an answer to a program on the machine leaves the page in place, and browsers do not say that nothing
// opened it.
func TestAProgramThatDoesNotOpen(t *testing.T) {
	t.Parallel()
	b, base := signedIn(t)
	var client struct {
		ID string `json:"client_id"`
	}
	const redirect = "docent-test-program://callback"
	send(t, "POST", base+"/oauth/register", "application/json", `{"client_name":"Assistant","redirect_uris":["`+redirect+`"]}`, "", &client)
	sum := sha256.Sum256(nil)
	b.Go(base + "/oauth/authorize?" + url.Values{"response_type": {"code"}, "client_id": {client.ID}, "redirect_uri": {redirect},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}}.Encode())
	b.Wait("Assistant")
	b.Gone("Your answer was sent.")
	b.Click("Give access")
	b.Wait("Your answer was sent.")
	b.Faults() // the browser's own, that it knows no such program
}

// send sends a request, decodes its reply and returns its status.
func send(t *testing.T, method, address, media, body, key string, reply any) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", media)
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if reply == nil {
		return got.StatusCode
	}
	if err := json.NewDecoder(got.Body).Decode(reply); err != nil {
		t.Fatal(err)
	}
	return got.StatusCode
}
