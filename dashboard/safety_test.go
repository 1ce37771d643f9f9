package dashboard_test

import (
	"testing"

	"docent/testkit/browser"
)

// TestAnswersStayText asks about a document that tries to run scripts: its text is shown, and
// becomes neither markup nor a link to a script. A violation of the policy would fail as well.
func TestAnswersStayText(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	open(b, "collections")
	browser.Value[string](b, `location.hash = document.querySelector("a.card").hash`)
	b.Drop(".drop", write(t, map[string]string{
		"turbine.md": "# Turbine <img src=x onerror=alert(1)>\n\nTo restart the turbine, press the [green button](javascript:alert(2)) <script>alert(3)</script> and wait for **ten minutes**. ![p](javascript:alert(4))\n",
	}))
	b.Wait("1 document put.")
	b.Wait("Turbine <img")
	b.Gone("Indexing")
	open(b, "ask")
	b.Fill("Your question", "How do I restart the turbine?")
	b.Press(browser.KeyEnter)
	b.Wait("ten minutes")
	if got := browser.Value[string](b, `[...document.querySelectorAll("main script, main img, main iframe, main [onerror], main a")].filter((e) => e.tagName !== "A" || !/^(https?:|#|mailto:)/.test(e.getAttribute("href"))).map((e) => e.outerHTML).join("\n")`); got != "" {
		t.Errorf("the answer has become %s", got)
	}
}

// TestNothingJumps opens pages one after another; what is loaded later has the place of its
// bones. A shift of 0.1 is the most that browsers' makers call good.
func TestNothingJumps(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	for _, page := range pages {
		open(b, page)
	}
	const shifts = `new Promise((done) => {
		let sum = 0;
		new PerformanceObserver((list) => { for (const e of list.getEntries()) sum = Math.max(sum, e.value); }).observe({ type: "layout-shift", buffered: true });
		setTimeout(() => done(sum), 200);
	})`
	if worst := browser.Value[float64](b, shifts); worst > 0.1 {
		t.Errorf("a part of a page moved by %.3f", worst)
	}
}
