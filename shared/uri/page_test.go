package uri_test

import (
	"testing"

	"docent/shared/uri"
)

func TestAddressesOfPages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		page int
		want string
	}{
		{"https://docs.example/a.pdf", 7, "https://docs.example/a.pdf#page=7"},
		{"file:///srv/a.pdf?x=1", 12, "file:///srv/a.pdf?x=1#page=12"},
		{"https://docs.example/a.pdf", 0, "https://docs.example/a.pdf"},
		{"https://docs.example/a.pdf#annex", 7, "https://docs.example/a.pdf#annex"},
	} {
		got := uri.AtPage(c.text, c.page)
		if got != c.want || uri.WithoutPage(got) != c.text {
			t.Errorf("AtPage(%q, %d) = %q, want %q; without the page %q", c.text, c.page, got, c.want, uri.WithoutPage(got))
		}
	}
	for _, other := range []string{"https://docs.example/#page=", "https://docs.example/#page=one", "https://docs.example/#page=0", "https://docs.example/#page=-1"} {
		if got := uri.WithoutPage(other); got != other {
			t.Errorf("WithoutPage(%q) = %q", other, got)
		}
	}
}
