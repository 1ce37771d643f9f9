package storedtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Manifest describes a fixture, with replies of the release that wrote it.
type Manifest struct {
	Version string    `json:"version"`
	Commit  string    `json:"commit"` // of the code that wrote it
	Engine  string    `json:"engine"`
	Written time.Time `json:"written"` // by the clock of the installation
	// Callers are the keys with which requests are made, by name. They are valid in the fixture
	// only.
	Callers map[string]string `json:"callers"`
	// Signs are the secrets that sign webhook deliveries, by data source.
	Signs map[string]string `json:"signs"`
	IDs   map[string]string `json:"ids"`  // of records in the fixture, by name
	Tail  string            `json:"tail"` // a cursor of the feed behind its last event
	Reads []Exchange        `json:"reads"`
}

// Exchange is a request and its reply.
type Exchange struct {
	Name   string            `json:"name"`
	Caller string            `json:"caller"` // whose key it carries; empty: none
	Method string            `json:"method"`
	Path   string            `json:"path"` // below /v1
	Header map[string]string `json:"header,omitempty"`
	Body   json.RawMessage   `json:"body,omitempty"`
	Status int               `json:"status"`
	Reply  json.RawMessage   `json:"reply,omitempty"`
	// Prefix: lists of the reply may be longer than they were.
	Prefix bool `json:"prefix,omitempty"`
	// Cursor: the path has a cursor from an earlier reply.
	Cursor bool `json:"cursor,omitempty"`
}

// longText is the length in bytes at which a text is replaced by its digest.
const longText = 600

// Digested returns value, decoded JSON, with long texts replaced by their digests and
// without the members whose names begin with one of skip, at any depth.
func Digested(value any, skip ...string) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			if !slices.ContainsFunc(skip, func(s string) bool { return strings.HasPrefix(name, s) }) {
				out[name] = Digested(member, skip...)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = Digested(element, skip...)
		}
		return out
	case string:
		if len(v) >= longText {
			return digest(v)
		}
	}
	return value
}

func digest(text string) map[string]any {
	sum := sha256.Sum256([]byte(text))
	return map[string]any{"sha256": hex.EncodeToString(sum[:]), "bytes": float64(len(text))}
}

// Differences lists the places where got lacks a value of want. Objects in got may have more
// members, and with prefix its lists may have more elements at the end. Both are decoded JSON.
func Differences(at string, got, want any, prefix bool) []string {
	switch w := want.(type) {
	case map[string]any:
		if text, ok := got.(string); ok {
			got = digest(text)
		}
		g, ok := got.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s is %v, want an object", at, got)}
		}
		var all []string
		for _, name := range slices.Sorted(maps.Keys(w)) {
			member, there := g[name]
			if !there {
				all = append(all, fmt.Sprintf("%s/%s is missing, want %v", at, name, w[name]))
				continue
			}
			all = append(all, Differences(at+"/"+name, member, w[name], prefix)...)
		}
		return all
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) < len(w) || len(g) > len(w) && !prefix {
			return []string{fmt.Sprintf("%s is %v, want %v", at, got, want)}
		}
		var all []string
		for i := range w {
			all = append(all, Differences(fmt.Sprintf("%s/%d", at, i), g[i], w[i], prefix)...)
		}
		return all
	}
	if got != want {
		return []string{fmt.Sprintf("%s is %v, want %v", at, got, want)}
	}
	return nil
}
