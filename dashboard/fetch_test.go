package dashboard_test

import "docent/testkit/browser"

// intercept gives the page's calls for which the JavaScript expression when is true the reply, a Response or a promise of one, as
// an expression too. Both have the path of a call, its method and its options o, and real, which makes it; before has
// statements that run once. It takes the place of an earlier intercept.
func intercept(b *browser.Tab, when, reply, before string) {
	browser.Value[bool](b, `(() => {
		const real = (window.realFetch ??= window.fetch.bind(window));
		`+before+`
		window.fetch = async (path, o) => {
			const method = o?.method ?? "GET";
			return (`+when+`) ? (`+reply+`) : real(path, o);
		};
		return true;
	})()`)
}

// held is a reply for intercept: it makes the call when window.goOn is called.
const held = `new Promise((done) => (window.goOn = done)).then(() => real(path, o))`

// fails lets the calls for which the JavaScript expression is true end without a reply, as a lost connection does. An empty
// expression ends that.
func fails(b *browser.Tab, when string) {
	if when == "" {
		when = "false"
	}
	intercept(b, when, `Promise.reject(new TypeError("no connection"))`, "")
}
