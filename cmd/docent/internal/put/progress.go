package put

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// lineEvery is the time between two lines of plain progress.
const lineEvery = 5 * time.Second

// Bar returns a progress function that draws a bar on a terminal, labelled what and counting in unit, and a
// function that clears the bar at the end.
func Bar(w io.Writer, what, unit string) (progress func(done, failed, total int), end func()) {
	var bar *progressbar.ProgressBar
	progress = func(done, failed, total int) {
		if bar == nil {
			bar = progressbar.NewOptions(total,
				progressbar.OptionSetWriter(w),
				progressbar.OptionSetDescription(what),
				progressbar.OptionSetWidth(30),
				progressbar.OptionShowCount(),
				progressbar.OptionShowIts(),
				progressbar.OptionSetItsString(unit),
				progressbar.OptionThrottle(100*time.Millisecond),
				progressbar.OptionClearOnFinish(),
			)
		}
		if failed > 0 {
			bar.Describe(fmt.Sprintf("%s, %d failed", what, failed))
		}
		_ = bar.Set(done) // a bar that cannot be drawn must not stop the run
	}
	end = func() {
		if bar != nil {
			_ = bar.Clear()
		}
	}
	return progress, end
}

// Lines returns a progress function for output that is not a terminal: a plain line every few seconds, counting in
// unit, and none if the run ends sooner.
func Lines(w io.Writer, now func() time.Time, unit string) func(done, failed, total int) {
	last := now()
	return func(done, failed, total int) {
		if t := now(); t.Sub(last) >= lineEvery {
			last = t
			// A line that cannot be written must not stop the run.
			_, _ = fmt.Fprintf(w, "%d of %d %s, %d failed\n", done, total, unit, failed)
		}
	}
}
