package question

import "context"

// Parts exports parts.
var Parts = parts

// FetchPage fetches a page as Get does.
func (s *Service) FetchPage(ctx context.Context, url string) (Page, error) { return s.fetch(ctx, url) }
