package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// secretPrefix begins every secret, so that scanners find them.
const secretPrefix = "whsec_"

// secrets are the secrets of an endpoint, which are stored encrypted.
type secrets struct {
	Current  string        `json:"current"`
	Previous string        `json:"previous,omitempty"` // until Endpoint.PreviousSecretExpiresAt
	Older    []olderSecret `json:"older,omitempty"`    // those before it whose overlap had not ended at the last rotation
}

type olderSecret struct {
	Secret string `json:"secret"`
	Until  int64  `json:"until"` // Unix milliseconds
}

// maxOlder bounds the older secrets, and so the length of the header with the signatures.
const maxOlder = 3

// rotated returns the secrets after a rotation at now. It keeps the earlier ones that still sign. until is how long
// s.Previous signs; nil: it does not. Without an overlap, only the new secret signs.
func (s secrets) rotated(overlap time.Duration, until *time.Time, now time.Time) secrets {
	next := secrets{Current: newSecret()}
	if overlap <= 0 {
		return next
	}
	next.Previous = s.Current
	if until != nil && s.Previous != "" {
		next.Older = append(next.Older, olderSecret{s.Previous, until.UnixMilli()})
	}
	next.Older = slices.DeleteFunc(append(next.Older, s.Older...), func(o olderSecret) bool { return o.Until <= now.UnixMilli() })
	next.Older = next.Older[:min(len(next.Older), maxOlder)]
	return next
}

func newSecret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(b)
}

// about returns the text that the secrets of an endpoint are bound to.
func about(teamID, id string) string { return teamID + "/webhook/" + id }

func (s *Service) seal(ctx context.Context, teamID, id string, all secrets) ([]byte, error) {
	text, err := json.Marshal(all)
	if err != nil {
		return nil, fmt.Errorf("encode secrets: %w", err)
	}
	sealed, err := s.Seal(ctx, text, about(teamID, id))
	if err != nil {
		return nil, fmt.Errorf("encrypt secrets: %w", err)
	}
	return sealed, nil
}

func (s *Service) open(ctx context.Context, teamID string, e Endpoint) (all secrets, err error) {
	text, err := s.Open(ctx, e.sealed, about(teamID, e.ID))
	if err != nil {
		return all, fmt.Errorf("decrypt secrets of webhook endpoint %s: %w", e.ID, err)
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return all, fmt.Errorf("decode secrets of webhook endpoint %s: %w", e.ID, err)
	}
	return all, nil
}

// signatures returns the value of the header webhook-signature: one signature by each secret that
// is valid at now.
func (e Endpoint) signatures(all secrets, id string, body []byte, now time.Time) (string, error) {
	valid := []string{all.Current}
	if until := e.PreviousSecretExpiresAt; until != nil && now.Before(*until) && all.Previous != "" {
		valid = append(valid, all.Previous)
	}
	for _, o := range all.Older {
		if now.UnixMilli() < o.Until {
			valid = append(valid, o.Secret)
		}
	}
	for i, secret := range valid {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
		if err != nil {
			return "", fmt.Errorf("a secret of webhook endpoint %s is damaged", e.ID)
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + strconv.FormatInt(now.Unix(), 10) + "."))
		mac.Write(body)
		valid[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(valid, " "), nil
}
