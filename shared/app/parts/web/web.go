// Package web reads pages of the web for data sources. Reading HTML adds more than a megabyte
// to a binary, so only docent serve and the function context link it.
package web

import (
	"context"
	"errors"

	"docent/shared/fetch"
	"docent/shared/fetch/page"
	"docent/shared/source/question"
)

// Fetcher returns the function that fetches a page for data sources. It reaches public
// addresses only.
func Fetcher() func(ctx context.Context, url string) (question.Page, error) {
	f := fetch.New(page.Read)
	return func(ctx context.Context, url string) (question.Page, error) {
		page, err := f.Get(ctx, url)
		var refused *fetch.Error
		if errors.As(err, &refused) {
			return question.Page{}, &question.FetchError{Code: refused.Code, Detail: refused.Detail, Cause: refused.Cause}
		}
		return question.Page{Title: page.Title, Content: page.Content}, err
	}
}
