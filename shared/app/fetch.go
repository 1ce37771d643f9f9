package app

import (
	"context"
	"errors"

	"docent/shared/fetch"
	"docent/shared/source"
)

// fetchWeb is f as data sources ask for it. It is set where pages are fetched, and
// nowhere else, because reading HTML is more than a megabyte of a binary.
func fetchWeb(f *fetch.Fetcher) func(context.Context, string) (source.Page, error) {
	return func(ctx context.Context, url string) (source.Page, error) {
		page, err := f.Get(ctx, url)
		var refused *fetch.Error
		if errors.As(err, &refused) {
			return source.Page{}, &source.FetchError{Code: refused.Code, Detail: refused.Detail, Cause: refused.Cause}
		}
		return source.Page{Title: page.Title, Content: page.Content}, err
	}
}
