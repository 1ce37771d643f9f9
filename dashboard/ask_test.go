package dashboard_test

import (
	"strings"
	"testing"

	"docent/testkit/browser"
)

// streams answers the page's requests for events of answers itself: say sends a part of the newest stream, and
// calls has the method, the last event's id and the body of each request.
func streams(b *browser.Tab) {
	intercept(b, `/\/answers\/[0-9a-f-]{36}$/.test(path) && o?.headers?.Accept === "text/event-stream"`, `follow(o)`, `
		window.calls = [];
		const follow = (o) => {
			calls.push([o.method, o.headers["Last-Event-ID"] ?? "", o.body ?? ""].join(" "));
			const body = new ReadableStream({ start(c) { window.stream = c; o.signal.addEventListener("abort", () => c.error(o.signal.reason)); } });
			return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
		};
		window.say = (text) => { for (const b of new TextEncoder().encode(text)) stream.enqueue(new Uint8Array([b])); return true; };`)
}

// say sends events of the newest stream, byte by byte.
func say(b *browser.Tab, events string) {
	browser.Value[bool](b, "say("+quoted(events)+")")
}

// quoted returns text as a string of JavaScript.
func quoted(text string) string {
	return "`" + strings.NewReplacer("`", "\\`", `\`, `\\`).Replace(text) + "`"
}

// TestAnswersStream: what was found is shown before the text, sentences as they come, and a lost connection continues
// after the last event. Nothing is asked twice.
func TestAnswersStream(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	streams(b)
	b.Fill("Your question", "How long are logs kept?")
	b.Press(browser.KeyEnter)
	b.Wait("Reading your documents …")
	b.Wait("How long are logs kept?")
	say(b, "event: answer.created\nid: 1\ndata: {\"questionId\":\"x\",\"state\":\"processing\"}\n\n: still here\n\n")
	say(b, "event: sources\nid: 2\ndata: {\"sources\":[{\"title\":\"Logs of the café\",\"url\":\"https://x.test/logs\"},{\"url\":\"https://x.test/other\"}]}\n\n")
	b.Wait("Logs of the café")
	b.Wait("https://x.test/other")
	b.Wait("Writing the answer …")
	say(b, "event: text.delta\nid: 20-a\ndata: {\"text\":\"Kept for **30 days**. \",\"references\":[0]}\n\n")
	b.Wait("Kept for 30 days.")
	if !browser.Value[bool](b, `document.querySelector("article [aria-live]").ariaBusy === "true"`) {
		t.Error("a screen reader reads each part of the answer as it comes")
	}
	browser.Value[bool](b, "stream.close(), true") // as when a proxy ends it
	b.Wait("The connection was lost. Connecting again …")
	b.Wait("Writing the answer …")
	if got := browser.Value[[]string](b, "calls"); len(got) != 2 || !strings.HasPrefix(got[0], `PUT  {"question":"How long are logs kept?"`) || got[1] != "GET 20-a " {
		t.Errorf("requests %q", got)
	}
	say(b, "event: text.delta\nid: 40-b\ndata: {\"text\":\"Then they are deleted.\",\"references\":[]}\n\n")
	b.Wait("Kept for 30 days. Then they are deleted.")
	say(b, "event: text.replace\nid: 9-c\ndata: {\"text\":\"Kept for a month.\",\"references\":[0]}\n\n")
	b.Wait("Kept for a month.")
	b.Gone("Then they are deleted.")
	if live := browser.Value[string](b, `document.querySelector("[aria-live=polite]").innerText`); live != "Kept for a month." {
		t.Errorf("a screen reader is told %q", live)
	}
	say(b, `event: answer.completed
id: 50
data: {"questionId":"x","question":"How long are logs kept?","state":"complete","result":{"answer":"Kept for a month.","references":[{"htmlUrl":"https://x.test/logs","title":"Logs of the café"}]}}

`)
	b.Wait("References")
	b.Wait("Helpful")
	b.Gone("Writing the answer …")
	b.Gone("https://x.test/other") // was found and is not quoted

	b.Fill("Follow-up question", "And metrics?")
	b.Press(browser.KeyEnter)
	b.Wait("Reading your documents …")
	b.Wait("Follows an earlier question")
	if got := browser.Value[[]string](b, "calls"); len(got) != 3 || !strings.Contains(got[2], `"previousQuestionId":"`) {
		t.Errorf("requests %q", got)
	}
	b.Click("Stop")
	b.Wait("Stopped. The answer is still written and kept.")
	b.Click("Show the answer")
	b.Wait("Reading your documents …")
	say(b, "event: error\ndata: {\"status\":503,\"code\":\"unavailable\",\"detail\":\"The model cannot be reached.\",\"requestId\":\"r-1\"}\n\n")
	b.Wait("The model cannot be reached.")
	b.Wait("r-1")
}

// TestAFailedQuestionIsAskedAgain by one click.
func TestAFailedQuestionIsAskedAgain(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	intercept(b, `path.endsWith("/answers/01a20435-7fa4-77c2-a4b7-58247592fc1b")`, `Response.json({ question: "When should a client retry?", state: "failed", error: { code: "unavailable", detail: "The model was not there." } })`, "")
	open(b, "ask/01a20435-7fa4-77c2-a4b7-58247592fc1b")
	b.Wait("The model was not there.")
	b.Click("Try again")
	b.Wait("References")
	b.Gone("The model was not there.")
}

// TestFeedbackAndFollowUp rates an answer of the running product, comments on it, asks further, and finds the comment
// where an admin sees what was not answered.
func TestFeedbackAndFollowUp(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	b.Click("How many questions may a team ask per day?")
	b.Wait("A team may ask 1,000 questions per day.")
	b.Click("Not helpful")
	b.Wait("Thank you.")
	b.Fill("Comment", "It does not say when the day begins.")
	b.Press(browser.KeyEnter)
	b.Wait("Your comment is kept with the answer.")
	answer := strings.TrimPrefix(browser.Value[string](b, "location.hash"), "#/")
	b.Fill("Follow-up question", "And when do they reset?")
	b.Press(browser.KeyEnter)
	b.Wait("And when do they reset?")
	b.Wait("Follows an earlier question")
	b.Wait("Ask follow-up")
	b.Click("Follows an earlier question")
	b.Wait("How many questions may a team ask per day?")
	becomes(b, `document.querySelector("[aria-label=Feedback] [aria-pressed=true]")?.innerText.includes("Not helpful")`)
	if at := strings.TrimPrefix(browser.Value[string](b, "location.hash"), "#/"); at != answer {
		t.Errorf("at %s, want %s", at, answer)
	}
	b.Click("Not answered")
	b.Wait("Questions that found nothing or failed")
	b.Wait("It does not say when the day begins.")
	b.Wait("1 not helpful")
}

// TestASessionThatEndsInAnAnswer: the person signs in again over the page, which then shows the answer.
func TestASessionThatEndsInAnAnswer(t *testing.T) {
	t.Parallel()
	b, _ := signedIn(t)
	streams(b)
	b.Fill("Your question", "How long are logs kept?")
	b.Press(browser.KeyEnter)
	becomes(b, "window.stream !== undefined")
	say(b, "event: answer.created\nid: 1\ndata: {\"questionId\":\"x\",\"state\":\"processing\"}\n\n")
	// Also who is signed in: while that is known, the person is taken to have signed in again.
	intercept(b, `/\/answers\/|\/me$/.test(path)`, `Response.json({ code: "unauthorized", detail: "No." }, { status: 401 })`, "")
	say(b, "event: error\ndata: {\"status\":401,\"code\":\"unauthorized\",\"detail\":\"The key of this request no longer works.\",\"requestId\":\"r\"}\n\n")
	b.Wait("Your session has ended.")
	b.Gone("The key of this request no longer works.")
}
