package team

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"math/big"
	"strings"
)

// Kind is the kind of a key: who its requests act as and what it is for.
type Kind string

// The kinds of keys.
const (
	KindPersonal Kind = "personal" // its user, with the user's role; 1,000 calls per day
	KindTeam     Kind = "team"     // the team; everything except administration
	KindSCIM     Kind = "scim"     // the team; provisioning only
	KindSession  Kind = "session"  // a signed-in browser: its user, with the user's role
	KindAgent    Kind = "agent"    // a program to which a user gave access by OAuth: its user, at /mcp alone
)

// kindRefresh is the kind of the text with which an agent gets a new one. No request can use it.
const kindRefresh Kind = "refresh"

// prefixes are the first part of a key's text, by kind.
var prefixes = map[Kind]string{KindPersonal: "docent_pat_", KindTeam: "docent_team_", KindSCIM: "docent_scim_",
	KindSession: "docent_session_", KindAgent: "docent_agent_", kindRefresh: "docent_refresh_"}

// The text of a key is its prefix, id, "_", secret and checksum. The lengths are
// fixed, so that secret scanners can recognize keys.
const (
	idLength       = 16 // random
	secretLength   = 43 // 32 random bytes
	checksumLength = 6  // CRC-32 (IEEE) of all before the checksum
)

// alphabet is base62 in byte order, so that texts of equal length sort like their numbers.
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// greatestSecret is the secret of 32 bytes 0xff.
var greatestSecret = base62(new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1)), secretLength)

// ParseKey splits the text of a key. It returns false for every text without the exact form of
// a key, so a typing error costs no read.
func ParseKey(text string) (kind Kind, id, secret string, ok bool) {
	for k, prefix := range prefixes {
		rest, found := strings.CutPrefix(text, prefix)
		if !found || len(rest) != idLength+1+secretLength+checksumLength || rest[idLength] != '_' {
			continue
		}
		id, rest = rest[:idLength], rest[idLength+1:]
		secret = rest[:secretLength]
		if isBase62(id) && isBase62(secret) && secret <= greatestSecret && keyText(k, id, secret) == text {
			return k, id, secret, true
		}
	}
	return "", "", "", false
}

func keyText(kind Kind, id, secret string) string {
	text := prefixes[kind] + id + "_" + secret
	return text + base62(big.NewInt(int64(crc32.ChecksumIEEE([]byte(text)))), checksumLength)
}

// hashSecret returns the stored form of a secret.
func hashSecret(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// base62 returns n in width digits, which must be enough.
func base62(n *big.Int, width int) string {
	digits := make([]byte, width)
	rest, digit, base := new(big.Int).Set(n), new(big.Int), big.NewInt(int64(len(alphabet)))
	for i := width - 1; i >= 0; i-- {
		rest.QuoRem(rest, base, digit)
		digits[i] = alphabet[digit.Int64()]
	}
	return string(digits)
}

func isBase62(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune(alphabet, r) })
}

func isKeyID(s string) bool { return len(s) == idLength && isBase62(s) }

func (s *Service) random() io.Reader {
	if s.Random != nil {
		return s.Random
	}
	return rand.Reader
}

func (s *Service) newSecret() (string, error) {
	var raw [32]byte
	if _, err := io.ReadFull(s.random(), raw[:]); err != nil {
		return "", fmt.Errorf("read random bytes: %w", err)
	}
	return base62(new(big.Int).SetBytes(raw[:]), secretLength), nil
}

// newKeyID skips bytes that would make some characters more likely than others.
func (s *Service) newKeyID() (string, error) {
	const fair = 256 / len(alphabet) * len(alphabet)
	id := make([]byte, 0, idLength)
	var buffer [2 * idLength]byte
	for len(id) < idLength {
		if _, err := io.ReadFull(s.random(), buffer[:]); err != nil {
			return "", fmt.Errorf("read random bytes: %w", err)
		}
		for _, b := range buffer {
			if int(b) < fair && len(id) < idLength {
				id = append(id, alphabet[int(b)%len(alphabet)])
			}
		}
	}
	return string(id), nil
}
