package source_test

import (
	"errors"
	"testing"

	"docent/shared/source"
)

func TestPagesEndWithTheErrorOfTheRead(t *testing.T) {
	t.Parallel()
	failed := errors.New("it broke")
	pages, last := 0, error(nil)
	for _, err := range source.Pages(func(page func(source.SyncPage) bool) error {
		page(source.SyncPage{})
		page(source.SyncPage{Last: true})
		return failed
	}) {
		if last = err; err == nil {
			pages++
		}
	}
	if pages != 2 || !errors.Is(last, failed) {
		t.Errorf("%d pages, then %v", pages, last)
	}
}

func TestPagesStopWithTheirReader(t *testing.T) {
	t.Parallel()
	var more []bool
	for _, err := range source.Pages(func(page func(source.SyncPage) bool) error {
		more = append(more, page(source.SyncPage{}), page(source.SyncPage{}))
		return source.ErrStopped
	}) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	if len(more) != 2 || more[0] || more[1] {
		t.Errorf("the page function returned %v after the reader had stopped", more)
	}
}
