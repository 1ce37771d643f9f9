package app

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// agent connects a program in the name of whose session it is, and returns its token.
func (v *canaryTeam) agent(session []string) string {
	v.t.Helper()
	const redirect, verifier = "https://assistant.example/back", "0123456789012345678901234567890123456789012"
	id := v.must(201, "POST", "/oauth/register", map[string]any{"client_name": "Assistant", "redirect_uris": []string{redirect}}, "Content-Type", "application/json").text(v.t, "client_id")
	sum := sha256.Sum256([]byte(verifier))
	const resource = "https://docent.test/v1/mcp"
	decided := v.send(reader{header: session}, "POST", "/oauth/decision", map[string]any{"response_type": "code", "client_id": id, "redirect_uri": redirect, "scope": "read ask", "resource": resource,
		"code_challenge": base64.RawURLEncoding.EncodeToString(sum[:]), "code_challenge_method": "S256", "allow": true}, "Content-Type", "application/json")
	to, err := url.Parse(decided.text(v.t, "redirectTo"))
	if err != nil {
		v.t.Fatal(err)
	}
	form := url.Values{"grant_type": {"authorization_code"}, "client_id": {id}, "code": {to.Query().Get("code")}, "redirect_uri": {redirect}, "code_verifier": {verifier}, "resource": {resource}}
	token := v.send(reader{}, "POST", "/oauth/token", []byte(form.Encode()), "Content-Type", "application/x-www-form-urlencoded")
	if token.status != 200 {
		v.t.Fatalf("%d %s", token.status, token.body)
	}
	return token.text(v.t, "access_token")
}

// send makes a request as r.
func (v *canaryTeam) send(r reader, method, path string, body any, header ...string) reply {
	v.t.Helper()
	text, raw := body.([]byte)
	if !raw && body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			v.t.Fatal(err)
		}
	}
	request := httptest.NewRequestWithContext(v.t.Context(), method, "/v1"+path, strings.NewReader(string(text)))
	if body == nil {
		request.Body, request.ContentLength = http.NoBody, 0
	} else {
		request.Header.Set("Content-Type", "application/json")
	}
	if r.key != "" {
		request.Header.Set("Authorization", "Bearer "+r.key)
	}
	header = append(slices.Clone(r.header), header...)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	v.calls[r.key]++
	w := httptest.NewRecorder()
	v.handler.ServeHTTP(w, request)
	return reply{w.Code, w.Header(), w.Body.Bytes()}
}

// reading is one person who reads by one way at one moment.
type reading struct {
	*canaryTeam
	reader
	may map[string]bool // canaries that no reply may lack the right for
}

func (v *canaryTeam) readingBy(r reader) *reading {
	g := &reading{v, r, map[string]bool{}}
	for _, b := range v.papers {
		if v.mayRead(r, b) {
			for _, w := range b.words() {
				g.may[w] = true
			}
		}
	}
	return g
}

// says returns the reply to a request, which must have no canary that the reader may not see, but for those of the request itself
// and of more.
func (g *reading) says(more map[string]bool, method, path string, body any, header ...string) reply {
	g.t.Helper()
	g.clock.Advance(1e6)
	r := g.send(g.reader, method, path, body, header...)
	asked := strings.ToLower(fmt.Sprint(path, body))
	whole := string(r.body) + fmt.Sprint(r.header)
	for _, word := range g.canariesIn(whole) {
		if !g.may[word] && !more[word] && !strings.Contains(asked, word) {
			g.t.Errorf("%s by %s: %s %s %v shows %s of %s: %d %s", g.name(), g.way, method, path, body, word, g.origin(word), r.status, r.body)
			break
		}
	}
	if r.status >= 500 {
		g.t.Errorf("%s by %s: %s %s %v: %d %s", g.name(), g.way, method, path, body, r.status, r.body)
	}
	return r
}

func (g *reading) name() string {
	if g.who == nil {
		return "the team"
	}
	return g.who.name
}

// origin says whose canary a word is.
func (v *canaryTeam) origin(word string) string {
	for _, all := range []map[string]*paper{v.papers, v.deleted} {
		for uri, b := range all {
			for _, e := range b.old {
				if slices.Contains(e.words, word) {
					return fmt.Sprintf("an earlier version of %s, dead: %t, its rule %v, that of the version %v", uri, b.dead, b.own, e.rule)
				}
			}
			if slices.Contains(b.words(), word) {
				return fmt.Sprintf("%s, dead: %t, its rule %v", uri, b.dead, b.own)
			}
		}
	}
	return "nothing"
}

// seen fails the test unless got are the URIs that the reader may read, of those that of selects. Before all is indexed, some may be missing.
func (g *reading) seen(way string, exact bool, got []string, of func(*paper) bool) {
	g.t.Helper()
	var want []string
	for _, b := range g.papers {
		if g.mayRead(g.reader, b) && of(b) {
			want = append(want, b.uri)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	got = slices.Compact(got)
	for _, uri := range got {
		if !slices.Contains(want, uri) {
			g.t.Errorf("%s by %s: %s shows %s", g.name(), g.way, way, uri)
		}
	}
	if exact && !slices.Equal(got, want) {
		g.t.Errorf("%s by %s: %s shows %v, want %v", g.name(), g.way, way, got, want)
	}
}

func anyPaper(*paper) bool     { return true }
func isDocument(b *paper) bool { return !b.container.items }
func isItem(b *paper) bool     { return b.container.items }

func (v *canaryTeam) everyoneReads() {
	v.t.Helper()
	before := len(v.answers)
	for _, p := range v.people {
		if p.active && slices.ContainsFunc(p.readers, func(r reader) bool { return r.header == nil && v.calls[r.key] > 500 }) {
			v.signsIn(p) // before the day's calls of a key are used up
		}
		ways := slices.Clone(p.readers)
		if !p.active {
			v.isRefused(p)
			continue
		}
		first := v.random.IntN(len(ways))
		for i := range 2 { // two of its ways each time
			v.readsAll(ways[(first+i)%len(ways)])
		}
		v.readsOld(p)
	}
	for _, r := range v.teamReaders() {
		v.readsAll(r)
	}
	v.adminsRead()
	if v.settled { // what was asked and not awaited is answered, with what the asker may read now
		v.settle()
		for _, h := range v.answers[before:] {
			v.readsAnswer(h.by, h)
			h.whole = true
		}
	}
}

// isRefused: who is not active reads nothing by any way.
func (v *canaryTeam) isRefused(p *person) {
	for _, r := range p.readers {
		for _, path := range []string{"/documents", "/answers"} {
			if reply := v.send(r, "GET", path, nil); reply.status != 401 && reply.status != 403 {
				v.t.Errorf("%s by %s: %s: %d", p.name, r.way, path, reply.status)
			}
		}
	}
}

func (v *canaryTeam) readsAll(r reader) {
	v.t.Helper()
	g := v.readingBy(r)
	g.callsTools()
	if r.agent {
		return
	}
	g.lists()
	g.gets()
	g.searches()
	g.asks()
	for _, path := range []string{"/collections", "/data-sources", "/usage", "/usage?groupBy=collection", "/usage/users", "/usage/quotas", "/me"} {
		g.says(nil, "GET", path, nil)
	}
	for _, c := range g.containers() {
		g.says(nil, "GET", "/collections/"+c.id, nil)
	}
}

func (g *reading) containers() []*container { return g.canaryTeam.containers }

func (g *reading) lists() {
	decoded := func(r reply) (uris []string) {
		var list []struct{ URI string }
		if err := json.Unmarshal(r.body, &list); err != nil {
			g.t.Errorf("%d %s", r.status, r.body)
		}
		for _, d := range list {
			uris = append(uris, d.URI)
		}
		return uris
	}
	g.seen("the list", true, decoded(g.says(nil, "GET", "/documents?limit=200", nil)), isDocument)
	var paged []string
	next := fmt.Sprintf("/documents?limit=%d", 1+g.random.IntN(2))
	for next != "" {
		r := g.says(nil, "GET", next, nil)
		uris := decoded(r)
		if len(uris) == 0 && next != "" && len(paged) > 0 {
			g.t.Errorf("%s by %s: a page was announced that is empty", g.name(), g.way)
		}
		paged = append(paged, uris...)
		next = ""
		for link := range strings.SplitSeq(r.header.Get("Link"), ",") {
			if at, rel, ok := strings.Cut(link, ">; rel="); ok && rel == `"next"` {
				next = strings.TrimPrefix(strings.TrimSpace(at), "<https://docent.test/v1")
			}
		}
	}
	g.seen("the list by pages", true, paged, isDocument)
	for _, c := range g.containers() {
		if !c.items {
			if r := g.says(nil, "GET", "/documents?limit=200&collectionId="+c.id, nil); r.status == 200 {
				g.seen("the list of a collection", true, decoded(r), func(b *paper) bool { return b.container == c })
			}
		}
	}
}

// plainReply is a reply without what differs each time.
func plainReply(r reply, id string) string {
	head := maps.Clone(r.header)
	for name := range head {
		if name == "Date" || name == "X-Request-Id" || strings.Contains(strings.ToLower(name), "ratelimit") {
			delete(head, name)
		}
	}
	text := strings.ReplaceAll(string(r.body), r.header.Get("X-Request-Id"), "")
	return strings.ReplaceAll(fmt.Sprint(r.status, head, text), id, "")
}

func (g *reading) gets() {
	all := slices.Concat(slices.Collect(maps.Values(g.papers)), slices.Collect(maps.Values(g.deleted)))
	slices.SortFunc(all, func(a, b *paper) int { return strings.Compare(a.uri, b.uri) })
	var urls []string
	for _, b := range all {
		urls = append(urls, b.uri)
		tag := b.etag
		if tag == "" {
			tag = `"1"`
		}
		for _, c := range [][]string{{"GET", ""}, {"GET", "", "If-None-Match", tag}, {"HEAD", ""}, {"GET", "/original"}, {"GET", "", "Range", "bytes=0-20"}} {
			got := g.says(nil, c[0], "/documents/"+b.id+c[1], nil, c[2:]...)
			if g.mayRead(g.reader, b) && isDocument(b) {
				if c[1] == "" && got.status != 200 && got.status != 304 && got.status != 206 {
					g.t.Errorf("%s by %s: %s: %d %s", g.name(), g.way, b.uri, got.status, got.body)
				}
				continue
			}
			absent := uuid.NewString()
			want := g.says(nil, c[0], "/documents/"+absent+c[1], nil, c[2:]...)
			limited := g.reader.containers != nil && got.status == 403 && !b.dead && (g.who == nil || g.personReads(g.who, b))
			if !limited && plainReply(got, b.id) != plainReply(want, absent) {
				g.t.Errorf("%s by %s: %v of %s: %s, and what is not there: %s", g.name(), g.way, c, b.uri, plainReply(got, b.id), plainReply(want, absent))
			}
		}
	}
	if g.who != nil && !g.who.admin {
		for _, b := range all[:min(2, len(all))] {
			g.says(nil, "GET", "/documents/"+b.id+"/access?user="+g.who.id, nil)
		}
	}
	for some := range slices.Chunk(urls, 10) {
		var got struct {
			Results []struct {
				URL   string
				Error any
			}
		}
		if r := g.says(nil, "POST", "/context/get", map[string]any{"urls": some}); json.Unmarshal(r.body, &got) != nil {
			g.t.Errorf("%d %s", r.status, r.body)
		}
		var read []string
		for _, r := range got.Results {
			if r.Error == nil {
				read = append(read, r.URL)
			}
		}
		g.seen("the contents by URL", true, read, func(b *paper) bool { return slices.Contains(some, b.uri) })
	}
}

type foundSources struct{ Sources []struct{ URL string } }

func (f foundSources) urls() (urls []string) {
	for _, s := range f.Sources {
		urls = append(urls, s.URL)
	}
	return urls
}

func (g *reading) searches() {
	const query = "Where is the kirschkern kept in the cellar?"
	search := func(space string, body map[string]any) []string {
		var f foundSources
		if r := g.says(nil, "POST", "/context/search"+space, body); r.status != 200 || json.Unmarshal(r.body, &f) != nil {
			g.t.Errorf("%s: %d %s", space, r.status, r.body)
		}
		return f.urls()
	}
	for space, of := range map[string]func(*paper) bool{"": anyPaper, "/documentation": isDocument, "/issues": isItem, "/code": func(*paper) bool { return false }} {
		g.seen("a search in "+space, g.settled && (g.reader.containers == nil || space != "/code"), search(space, map[string]any{"query": query, "limit": 50, "explain": true}), of)
	}
	g.seen("a search with a filter", g.settled, search("", map[string]any{"query": query, "limit": 50, "filter": map[string]any{"kind": "paper"}}), isDocument)
	all := slices.Concat(slices.Collect(maps.Values(g.papers)), slices.Collect(maps.Values(g.deleted)))
	slices.SortFunc(all, func(a, b *paper) int { return strings.Compare(a.uri, b.uri) })
	for _, b := range all {
		got := search("", map[string]any{"query": b.call, "explain": true})
		if g.settled && g.mayRead(g.reader, b) && !slices.Contains(got, b.uri) {
			g.t.Errorf("%s by %s: %s is not found by its word %s: %v", g.name(), g.way, b.uri, b.call, got)
		}
		got = search("", map[string]any{"query": query, "filter": map[string]any{"label": b.label}, "explain": true})
		if g.settled && isDocument(b) && g.mayRead(g.reader, b) != slices.Contains(got, b.uri) {
			g.t.Errorf("%s by %s: %s by its metadata: %v", g.name(), g.way, b.uri, got)
		}
	}
	for _, effort := range []string{"low", "high"} {
		g.says(nil, "POST", "/context/research", map[string]any{"query": query, "effort": effort})
	}
	g.says(nil, "POST", "/context/research", map[string]any{"query": query}, "Accept", "text/event-stream")
	for _, body := range []map[string]any{{"query": "newest issues"}, {"query": "kirschkern"}, {"query": "newest issues", "limit": 1}} {
		var f foundSources
		r := g.says(nil, "POST", "/context/query/issues", body)
		if r.status != 200 || json.Unmarshal(r.body, &f) != nil {
			g.t.Errorf("%d %s", r.status, r.body)
		}
		g.seen(fmt.Sprintf("a query %v", body), body["limit"] == nil && (g.settled || body["query"] == "newest issues"), f.urls(), isItem)
	}
}

func (g *reading) callsTools() {
	message := func(method string, params any) reply {
		return g.says(nil, "POST", "/mcp", map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, "Accept", "application/json, text/event-stream", "MCP-Protocol-Version", "2025-06-18")
	}
	var urls []string
	for _, all := range []map[string]*paper{g.papers, g.deleted} {
		urls = append(urls, slices.Sorted(maps.Keys(all))...)
	}
	for name, arguments := range map[string]map[string]any{
		"context_search_documentation": {"query": "kirschkern", "limit": 50}, "context_search_issues": {"query": "kirschkern", "limit": 50}, "context_research": {"query": "Where is the kirschkern kept?"},
		"context_query_issues": {"query": "newest issues"}, "context_get_urls": {"urls": urls[:min(10, len(urls))]}, "ask": {"question": "Where is the kirschkern kept?"},
	} {
		var f struct {
			Result struct {
				IsError           bool
				StructuredContent struct {
					foundSources
					Results []struct {
						URL   string
						Error any
					}
				}
			}
		}
		if len(urls) == 0 && name == "context_get_urls" {
			continue
		}
		r := message("tools/call", map[string]any{"name": name, "arguments": arguments})
		if r.status != 200 || json.Unmarshal(r.body, &f) != nil || f.Result.IsError {
			g.t.Errorf("%s by %s: %s: %d %s", g.name(), g.way, name, r.status, r.body)
		}
		got := f.Result.StructuredContent.urls()
		switch name {
		case "context_search_documentation":
			g.seen(name, g.settled, got, isDocument)
		case "context_search_issues":
			g.seen(name, g.settled, got, isItem)
		case "context_get_urls":
			for _, x := range f.Result.StructuredContent.Results {
				if x.Error == nil {
					got = append(got, x.URL)
				}
			}
			g.seen(name, true, got, func(b *paper) bool { return slices.Contains(urls[:min(10, len(urls))], b.uri) })
		}
	}
	message("resources/list", map[string]any{})
	for _, u := range urls[:min(3, len(urls))] {
		message("resources/read", map[string]any{"uri": u})
	}
}

// adminsRead: what is shown to administrators, and sent to webhook endpoints, has no text of a document, and events have titles only of
// what everyone could read at some time.
func (v *canaryTeam) adminsRead() {
	none := map[string]bool{}
	of := reading{v, reader{way: "an admin", key: v.key}, none}
	for _, path := range []string{"/security-events?limit=200", "/security-events?limit=200&eventType=document.access_changed"} {
		of.says(v.shownOnce, "GET", path, nil)
	}
	for _, path := range []string{"/usage/unanswered", "/usage?groupBy=collection", "/webhook-endpoints", "/api-keys", "/data-sources"} {
		of.says(nil, "GET", path, nil)
	}
	v.posting.Lock()
	defer v.posting.Unlock()
	for _, word := range v.canariesIn(string(v.posted)) {
		if !v.shownOnce[word] {
			v.t.Errorf("a webhook delivery has %s of %s: %s", word, v.origin(word), v.posted)
			return
		}
	}
	v.posted = nil
}
