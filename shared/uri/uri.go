// Package uri checks which URIs a document may have, and writes them as links. A URI
// is stored byte for byte as sent, because the document's id is derived from it.
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

// Schemes lists the schemes of a document's URI besides http and https, in lower case.
// A scheme with a dot is accepted too, because software names its own schemes by
// reversed domain names (RFC 7595, section 3.8).
var Schemes = []string{
	"confluence", "doi", "file", "ftp", "ftps", "gdrive", "git", "gs", "jira", "linear", "mailto", "msteams", "notion", "obsidian",
	"onenote", "s3", "sftp", "sharepoint", "slack", "ssh", "tag", "tel", "urn", "vscode", "wiki", "zotero",
}

var (
	errAbsolute   = errors.New("must be an absolute URI")
	errWeb        = errors.New("must be an absolute http or https URL")
	errUser       = errors.New("must not name a user or a password")
	errCharacters = errors.New("must not contain blanks, quotes, angle brackets, backslashes, control or bidirectional characters")
	errLost       = errors.New("must not contain U+FFFD, which stands for a character that was lost")
	errPercent    = errors.New("must have two hexadecimal digits after each percent sign")
	errScheme     = errors.New("must have the scheme http or https, another one of the documented list, or one with a dot in its name")
)

// Check returns an error for the client unless a document may have this URI: an
// absolute http or https URL, or a URI of a scheme in Schemes or with a dot. It does
// not check the length.
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

// CheckWeb returns an error for the client unless text is an http or https URL.
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

// isHost reports whether u has a valid host and, if any, a valid port.
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

// checkCharacters returns an error for characters that RFC 3986 does not allow and
// that can change how a URI reads or where it ends. Letters of every script are
// allowed (RFC 3987).
func checkCharacters(text string) error {
	for i, r := range text {
		switch {
		case r == utf8.RuneError: // JSON decoders put it in place of half a surrogate pair, so that two addresses would be one
			return errLost
		case forbidden(r):
			return errCharacters
		case r == '%' && !isEscape(text[i:]):
			return errPercent
		}
	}
	return nil
}

func forbidden(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.Z, unicode.Bidi_Control) || strings.ContainsRune("\"`<>\\", r)
}

// isEscape reports whether text starts with a percent sign and two hexadecimal digits.
func isEscape(text string) bool {
	return len(text) >= 3 && text[0] == '%' && isHex(text[1]) && isHex(text[2])
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// Link returns text with everything percent-encoded that could end a link or hide in
// it: what Check rejects, invisible characters, and brackets except square ones. It
// accepts any text, because older versions of Check were less strict. Link of its
// result returns it unchanged.
func Link(text string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 || forbidden(r) || unicode.In(r, unicode.C) || strings.ContainsRune("(){}|^", r) || r == '%' && !isEscape(text[i:]) {
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

// WebLink returns Link for an http or https URL with a host, otherwise "".
func WebLink(text string) string {
	link := Link(text)
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	return link
}
