// Package browser drives Chromium for tests of the dashboard, as a person would: with the mouse
// and the keyboard.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const (
	// patience bounds each step.
	patience = 20 * time.Second
	// pollEvery is the time between two looks at the page.
	pollEvery = 30 * time.Millisecond
)

// Keys that a person presses.
const (
	KeyTab    = kb.Tab
	KeyEnter  = kb.Enter
	KeyEscape = kb.Escape
)

// Tab is a tab of a browser without a history.
type Tab struct {
	t   testing.TB
	ctx context.Context

	mu     sync.Mutex
	faults []string
}

// programs are the names under which Chromium is installed.
var programs = []string{"chromium", "chromium-browser", "google-chrome"}

// Find returns the path of Chromium, or an error that says how to install it.
func Find() (string, error) {
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no Chromium here (Debian: apt-get install chromium)")
}

// Open starts Chromium with one tab, and ends it with the test. Without Chromium the test is
// skipped, in CI it fails. Errors in the tab's console fail the test, violations of the content
// security policy among them.
func Open(t testing.TB) *Tab {
	t.Helper()
	program, err := Find()
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("hide-scrollbars", true), chromedp.UserDataDir(t.TempDir()))
	ctx, cancel := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits until the browser has ended
		cancel()
	})
	b := &Tab{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatalf("start Chromium: %v", err)
	}
	t.Cleanup(func() {
		for _, fault := range b.Faults() {
			t.Errorf("in the console: %s", fault)
		}
	})
	return b
}

// listen keeps the errors in the console.
func (b *Tab) listen(event any) {
	fault := ""
	switch e := event.(type) {
	case *log.EventEntryAdded:
		// A refusal of the API is part of a story.
		if e.Entry.Level == "error" && e.Entry.Source != "network" {
			fault = e.Entry.Text
		}
	case *runtime.EventExceptionThrown:
		fault = e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			fault += " " + x.Description
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" {
			fault = "console.error"
			for _, a := range e.Args {
				fault += " " + a.Description + string(a.Value)
			}
		}
	}
	if fault != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.faults = append(b.faults, fault)
	}
}

// Faults returns the errors in the console since the last call.
func (b *Tab) Faults() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	faults := b.faults
	b.faults = nil
	return faults
}

// do runs an action within the patience of a step.
func (b *Tab) do(what string, action chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, action); err != nil {
		b.t.Fatalf("%s: %v\nthe page: %s", what, err, b.shown())
	}
}

// Value evaluates a JavaScript expression, and waits for it if it is a promise.
func Value[T any](b *Tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("evaluate %s: %v", expression, err)
	}
	return v
}

// until waits until the expression is true.
func (b *Tab) until(what, expression string) {
	b.t.Helper()
	b.poll(what, func(ctx context.Context) (bool, error) {
		return chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
	})
}

// poll waits until ok returns true. An error is tried again: the page may be changing.
func (b *Tab) poll(what string, ok func(context.Context) (bool, error)) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		done, err := ok(ctx)
		if done && err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			b.keepFailure()
			b.t.Fatalf("%s: not within %s (%v)\nthe page: %s", what, patience, err, b.shown())
		}
	}
}

// keepFailure writes a screenshot to the folder DOCENT_SCREENSHOTS, if it is set.
func (b *Tab) keepFailure() {
	if folder := os.Getenv("DOCENT_SCREENSHOTS"); folder != "" {
		name := strings.ReplaceAll(b.t.Name(), "/", "-") + "-failed.png"
		_ = os.WriteFile(filepath.Join(folder, name), b.Screenshot(false), 0o600) //nolint:gosec // the folder is the developer's, and the failure itself is reported
	}
}

// shown returns the beginning of what the page shows, for messages.
func (b *Tab) shown() string {
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText`))
	if err != nil {
		return err.Error()
	}
	const most = 1500
	return text[:min(len(text), most)]
}

// Go opens an address.
func (b *Tab) Go(url string) {
	b.t.Helper()
	b.do("open "+url, chromedp.Navigate(url))
}

// Look sets the size of the window and the colour scheme, dark or light.
func (b *Tab) Look(width, height int64, scheme string) {
	b.t.Helper()
	b.do("look", chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1})
		if err != nil {
			return err
		}
		_, err = chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
		return err
	}))
}

// Paper lets the page look as it is printed.
func (b *Tab) Paper() {
	b.t.Helper()
	b.do("look as printed", chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
		return err
	}))
}

// TimeZone lets the tab be in a time zone by its IANA name.
func (b *Tab) TimeZone(name string) {
	b.t.Helper()
	b.do("go to "+name, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: name})
		return err
	}))
}

// Block lets everything fail that the tab loads from now on and whose address the pattern fits, such as "*://*:*/*.css".
func (b *Tab) Block(pattern string) {
	b.t.Helper()
	b.do("block "+pattern, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
			return err
		}
		_, err := chromedp.Call(ctx, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: []*network.BlockPattern{{URLPattern: pattern, Block: true}}})
		return err
	}))
}

// find is an expression for the last visible element with the text or label, in the open dialog
// if there is one.
func find(selector, text string) string {
	return fmt.Sprintf(`[...(document.querySelector("dialog[open]") ?? document).querySelectorAll(%q)].filter((e) => e.checkVisibility() && !e.disabled && (e.innerText.trim().replace(/\s+/g, " ") === %q || e.textContent.trim().replace(/\s+/g, " ") === %q || e.getAttribute("aria-label") === %q)).at(-1)`,
		selector, text, text, text)
}

// Click clicks the button, link, summary or label with the text. If that has moved in the meantime and the click went to
// something else, it clicks again.
func (b *Tab) Click(text string) {
	b.t.Helper()
	const selector = "button, a, summary, label, .check"
	// Found and measured at once, because the page may change in between. A dialog that was closed goes a moment later.
	place := fmt.Sprintf(`(() => { const e = %s; if (!e || document.querySelector("dialog:not([open])")) return { X: -1, Y: -1 };
		e.scrollIntoView({ block: "center", behavior: "instant" });
		addEventListener("click", (c) => { const hit = c.target.closest(%q); window.missed = hit !== e && hit?.textContent !== e.textContent; }, { capture: true, once: true });
		const r = e.getBoundingClientRect(); return { X: r.x + r.width / 2, Y: r.y + r.height / 2 }; })()`, find(selector, text), selector)
	b.poll("click "+text, func(ctx context.Context) (bool, error) {
		at, err := chromedp.Run(ctx, chromedp.Evaluate[struct{ X, Y float64 }](place))
		if err != nil || at.X < 0 {
			return false, err
		}
		if err := chromedp.Do(ctx, chromedp.MouseClickXY(at.X, at.Y)); err != nil {
			return false, err
		}
		missed, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`window.missed === true`))
		return err != nil || !missed, nil // an error: the click opened another page
	})
}

// field is an expression for the field with the label.
func field(label string) string {
	return fmt.Sprintf(`[...(document.querySelector("dialog[open]") ?? document).querySelectorAll("input, textarea, select")].find((e) => e.checkVisibility() && [...(e.labels ?? [])].some((l) => l.textContent.trim() === %q) || e.getAttribute("aria-label") === %q)`, label, label)
}

// Fill replaces the text of the field with the label, as pasting does.
func (b *Tab) Fill(label, text string) {
	b.t.Helper()
	b.until("find the field "+label, field(label))
	Value[bool](b, fmt.Sprintf(`(() => { const e = %s; e.focus(); e.select(); return true; })()`, field(label)))
	b.do("fill "+label, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, input.InsertText, input.InsertTextParams{Text: text})
		return err
	}))
	b.until("fill "+label, fmt.Sprintf(`%s?.value === %q`, field(label), text))
}

// Select chooses the option with the value in the list with the label.
func (b *Tab) Select(label, value string) {
	b.t.Helper()
	b.until("find the list "+label, field(label))
	Value[bool](b, fmt.Sprintf(`(() => { const e = %s; e.value = %q; e.dispatchEvent(new Event("change", { bubbles: true })); return e.value === %q; })()`, field(label), value, value))
}

// Wait waits until the page shows the text.
func (b *Tab) Wait(text string) {
	b.t.Helper()
	b.until("wait for "+text, fmt.Sprintf(`document.body.innerText.includes(%q)`, text))
}

// Gone waits until the page no longer shows the text.
func (b *Tab) Gone(text string) {
	b.t.Helper()
	b.until("wait until gone: "+text, fmt.Sprintf(`!document.body.innerText.includes(%q)`, text))
}

// Settled waits until nothing is loading.
func (b *Tab) Settled() {
	b.t.Helper()
	b.until("wait until loaded", `document.querySelector("h1") && !document.querySelector(".bone, [aria-busy=true]")`)
}

// Text returns the text of the first element with the CSS selector.
func (b *Tab) Text(selector string) string {
	b.t.Helper()
	return strings.TrimSpace(Value[string](b, fmt.Sprintf(`document.querySelector(%q)?.innerText ?? ""`, selector)))
}

// Press presses keys, one after another.
func (b *Tab) Press(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.do("press a key", chromedp.KeyEvent(k))
	}
}

// Drop drops files or folders onto the element with the CSS selector.
func (b *Tab) Drop(selector string, paths ...string) {
	b.t.Helper()
	b.until("find "+selector, fmt.Sprintf(`document.querySelector(%q)`, selector))
	at := Value[struct{ X, Y float64 }](b, fmt.Sprintf(
		`(() => { const e = document.querySelector(%q); e.scrollIntoView(); const r = e.getBoundingClientRect(); return { X: r.x + r.width / 2, Y: r.y + 16 }; })()`, selector))
	b.do("drop", chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		for _, kind := range []input.DispatchDragEventType{"dragEnter", "dragOver", "drop"} {
			if _, err := chromedp.Call(ctx, input.DispatchDragEvent, input.DispatchDragEventParams{Type: kind, X: at.X, Y: at.Y,
				Data: &input.DragData{Items: []*input.DragDataItem{}, Files: paths, DragOperationsMask: 1}}); err != nil {
				return err
			}
		}
		return nil
	}))
}

// Screenshot returns a PNG of the window, or of the whole page.
func (b *Tab) Screenshot(whole bool) []byte {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	shot, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{CaptureBeyondViewport: &whole})
	if err != nil {
		b.t.Fatalf("screenshot: %v", err)
	}
	return shot.Data
}
