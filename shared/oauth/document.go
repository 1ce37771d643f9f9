package oauth

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// MaxDocument is how many bytes the description of a client may have.
const MaxDocument = 16 << 10

// maxDocumentAddress bounds the address of a description, in bytes.
const maxDocumentAddress = 512

// isDocument reports whether a client_id is the address of a description: a Client ID Metadata Document
// (draft-ietf-oauth-client-id-metadata-document section 3).
func isDocument(id string) bool { return strings.HasPrefix(id, "https://") }

// checkDocument returns an *Error for an address that no description may have (section 3 of the draft).
func checkDocument(id string) error {
	u, err := url.Parse(id)
	switch {
	case err != nil || len(id) > maxDocumentAddress || u.Hostname() == "" || u.User != nil || strings.Contains(id, "#") ||
		strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }):
		return refuse(InvalidClient, "client_id must be an https address of at most 512 characters, without a user and a fragment.")
	case !hasPlainHost(u):
		return refuse(InvalidClient, "client_id must have a host in ASCII, without percent-encoding; write an international name with xn--.")
	case u.Path == "" || u.Path == "/":
		return refuse(InvalidClient, "client_id must be an address with a path.")
	case slices.ContainsFunc(strings.Split(u.Path, "/"), func(segment string) bool { return segment == "." || segment == ".." }):
		return refuse(InvalidClient, "client_id must be an address without the path segments . and ..")
	}
	return nil
}

// client returns the client of an id. It reads the description of one that describes itself.
func (s *Service) client(ctx context.Context, id string) (Client, error) {
	c, err := parseClient(id)
	if err != nil || c.address == "" {
		return c, err
	}
	if s.ReadDocument == nil {
		return Client{}, refuse(InvalidClient, "client_id must be one of a registered client: this server reads no descriptions of clients.")
	}
	text, err := s.ReadDocument(ctx, id)
	if err != nil {
		return Client{}, err
	}
	return parseDocument(id, text)
}

// Unreadable returns the *Error of a description that cannot be read, for a ReadDocument. The reason continues the
// sentence "client_id, ..., cannot be used:".
func Unreadable(address, reason string) error {
	return refuse(InvalidClient, "client_id, "+address+", cannot be used: "+reason+".")
}

// parseDocument returns the client that a description at an address describes (section 4 of the draft). Redirect addresses that no
// code may be sent to are left out. A client that would sign its requests for tokens (private_key_jwt) is taken as one
// that does not, because this server asks for no signature.
func parseDocument(address string, text []byte) (Client, error) {
	var in struct {
		ID           string   `json:"client_id"`
		Name         string   `json:"client_name"`
		RedirectURIs []string `json:"redirect_uris"`
		Grants       []string `json:"grant_types"`
		Responses    []string `json:"response_types"`
		Auth         string   `json:"token_endpoint_auth_method"`
		Secret       any      `json:"client_secret"`
	}
	if len(text) > MaxDocument {
		return Client{}, Unreadable(address, "it has more than 16 KB")
	}
	if json.Unmarshal(text, &in) != nil {
		return Client{}, Unreadable(address, "it is not the metadata of a client as JSON")
	}
	c := Client{Name: strings.TrimSpace(in.Name), address: address,
		RedirectURIs: slices.DeleteFunc(in.RedirectURIs, func(to string) bool { return checkRedirect(to) != nil })}
	switch {
	case in.ID != address:
		return Client{}, Unreadable(address, "its client_id is another one")
	case in.Secret != nil || strings.HasPrefix(in.Auth, "client_secret_"):
		return Client{}, Unreadable(address, "it has a secret, which everybody could read")
	case in.Grants != nil && !slices.Contains(in.Grants, "authorization_code"):
		return Client{}, Unreadable(address, "its grant_types do not contain authorization_code")
	case in.Responses != nil && !slices.Contains(in.Responses, "code"):
		return Client{}, Unreadable(address, "its response_types do not contain code")
	case !isName(c.Name):
		return Client{}, Unreadable(address, "its client_name has more than 100 characters, or some that cannot be printed")
	case len(c.RedirectURIs) == 0:
		return Client{}, Unreadable(address, "its redirect_uris name no address that a code may be sent to")
	}
	return c, nil
}

// publisher returns the host that describes c, or "" for a client that registered itself.
func (c Client) publisher() string {
	u, err := url.Parse(c.address)
	if err != nil {
		return ""
	}
	return u.Host
}
