package httpapi_test

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"

	"docent/shared/httpapi"
)

// lists are the operations that page.
var lists = []string{"collections", "documents", "answers"}

// threeOfEach gives the team three collections, documents and answers.
func (a *api) threeOfEach(x tenant) {
	a.t.Helper()
	for n := range 3 {
		name := string(rune('a' + n))
		a.putDocument(x.key, a.newCollection(x.key, name), "https://"+x.Name+".test/"+name, name, name)
		a.ask(x.key, x.ID[:24]+numberedID(n)[24:], name).want(a.t, 204)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	a.threeOfEach(acme)
	for _, list := range lists {
		for limit, length := range map[string]int{
			"1": 1, "2": 2, "200": 3, "": 3, "0": -1, "201": -1, "-1": -1, "abc" + marker: -1, "1.5": -1, "0x10": -1, "+-1": -1,
			"99999999999999999999": -1, "%20": -1, "null": -1, "1,2": -1,
		} {
			t.Run(list+"/"+limit, func(t *testing.T) {
				t.Parallel()
				a := a.in(t)
				c := call{"GET", "/" + list + "?limit=" + limit, acme.key, nil, nil}
				if length < 0 {
					a.refused(c, 400, "invalid-request")
					return
				}
				var got []any
				a.do(c).want(t, 200).json(t, &got)
				if len(got) != length {
					t.Errorf("%d entries, want %d", len(got), length)
				}
			})
		}
		t.Run(list+"/no limit, unknown parameters", func(t *testing.T) {
			t.Parallel()
			var got []any
			a.in(t).do(call{"GET", "/" + list + "?offset=2&LIMIT=1&x;y=" + marker, acme.key, nil, nil}).want(t, 200).json(t, &got)
			if len(got) != 3 {
				t.Errorf("%d entries, want 3", len(got))
			}
		})
	}
}

func TestCursorsThatAreNone(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme, rival := a.newTenant("acme"), a.newTenant("rival")
	a.threeOfEach(acme)
	a.threeOfEach(rival)
	cursorOf := func(key, list string) string {
		return a.do(call{"GET", "/" + list + "?limit=1", key, nil, nil}).want(t, 200).link(t, "next").Get("after")
	}
	for i, list := range lists {
		good := cursorOf(acme.key, list)
		a.do(call{"GET", "/" + list + "?after=" + good, acme.key, nil, nil}).want(t, 200)
		raw, err := base64.RawURLEncoding.DecodeString(good)
		if err != nil {
			t.Fatal(err)
		}
		flipped := []byte(string(raw))
		flipped[len(flipped)-1] ^= 1
		bad := map[string]string{
			"text": marker, "a space": " ", "not base64": good + "!", "padded": good + "=", "cut off": good[:len(good)-4], "longer": good + "AAAA",
			"one letter": "A", "flipped": base64.RawURLEncoding.EncodeToString(flipped), "sum only": base64.RawURLEncoding.EncodeToString(raw[:8]),
			"of another list":    cursorOf(acme.key, lists[(i+1)%len(lists)]),
			"of another team":    cursorOf(rival.key, list),
			"forged with NUL":    httpapi.EncodeCursor(acme.ID, list, "\x00"+marker),
			"forged, not UTF-8":  httpapi.EncodeCursor(acme.ID, list, "\xff"+marker),
			"forged and long":    httpapi.EncodeCursor(acme.ID, list, strings.Repeat("9", 1025)),
			"forged and empty":   httpapi.EncodeCursor(acme.ID, list, ""),
			"10000 of a letter":  strings.Repeat("A", 10000),
			"in another team id": httpapi.EncodeCursor(rival.ID, list, "1#1"),
		}
		for _, direction := range []string{"after", "before"} {
			for name, cursor := range bad {
				t.Run(list+"/"+direction+"/"+name, func(t *testing.T) {
					t.Parallel()
					a.in(t).refused(call{"GET", "/" + list + "?" + url.Values{direction: {cursor}}.Encode(), acme.key, nil, nil}, 400, "invalid-cursor")
				})
			}
			t.Run(list+"/"+direction+"/too long", func(t *testing.T) {
				t.Parallel()
				a.in(t).refused(call{"GET", "/" + list + "?" + direction + "=" + strings.Repeat("A", 10001), acme.key, nil, nil}, 400, "invalid-request")
			})
			t.Run(list+"/"+direction+"/forged", func(t *testing.T) { // a position is no secret: it can only hold what the team may see
				t.Parallel()
				for _, position := range []string{"0", "~", "9999999999999#", "\U0010ffff"} {
					a.in(t).do(call{"GET", "/" + list + "?" + direction + "=" + httpapi.EncodeCursor(acme.ID, list, position), acme.key, nil, nil}).want(t, 200)
				}
			})
		}
		t.Run(list+"/both", func(t *testing.T) {
			t.Parallel()
			a.in(t).refused(call{"GET", "/" + list + "?after=" + good + "&before=" + good, acme.key, nil, nil}, 400, "invalid-request")
		})
		t.Run(list+"/empty ones count as absent", func(t *testing.T) {
			t.Parallel()
			for _, query := range []string{"after=", "before=", "after=&before=", "after=&before=&limit="} {
				var got []any
				a.in(t).do(call{"GET", "/" + list + "?" + query, acme.key, nil, nil}).want(t, 200).json(t, &got)
				if len(got) != 3 {
					t.Errorf("%s: %d entries, want 3", query, len(got))
				}
			}
			a.in(t).do(call{"GET", "/" + list + "?before=&after=" + good, acme.key, nil, nil}).want(t, 200)
		})
	}
}
