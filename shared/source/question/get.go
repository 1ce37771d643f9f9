package question

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"docent/shared/apierr"
	"docent/shared/document"
	"docent/shared/memory"
	"docent/shared/search"
	"docent/shared/source"
)

// Bounds of Get.
const (
	MaxGet          = 10     // URLs of one call
	maxGetBytes     = 250000 // bytes of content per URL
	parallelGets    = 5
	fetchCost       = 4 << 20 // bytes of memory for a page of the web, while it is fetched and waits to be converted
	notFoundCode    = "not-found"
	unsupportedCode = "unsupported-url"
)

// webProvider is the provider of pages fetched from the web.
const webProvider = "web"

// Page is the content of a web page.
type Page struct {
	Title   string
	Content string // Markdown
}

// FetchError says why the content of a URL could not be read. Clients see Code and
// Detail.
type FetchError struct {
	Code   string // unsupported-url, blocked-url, fetch-failed or timeout
	Detail string
	Cause  error // for the log
}

func (e *FetchError) Error() string { return e.Code + ": " + e.Detail }

// Unwrap returns the cause.
func (e *FetchError) Unwrap() error { return e.Cause }

// URLContent is the content of one URL, or why there is none.
type URLContent struct {
	URL        string
	Title      string
	Content    string
	SourceType string
	Provider   string
	Truncated  bool
	Error      *FetchError
}

// Get returns the content of urls, in order: from the data sources that the caller
// may read; otherwise from the web if the team allows it.
func (s *Service) Get(ctx context.Context, teamID string, c Caller, urls []string) ([]URLContent, error) {
	out := make([]URLContent, len(urls))
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelGets)
	for i, u := range urls {
		group.Go(func() (err error) {
			out[i], err = s.getOne(gctx, teamID, c, u)
			return err
		})
	}
	return out, group.Wait()
}

func (s *Service) getOne(ctx context.Context, teamID string, c Caller, u string) (URLContent, error) {
	scheme, _, _ := strings.Cut(u, ":")
	if !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return URLContent{URL: u, Error: &FetchError{Code: unsupportedCode, Detail: "Only http and https URLs can be read."}}, nil
	}
	got, ok, err := s.connected(ctx, teamID, c, u)
	if err != nil || ok {
		return got, err
	}
	allowed, err := s.WebFetch(ctx, teamID)
	if err != nil {
		return URLContent{}, err
	}
	if !allowed {
		return URLContent{URL: u, Error: &FetchError{Code: notFoundCode, Detail: "No data source contains this URL, and web fetching is off for this team."}}, nil
	}
	page, err := s.fetch(ctx, u)
	var refused *FetchError
	if errors.As(err, &refused) {
		return URLContent{URL: u, Error: refused}, nil
	}
	if err != nil {
		return URLContent{}, err
	}
	return cut(URLContent{URL: u, Title: page.Title, Content: page.Content, SourceType: source.TypeOf(search.Documentation), Provider: webProvider}), nil
}

// fetch fetches a page once there is memory for it. Its server may be slow, so it keeps no place.
func (s *Service) fetch(ctx context.Context, u string) (Page, error) {
	memory.Yield(ctx)
	if err := memory.Reserve(ctx, fetchCost); err != nil {
		return Page{}, err
	}
	defer memory.Return(ctx, fetchCost)
	return s.Fetch(ctx, u)
}

// connected reads u, with or without its fragment, from the data sources that the
// caller may read. It returns false if none contains it.
func (s *Service) connected(ctx context.Context, teamID string, c Caller, u string) (URLContent, bool, error) {
	tries := []string{u}
	if page, _, ok := strings.Cut(u, "#"); ok {
		tries = append(tries, page)
	}
	for _, uri := range tries {
		id, err := document.ID(teamID, uri)
		if err != nil {
			return URLContent{}, false, err
		}
		d, err := s.Documents.ReadStart(ctx, teamID, id, c.who(), maxGetBytes+1)
		if apierr.IsCode(err, apierr.CodeNotFound) || apierr.IsCode(err, apierr.CodeSourceNotAllowed) {
			continue
		}
		if err != nil {
			return URLContent{}, false, err
		}
		got := cut(URLContent{URL: u, Title: d.Title, Content: d.Body})
		d.Release(ctx)
		provider, space := source.Custom, search.Documentation
		if d.Facts != nil {
			if provider, err = s.Sources.ProviderOf(ctx, teamID, d.CollectionID); apierr.IsCode(err, apierr.CodeNotFound) {
				continue
			}
			if err != nil {
				return URLContent{}, false, err
			}
			space = d.Facts.Space
		}
		got.SourceType, got.Provider = source.TypeOf(space), string(provider)
		return got, true, nil
	}
	return URLContent{}, false, nil
}

// cut returns g with its content cut to maxGetBytes, at a rune.
func cut(g URLContent) URLContent {
	if len(g.Content) <= maxGetBytes {
		return g
	}
	end := maxGetBytes
	for !utf8.RuneStart(g.Content[end]) {
		end--
	}
	g.Content, g.Truncated = strings.Clone(g.Content[:end]), true // the rest is not kept in memory
	return g
}
