package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"docent/shared/extract"
	"docent/shared/extract/readers"
)

// result is the output of the process that reads a file.
type result struct {
	Pages    int
	Markdown string
	Seconds  float64
}

// read reads a file twice and prints the text and the seconds of the processor that the second time took: the first
// compiles PDFium.
func read(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	mediaType, ok := extract.MediaTypeOf(name)
	if !ok {
		return fmt.Errorf("%s is of no type that can be read", name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var got result
	for range 2 {
		began := processor()
		doc, err := readers.Read(ctx, mediaType, f, info.Size(), extract.Limits{})
		if err != nil {
			return err
		}
		got = result{Pages: len(doc.Pages), Seconds: (processor() - began).Seconds()}
		var text strings.Builder
		for _, p := range doc.Pages {
			text.WriteString(p.Markdown)
			text.WriteByte('\n')
		}
		got.Markdown = text.String()
	}
	return json.NewEncoder(os.Stdout).Encode(got)
}

// processor returns how long processors have worked for this process. What else the machine does is not in it.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peak returns the largest memory of an ended process in MB.
func peak(state *os.ProcessState) int {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" { // which counts bytes
		return int(usage.Maxrss >> 20)
	}
	return int(usage.Maxrss >> 10)
}
