package dashboard_test

import "docent/testkit/browser"

// intercept lets the page's calls go to the JavaScript expression reply, which has their path, their method, their options o,
// and real, which makes them. Before has statements that run once. It takes the place of an earlier intercept.
func intercept(b *browser.Tab, before, reply string) {
	browser.Value[bool](b, `(() => {
		const real = (window.realFetch ??= window.fetch.bind(window));
		`+before+`
		window.fetch = (path, o) => { const method = o?.method ?? "GET"; return (`+reply+`); };
		return true;
	})()`)
}

// fails lets the calls for which the JavaScript expression is true end without a reply, as a lost connection does. An empty
// expression ends that.
func fails(b *browser.Tab, when string) {
	if when == "" {
		when = "false"
	}
	intercept(b, "", `(`+when+`) ? Promise.reject(new TypeError("no connection")) : real(path, o)`)
}
