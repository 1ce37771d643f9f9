package dashboard_test

import (
	"testing"

	"docent/testkit/browser"
)

// TestTablesArePrinted: Firefox prints nothing that is in a container of a container query, nor what such a container would have to
// scroll to. Paper has the table, and no controls.
func TestTablesArePrinted(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "settings/tokens")
	b.Wait("Personal keys")
	b.Wait("demo admin")
	b.Paper()
	look := browser.Value[map[string]string](b, `(() => { const of = (e) => getComputedStyle(document.querySelector(e)); return {
		container: of(".cards").containerType, overflow: of(".table").overflowX, page: of(".content").display, head: of(".cards thead").display, menu: of(".side").display, button: of("main button").display }; })()`)
	for name, want := range map[string]string{"container": "normal", "overflow": "visible", "page": "block", "head": "table-header-group", "menu": "none", "button": "none"} {
		if look[name] != want {
			t.Errorf("on paper, %s is %s, not %s", name, look[name], want)
		}
	}
}
