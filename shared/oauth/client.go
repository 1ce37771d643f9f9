package oauth

import (
	"encoding/base64"
	"encoding/json"
	"net"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a client.
const (
	MaxName         = 100 // Unicode code points
	MaxRedirectURIs = 10
	maxRedirectURI  = 512 // bytes
	maxClientID     = 4096
)

// Client is a program that registered itself, or that describes itself at an address (document.go). The id of the first
// contains all of it, so that nothing is stored for registrations, which anybody may make; the id of the second is its
// address. A client has no secret: what protects a person is that codes go only to its redirect addresses, with PKCE, and
// that the consent names them.
type Client struct {
	Name         string   `json:"n,omitempty"`
	RedirectURIs []string `json:"r"`
	address      string   // of its description; empty: it registered itself
}

const clientPrefix = "client_"

// ID returns the id of c.
func (c Client) ID() string {
	if c.address != "" {
		return c.address
	}
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // strings always encode
	}
	return clientPrefix + base64.RawURLEncoding.EncodeToString(text)
}

// Register returns the client with that name and those redirect addresses, or an *Error.
func Register(name string, redirectURIs []string) (Client, error) {
	c := Client{Name: strings.TrimSpace(name), RedirectURIs: redirectURIs}
	switch {
	case !isName(c.Name):
		return Client{}, refuse(InvalidClientMetadata, "client_name must have at most 100 printable characters.")
	case len(redirectURIs) == 0 || len(redirectURIs) > MaxRedirectURIs:
		return Client{}, refuse(InvalidRedirectURI, "redirect_uris must name 1 to 10 addresses.")
	}
	for _, u := range redirectURIs {
		if err := checkRedirect(u); err != nil {
			return Client{}, err
		}
	}
	if len(c.ID()) > maxClientID {
		return Client{}, refuse(InvalidRedirectURI, "redirect_uris are too long together.")
	}
	return c, nil
}

// parseClient returns the client of an id, or an *Error for a text that is neither of Register nor the address of a
// description. Of a client that describes itself it knows the id alone.
func parseClient(id string) (Client, error) {
	if isDocument(id) {
		return Client{address: id}, checkDocument(id)
	}
	unknown := refuse(InvalidClient, "client_id names no client. Register the client again.")
	encoded, ok := strings.CutPrefix(id, clientPrefix)
	if !ok || len(id) > maxClientID {
		return Client{}, unknown
	}
	text, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if err != nil {
		return Client{}, unknown
	}
	var c Client
	if json.Unmarshal(text, &c) != nil {
		return Client{}, unknown
	}
	if _, err := Register(c.Name, c.RedirectURIs); err != nil || c.ID() != id {
		return Client{}, unknown
	}
	return c, nil
}

// isName reports whether a program may be called so.
func isName(name string) bool {
	return utf8.RuneCountInString(name) <= MaxName && !strings.ContainsFunc(name, unprintable)
}

// unprintable reports whether a character could make one name look like another.
func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// checkRedirect returns an *Error for an address that no code may be sent to. Those allowed are https,
// http of the machine itself, and the schemes of programs (RFC 8252 section 7).
func checkRedirect(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || len(address) > maxRedirectURI || u.Scheme == "" || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '<' || r == '>' || r == '\\' }):
		return refuse(InvalidRedirectURI, "A redirect address must be an absolute URI of at most 512 characters.")
	case !hasPlainHost(u):
		return refuse(InvalidRedirectURI, "A redirect address must have a host in ASCII, without percent-encoding; write an international name with xn--.")
	case strings.Contains(address, "#"):
		return refuse(InvalidRedirectURI, "A redirect address must have no fragment.")
	case u.User != nil:
		return refuse(InvalidRedirectURI, "A redirect address must have no user.")
	case u.Scheme == "https" && u.Hostname() != "", u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	case u.Scheme == "http" || u.Scheme == "https":
		return refuse(InvalidRedirectURI, "A redirect address must be https, or http on this machine.")
	case harmful(u.Scheme):
		return refuse(InvalidRedirectURI, "A redirect address must not have this scheme.")
	case !strings.HasPrefix(address[len(u.Scheme):], ":/") && !strings.Contains(u.Scheme, "."):
		return refuse(InvalidRedirectURI, "A redirect address of a program must have a slash after its scheme, or a scheme with a dot (RFC 8252 section 7.1).")
	}
	return nil
}

// hasPlainHost reports whether the host of u, which a person is shown, is ASCII. url.Parse decodes a percent-encoded one: its
// letters of other scripts, and characters that turn or break the text, could make it look like another host.
func hasPlainHost(u *url.URL) bool {
	return !strings.ContainsFunc(u.Host, func(r rune) bool { return r <= ' ' || r > '~' })
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// allows reports whether codes for c may be sent to address. The port of a loopback address may
// differ (RFC 8252 section 7.3).
func (c Client) allows(address string) bool {
	if slices.Contains(c.RedirectURIs, address) {
		return true
	}
	if checkRedirect(address) != nil {
		return false
	}
	got, err := url.Parse(address)
	if err != nil || got.Scheme != "http" {
		return false
	}
	return slices.ContainsFunc(c.RedirectURIs, func(registered string) bool {
		want, err := url.Parse(registered)
		return err == nil && want.Scheme == "http" && want.Hostname() == got.Hostname() && want.EscapedPath() == got.EscapedPath() && want.RawQuery == got.RawQuery
	})
}

// hostOf returns what a person should see of a redirect address.
func hostOf(address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return ""
	case isLoopback(u.Hostname()):
		return "a program on your machine"
	case u.Scheme != "https":
		return "the program for " + u.Scheme + ": links"
	}
	return u.Host
}
