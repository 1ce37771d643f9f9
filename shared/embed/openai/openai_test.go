package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/embed"
	"docent/shared/embed/embedtest"
	"docent/shared/embed/openai"
)

const size = 64

func open(t *testing.T, s *embedtest.Server, model string) *openai.Engine {
	t.Helper()
	e, err := openai.New(s.OpenAI(), model, size, openai.Options{Key: s.Key})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func serve(t *testing.T) *embedtest.Server {
	t.Helper()
	s := embedtest.Serve(t, embedtest.New(embed.Model{Name: "words", Size: size}))
	s.Key = "key"
	return s
}

func TestContract(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*embedtest.Server){
		"the model's own size":            func(*embedtest.Server) {},
		"another size, which is asked":    func(s *embedtest.Server) { s.Native = 2 * size },
		"no key":                          func(s *embedtest.Server) { s.Key = "" },
		"a server that refuses to cut":    func(s *embedtest.Server) { s.MaxText = 700 },
		"a server that takes very little": func(s *embedtest.Server) { s.MaxText = 500 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			change(s)
			embedtest.Run(t, open(t, s, "m"))
		})
	}
}

// errTemporary is any error that is none of embed's.
var errTemporary = errors.New("temporary")

func TestServersThatMisbehave(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		does  []embedtest.Behaviour
		asked int
		want  error
	}{
		{"fine", []embedtest.Behaviour{embedtest.Embeds}, 1, nil},
		{"throttled, then fine", []embedtest.Behaviour{embedtest.Throttles, embedtest.Embeds}, 2, nil},
		{"throttled", []embedtest.Behaviour{embedtest.Throttles}, 3, errTemporary},
		{"broken, then fine", []embedtest.Behaviour{embedtest.Fails, embedtest.Fails, embedtest.Embeds}, 3, nil},
		{"broken", []embedtest.Behaviour{embedtest.Fails}, 3, errTemporary},
		{"a refused key", []embedtest.Behaviour{embedtest.Forbids}, 1, embed.ErrModel},
		{"refused together, taken alone", []embedtest.Behaviour{embedtest.Refuses, embedtest.Embeds}, 3, nil},
		{"one refused alone", []embedtest.Behaviour{embedtest.Refuses, embedtest.Embeds, embedtest.Refuses, embedtest.Embeds}, 4, embed.ErrInvalid},
		{"every text refused", []embedtest.Behaviour{embedtest.Refuses}, 3, embed.ErrModel},
		{"a reply cut off", []embedtest.Behaviour{embedtest.CutsOff}, 1, errTemporary},
		{"no JSON", []embedtest.Behaviour{embedtest.Babbles}, 1, errTemporary},
		{"one vector too few", []embedtest.Behaviour{embedtest.Omits}, 1, errTemporary},
		{"a vector of another size", []embedtest.Behaviour{embedtest.Shortens}, 1, embed.ErrModel},
		{"no numbers", []embedtest.Behaviour{embedtest.Nulls}, 1, errTemporary},
		{"zeros", []embedtest.Behaviour{embedtest.Zeros}, 1, errTemporary},
		{"a number out of range", []embedtest.Behaviour{embedtest.Overflows}, 1, errTemporary},
		{"an endless reply", []embedtest.Behaviour{embedtest.NeverEnds}, 1, errTemporary},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			s.Now(c.does...)
			got, err := open(t, s, "m").Embed(t.Context(), []string{"The first text.", "The second text."}, embed.Passage)
			switch known := errors.Is(err, embed.ErrInvalid) || errors.Is(err, embed.ErrModel); {
			case c.want == nil && (err != nil || len(got) != 2), c.want != nil && (err == nil || got != nil),
				errors.Is(c.want, errTemporary) && known, c.want != nil && !errors.Is(c.want, errTemporary) && !errors.Is(err, c.want):
				t.Errorf("%d vectors, error %v, want %v", len(got), err, c.want)
			case err != nil && strings.Contains(err.Error(), "SECRET"):
				t.Errorf("the error tells what the server said: %v", err)
			}
			if asked, _ := s.Asked(); asked != c.asked {
				t.Errorf("asked %d times, want %d", asked, c.asked)
			}
		})
	}
}

// TestSizeIsAskedFor checks that a server whose vectors are larger is asked for smaller ones from then on, and that
// one which does not listen is an error of the model.
func TestSizeIsAskedFor(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.Native = 3 * size
	e := open(t, s, "m")
	for i, want := range []int{2, 3} {
		if _, err := e.Embed(t.Context(), []string{"text"}, embed.Passage); err != nil {
			t.Fatal(err)
		}
		if asked, _ := s.Asked(); asked != want {
			t.Errorf("after call %d: asked %d times, want %d", i, asked, want)
		}
	}
	small := serve(t)
	small.Native = size / 2
	if _, err := open(t, small, "m").Embed(t.Context(), []string{"text"}, embed.Passage); !errors.Is(err, embed.ErrModel) || !strings.Contains(err.Error(), "have 32 numbers, and 64 are configured") {
		t.Errorf("error %v", err)
	}
}

func TestPrefixes(t *testing.T) {
	t.Parallel()
	for model, want := range map[string][2]string{
		"all-minilm":                    {"text", "text"},
		"nomic-embed-text:v1.5":         {"search_document: text", "search_query: text"},
		"intfloat/multilingual-e5-base": {"passage: text", "query: text"},
		"mxbai-embed-large":             {"text", "Represent this sentence for searching relevant passages: text"},
	} {
		s := serve(t)
		e := open(t, s, model)
		for i, purpose := range []embed.Purpose{embed.Passage, embed.Question} {
			s.Now(embedtest.Embeds)
			if _, err := e.Embed(t.Context(), []string{"text"}, purpose); err != nil {
				t.Fatal(err)
			}
			if _, texts := s.Asked(); len(texts) != 1 || texts[0] != want[i] {
				t.Errorf("%s: sent %q, want %q", model, texts, want[i])
			}
		}
	}
}

func TestServerThatHangs(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.Now(embedtest.Hangs)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second/10)
	defer cancel()
	if _, err := open(t, s, "m").Embed(ctx, []string{"text"}, embed.Passage); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

// transport answers each request itself.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// TestTimeIsBounded checks the bound of a call without a deadline, and that a pause which a server asks for is made.
func TestTimeIsBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reply func(*http.Request, int) (*http.Response, error)
		took  time.Duration
		ok    bool
	}{
		"a server that hangs": {func(r *http.Request, _ int) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}, 30 * time.Second, false},
		"a server that asks for a pause": {func(_ *http.Request, asked int) (*http.Response, error) {
			if asked == 1 {
				return &http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {"7"}}, Body: http.NoBody}, nil
			}
			return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(`{"data":[{"embedding":[3,4]}]}`))}, nil
		}, 7 * time.Second, true},
		"a server that asks for a long pause": {func(*http.Request, int) (*http.Response, error) {
			return &http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {"60"}}, Body: http.NoBody}, nil
		}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				e, err := openai.New("https://models.test/v1", "m", 2, openai.Options{Transport: transport(func(r *http.Request) (*http.Response, error) {
					asked++
					return c.reply(r, asked)
				})})
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				if _, err := e.Embed(t.Context(), []string{"text"}, embed.Passage); (err == nil) != c.ok || time.Since(began) != c.took {
					t.Errorf("after %s: %v", time.Since(began), err)
				}
			})
		})
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		address, model string
		size           int
	}{{"models.test", "m", 2}, {"https://u:p@models.test", "m", 2}, {"https://models.test", "", 2}, {"https://models.test", "m", 0}} {
		if _, err := openai.New(c.address, c.model, c.size, openai.Options{}); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	e, err := openai.New("https://models.test", "m", 2, openai.Options{})
	if err != nil || e.Model() != (embed.Model{Name: "openai:m", Size: 2}) {
		t.Errorf("%+v, %v", e.Model(), err)
	}
}

// FuzzReply: no reply makes anything but vectors of length 1, or an error that does not say what the server said.
func FuzzReply(f *testing.F) {
	for _, seed := range []string{`{"data":[{"index":0,"embedding":[3,4]},{"index":1,"embedding":[1,0]}]}`, `{"data":[{"index":1,"embedding":[1,2]},{"index":1,"embedding":[1,2]}]}`,
		`{"data":[{"index":-1,"embedding":[1,2]},{"embedding":[1e39,2]}]}`, `{"data":[{"embedding":[1,2,3]},{"embedding":[1,2]}]}`, `{"data":null}`, `[]`, ``} {
		f.Add(200, seed)
		f.Add(400, seed)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		asked := 0
		e, err := openai.New("https://models.test", "m", 2, openai.Options{Transport: transport(func(*http.Request) (*http.Response, error) {
			asked++
			return &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {"0"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
		})})
		if err != nil {
			t.Fatal(err)
		}
		vectors, err := e.Embed(t.Context(), []string{"a", "b"}, embed.Passage)
		if asked > 4 {
			t.Errorf("asked %d times", asked)
		}
		if err != nil && len(body) > 60 && strings.Contains(err.Error(), body) {
			t.Errorf("the error says what the server said: %v", err)
		}
		for _, v := range vectors {
			if c := embed.Cosine(v, v); len(v) != 2 || c < 0.999 || c > 1.001 {
				t.Errorf("vector %v", v)
			}
		}
	})
}
