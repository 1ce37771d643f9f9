package web

import (
	"context"
	"net/url"
	"testing"
	"testing/synctest"

	"docent/shared/fetch"
)

// TestOnePageIsConvertedAtATime: a page can take much memory and a processor for a second, and one request names ten.
func TestOnePageIsConvertedAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		running, done := 0, make(chan struct{})
		read := oneByOne(func(context.Context, []byte, string, string, *url.URL) (fetch.Page, error) {
			running++
			<-done
			return fetch.Page{Title: "t"}, nil
		})
		for range 3 {
			go func() {
				if page, err := read(t.Context(), nil, "", "", nil); err != nil || page.Title != "t" {
					t.Errorf("%+v %v", page, err)
				}
			}()
		}
		for i := 1; i <= 3; i++ {
			if synctest.Wait(); running != i {
				t.Errorf("%d conversions have begun, want %d", running, i)
			}
			done <- struct{}{}
		}
	})
}
