// Package web reads pages of the web for data sources. It stands apart from app
// because reading HTML adds more than a megabyte to a binary: docent serve and the
// function of the context link it, the others do not.
package web

import (
	"context"
	"errors"

	"docent/shared/fetch"
	"docent/shared/fetch/page"
	"docent/shared/source/question"
)

// Fetcher returns what fetches a page as data sources ask for it. It reaches public
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
