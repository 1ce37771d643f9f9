package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"docent/testkit/lambdarun"
)

// The ceilings of a function.
const (
	maxBinary = 13 << 20
	maxStart  = 15 * time.Millisecond // from the start of the process to its first poll, on a full core
	maxMemory = 40 << 20
)

// larger are the ceilings of binaries that link more; the tests of functions give the reasons.
var larger = map[string]int64{"context": 17 << 20}

// starts is how often each function is started; the median counts.
const starts = 15

// functions builds every function: for Lambda to measure its size, and for this machine to start it.
func functions(ctx context.Context, b *bench) error {
	mains, err := filepath.Glob("functions/*/main.go")
	if err != nil {
		return err
	}
	if len(mains) == 0 {
		return errors.New("there are no functions")
	}
	deployed, host := filepath.Join(b.folder, "arm64")+"/", filepath.Join(b.folder, "host")+"/"
	for folder, by := range map[string]struct {
		tags        string
		environment []string
	}{
		deployed: {"lambda.norpc,nethttpomithttp2", []string{"GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0"}},
		host:     {"lambda.norpc", []string{"CGO_ENABLED=0"}},
	} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
		// The flags of `make build`.
		if _, err := outputWith(ctx, by.environment, "go", "build", "-trimpath", "-buildvcs=false", "-tags", by.tags,
			"-ldflags", "-s -w", "-o", folder, "./functions/..."); err != nil {
			return err
		}
	}
	for _, main := range mains {
		name := filepath.Base(filepath.Dir(main))
		info, err := os.Stat(deployed + name)
		if err != nil {
			return err
		}
		most := max(maxBinary, larger[name])
		b.add(name+", binary (arm64)", mebibytes(info.Size()), mebibytes(most), atMost(info.Size(), most))
		if err := b.starting(ctx, name, host+name); err != nil {
			return fmt.Errorf("function %s: %w", name, err)
		}
	}
	return nil
}

// starting measures the start of a function, and its memory after events that need no AWS.
func (b *bench) starting(ctx context.Context, name, binary string) error {
	var times []time.Duration
	var memory int64
	for range starts {
		f, err := lambdarun.Start(ctx, binary, lambdarun.Options{Name: name, Env: environment})
		if err != nil {
			return err
		}
		for range 20 {
			if event := eventOf(name); event != "" {
				if _, err := f.Invoke(ctx, []byte(event)); err != nil {
					f.Close()
					return err
				}
			}
		}
		times = append(times, f.Starts()...)
		memory = max(memory, f.PeakMemory())
		f.Close()
	}
	slices.Sort(times)
	median := times[len(times)/2]
	b.add(name+", first poll, median", milliseconds(median), milliseconds(maxStart), atMost(int64(median), int64(maxStart)))
	if memory > 0 { // 0: this system does not report it
		b.add(name+", peak memory", mebibytes(memory), mebibytes(maxMemory), atMost(memory, maxMemory))
	}
	return nil
}

// environment is the environment of a function; nothing listens at these addresses.
var environment = map[string]string{
	"DOCENT_TABLE_PREFIX": "bench-", "DOCENT_BUCKET": "bench", "DOCENT_BASE_URL": "https://docent.test/v1",
	"DOCENT_QUESTIONS_QUEUE_URL": "http://127.0.0.1:9/1/questions", "DOCENT_DOCUMENTS_QUEUE_URL": "http://127.0.0.1:9/1/documents",
	"DOCENT_SYNCS_QUEUE_URL":      "http://127.0.0.1:9/1/syncs",
	"DOCENT_DELIVERIES_QUEUE_URL": "http://127.0.0.1:9/1/deliveries",
	"DOCENT_AWS_ENDPOINT":         "http://127.0.0.1:9", "AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench",
	"DOCENT_LOG_LEVEL": "error",
}

// eventOf returns an event that the function answers without AWS: a request without a key, or an empty batch. A
// schedule would call AWS at once.
func eventOf(name string) string {
	switch name {
	case "answering", "delivering", "embedding", "extracting", "indexing", "syncing":
		return `{"Records":[]}`
	case "sweeping":
		return ""
	default:
		return fmt.Sprintf(`{"resource":"/%[1]s","path":"/%[1]s","httpMethod":"GET","headers":{"Host":"docent.test"},`+
			`"requestContext":{"stage":"v1","path":"/v1/%[1]s","httpMethod":"GET"}}`, name)
	}
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1e3)
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
