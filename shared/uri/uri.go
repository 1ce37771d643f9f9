// Package uri decides which addresses are stored, and writes them as links. What is
// stored stays as it was sent, byte for byte, because a document's id is made of it.
package uri

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Schemes lists the schemes of a document's address besides http and https, in lower
// case. A scheme with a dot is taken too: a reversed domain name is how software names
// a scheme of its own (RFC 7595, section 3.8).
var Schemes = []string{
	"confluence", "doi", "file", "ftp", "ftps", "gdrive", "git", "gs", "jira", "linear", "mailto", "msteams", "notion", "obsidian",
	"onenote", "s3", "sftp", "sharepoint", "slack", "ssh", "tag", "tel", "urn", "vscode", "wiki", "zotero",
}

var (
	errAbsolute   = errors.New("must be an absolute URI")
	errWeb        = errors.New("must be an absolute http or https URL")
	errUser       = errors.New("must not name a user or a password")
	errCharacters = errors.New("must not contain blanks, quotes, angle brackets, backslashes, control or bidirectional characters")
	errPercent    = errors.New("must have two hexadecimal digits after each percent sign")
	errScheme     = errors.New("must have the scheme http or https, another one of the documented list, or one with a dot in its name")
)

// Check returns an error whose text says what an address must be, nil for one that a
// document may have: an absolute http or https URL, or a URI of a scheme in Schemes.
// Its length is the caller's to bound.
func Check(text string) error {
	scheme, rest, _ := strings.Cut(text, ":")
	scheme = strings.ToLower(scheme)
	if scheme == "http" || scheme == "https" {
		return CheckWeb(text)
	}
	if err := checkCharacters(text); err != nil {
		return err
	}
	if u, err := url.Parse(text); err != nil || u.Scheme == "" || rest == "" || u.Host != "" && !isHost(u) {
		return errAbsolute
	}
	if !strings.Contains(scheme, ".") && !slices.Contains(Schemes, scheme) {
		return errScheme
	}
	return nil
}

// CheckWeb is Check for addresses that may only be http or https URLs.
func CheckWeb(text string) error {
	if err := checkCharacters(text); err != nil {
		return err
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || !isHost(u) {
		return errWeb
	}
	if u.User != nil {
		return errUser
	}
	return nil
}

// isHost reports whether u names a host, and a port only as one may be.
func isHost(u *url.URL) bool {
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n > 65535 {
			return false
		}
	}
	name := u.Hostname()
	if strings.HasPrefix(u.Host, "[") {
		address, err := netip.ParseAddr(name)
		return err == nil && address.Is6() && address.Zone() == ""
	}
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.M, unicode.N) && !strings.ContainsRune("-._~", r)
	})
}

// checkCharacters refuses characters that RFC 3986 has no place for and that can
// change how an address reads or where it ends. Letters of every script may stand as
// they are (RFC 3987).
func checkCharacters(text string) error {
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"), refused(r):
			return errCharacters
		case r == '%' && !isEscape(text[i:]):
			return errPercent
		}
	}
	return nil
}

func refused(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.Z, unicode.Bidi_Control) || strings.ContainsRune("\"`<>\\", r)
}

// isEscape reports whether text begins with a percent sign and two hexadecimal digits.
func isEscape(text string) bool {
	return len(text) >= 3 && text[0] == '%' && isHex(text[1]) && isHex(text[2])
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// Link returns text with everything percent-encoded that would end a link or hide in
// it: what Check refuses, invisible characters, and brackets but square ones. It takes
// any text, so that addresses stored before Check was as strict make sound links too.
// Link of its own result is that result.
func Link(text string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 || refused(r) || unicode.In(r, unicode.C) || strings.ContainsRune("(){}|^", r) || r == '%' && !isEscape(text[i:]) {
			for _, c := range []byte(text[i : i+size]) {
				b.Write([]byte{'%', digits[c>>4], digits[c&15]})
			}
		} else {
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String()
}

// WebLink is Link for an http or https URL with a host, and "" for everything else.
func WebLink(text string) string {
	link := Link(text)
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	return link
}
