// Package web reads pages of the web for data sources. Reading HTML adds more than a megabyte
// to a binary, so only docent serve and the function context link it.
package web

import (
	"context"
	"errors"
	"net/url"

	"docent/shared/fetch"
	"docent/shared/fetch/page"
	"docent/shared/memory"
	"docent/shared/source/question"
)

// Fetcher returns the function that fetches a page for data sources. It reaches public
// addresses only.
func Fetcher() func(ctx context.Context, url string) (question.Page, error) {
	return fetcher(fetch.New(oneByOne(page.Read)))
}

// oneByOne returns a Reader that converts one page at a time, those of the teams in turn. A page of 2 MB can take a second of a
// processor and a hundred megabytes.
func oneByOne(read fetch.Reader) fetch.Reader {
	turns := memory.NewPool(1, 0)
	return func(ctx context.Context, body []byte, contentType, media string, at *url.URL) (fetch.Page, error) {
		turn := turns.Lease(memory.Owner(ctx))
		defer turn.End()
		if err := turn.Take(ctx, 1); err != nil {
			return fetch.Page{}, err
		}
		return read(ctx, body, contentType, media, at)
	}
}

func fetcher(f *fetch.Fetcher) func(ctx context.Context, url string) (question.Page, error) {
	return func(ctx context.Context, url string) (question.Page, error) {
		page, err := f.Get(ctx, url)
		var refused *fetch.Error
		if errors.As(err, &refused) {
			return question.Page{}, &question.FetchError{Code: refused.Code, Detail: refused.Detail, Cause: refused.Cause}
		}
		return question.Page{Title: page.Title, Content: page.Content}, err
	}
}
