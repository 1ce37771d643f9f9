package team_test

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"

	"docent/shared/team"
)

const someID = "0123456789ABCDEz"

// fixedKey was computed in another language from the secret bytes 0 to 31, so that the form of
// keys cannot change unnoticed.
const fixedKey = "docent_pat_0123456789ABCDEz_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf1LotRj"

func TestKeyTextForm(t *testing.T) {
	t.Parallel()
	raw := make([]byte, 32)
	for i := range raw {
		raw[i] = byte(i)
	}
	if got := team.KeyText(team.KindPersonal, someID, team.SecretOf(raw)); got != fixedKey {
		t.Errorf("key text %s, want %s", got, fixedKey)
	}
}

func TestKeyTextRoundTrip(t *testing.T) {
	t.Parallel()
	random := rand.NewChaCha8([32]byte{1})
	secrets := [][]byte{make([]byte, 32), bytes.Repeat([]byte{0xff}, 32), append(make([]byte, 31), 1)}
	for range 500 {
		raw := make([]byte, 32)
		random.Read(raw)
		secrets = append(secrets, raw)
	}
	seen := map[string]bool{}
	for _, raw := range secrets {
		for kind, length := range map[team.Kind]int{team.KindPersonal: 77, team.KindTeam: 78, team.KindSCIM: 78} {
			secret := team.SecretOf(raw)
			text := team.KeyText(kind, someID, secret)
			if len(text) != length || seen[text] {
				t.Fatalf("%s has %d bytes, want %d, or is not unique", text, len(text), length)
			}
			seen[text] = true
			gotKind, gotID, gotSecret, ok := team.ParseKey(text)
			if !ok || gotKind != kind || gotID != someID || gotSecret != secret {
				t.Fatalf("ParseKey(%s) = %s, %s, %s, %v", text, gotKind, gotID, gotSecret, ok)
			}
		}
	}
}

func TestParseKeyRefusesEveryTypingError(t *testing.T) {
	t.Parallel()
	text := team.KeyText(team.KindPersonal, someID, team.SecretOf(bytes.Repeat([]byte{0x5a}, 32)))
	for i := range len(text) {
		for _, c := range []byte("0Az_- \x00\xff") {
			if c == text[i] {
				continue
			}
			wrong := text[:i] + string([]byte{c}) + text[i+1:]
			if _, _, _, ok := team.ParseKey(wrong); ok {
				t.Errorf("accepted %q", wrong)
			}
		}
		if i > 0 && text[i] != text[i-1] {
			swapped := text[:i-1] + string([]byte{text[i], text[i-1]}) + text[i+1:]
			if _, _, _, ok := team.ParseKey(swapped); ok {
				t.Errorf("accepted %q with two characters swapped", swapped)
			}
		}
		if _, _, _, ok := team.ParseKey(text[:i] + text[i+1:]); ok {
			t.Errorf("accepted the key without character %d", i)
		}
	}
}

// TestParseKeyRefusesForgeries uses right checksums throughout.
func TestParseKeyRefusesForgeries(t *testing.T) {
	t.Parallel()
	secret := team.SecretOf(bytes.Repeat([]byte{0x5a}, 32))
	withChecksum := func(text string) string { return text + checksum(text) }
	for name, text := range map[string]string{
		"empty":                     "",
		"only a prefix":             "docent_pat_",
		"unknown kind":              withChecksum("docent_root_" + someID + "_" + secret),
		"another product":           withChecksum("dozent_pat_" + someID + "_" + secret),
		"upper case prefix":         withChecksum("DOCENT_pat_" + someID + "_" + secret),
		"short id":                  withChecksum("docent_pat_" + someID[1:] + "_" + secret),
		"long secret":               withChecksum("docent_pat_" + someID + "_0" + secret),
		"no separator":              withChecksum("docent_pat_" + someID + "0" + secret),
		"id outside the alphabet":   withChecksum("docent_pat_" + "0123456789ABCDE-" + "_" + secret),
		"NUL in the id":             withChecksum("docent_pat_" + "0123456789ABCDE\x00" + "_" + secret),
		"secret beyond 32 bytes":    withChecksum("docent_pat_" + someID + "_" + strings.Repeat("z", 43)),
		"space after":               withChecksum("docent_pat_"+someID+"_"+secret) + " ",
		"newline before":            "\n" + withChecksum("docent_pat_"+someID+"_"+secret),
		"checksum of another key":   "docent_pat_" + someID + "_" + secret + checksum("docent_pat_"+someID+"_"),
		"team text, personal check": "docent_team_" + someID + "_" + secret + checksum("docent_pat_"+someID+"_"+secret),
	} {
		if _, _, _, ok := team.ParseKey(text); ok {
			t.Errorf("%s: accepted %q", name, text)
		}
	}
	if _, _, _, ok := team.ParseKey(withChecksum("docent_pat_" + someID + "_" + team.GreatestSecret)); !ok {
		t.Error("refused the greatest secret")
	}
}

// checksum computes the contract's checksum in another way.
func checksum(text string) string {
	sum := crc32.Checksum([]byte(text), crc32.MakeTable(0xedb88320))
	out := ""
	for range 6 {
		d := byte(sum % 62)
		switch {
		case d < 10:
			d += '0'
		case d < 36:
			d += 'A' - 10
		default:
			d += 'a' - 36
		}
		out = string(rune(d)) + out
		sum /= 62
	}
	return out
}

func FuzzParseKey(f *testing.F) {
	for i, kind := range []team.Kind{team.KindPersonal, team.KindTeam, team.KindSCIM} {
		f.Add(team.KeyText(kind, someID, team.SecretOf(bytes.Repeat([]byte{byte(i * 77)}, 32))))
	}
	f.Add(fmt.Sprintf("docent_pat_%s_", someID))
	f.Fuzz(func(t *testing.T, text string) {
		kind, id, secret, ok := team.ParseKey(text)
		switch {
		case !ok:
			if kind != "" || id != "" || secret != "" {
				t.Fatalf("refused, and yet %s, %s, %s", kind, id, secret)
			}
		case team.KeyText(kind, id, secret) != text:
			t.Fatalf("%q is not how %s, %s, %s is written", text, kind, id, secret)
		case len(id) != 16 || len(secret) != 43 || secret > team.GreatestSecret:
			t.Fatalf("accepted %q", text)
		}
	})
}
