package functions_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"docent/testkit/lambdarun"
)

// Ceilings of a function, in bytes. A larger binary takes longer to start, and an idle environment keeps its
// memory.
const (
	maxBinary = 13 << 20 // as deployed: arm64
	maxMemory = 40 << 20 // at the first poll
)

// larger are the ceilings of binaries that link more.
var larger = map[string]int64{
	// Of 17.9 MiB, in steps of 64 KiB, the SDK of the agents' protocol takes 1.8, the reader of HTML in all
	// character sets 1.6, and the client of Bedrock 1.0. Its tools call all of them. The
	// embedding model takes 0.4, the names of HTML's characters in titles 0.1.
	"context": 17<<20 + 960<<10,
	// 13.3 MiB, in the same steps: it has the clients of models and the checks of what they write.
	"answering": 13<<20 + 320<<10,
	// It reads PDF by a library of its own, as WebAssembly, and Office files.
	"extracting": 32 << 20,
	// 14.7 MiB, in steps of 64 KiB: it has every connector, the readers of HTML and reStructuredText, and notices of
	// webhooks. Confluence and Jira take 0.3, GitLab, Slack and Notion 0.1 each.
	"syncing": 14<<20 + 768<<10,
	// 14.7 MiB, in steps of 64 KiB: it answers streamed questions itself, so it has what answering has.
	"answers": 14<<20 + 704<<10,
	// 14.8 MiB, in steps of 64 KiB: it has the client of KMS, reads SAML metadata, also at its address, and checks
	// new settings at the providers.
	"admin": 14<<20 + 832<<10,
	// 14.3 MiB, in steps of 64 KiB: it has the protocols of identity providers, the client of KMS, and the pages.
	"dashboard": 14<<20 + 320<<10,
}

// TestDeployedBinariesAreSmall builds with the options of make build.
func TestDeployedBinariesAreSmall(t *testing.T) {
	t.Parallel()
	folder, err := build("deployed", "lambda.norpc,nethttpomithttp2", "GOOS=linux", "GOARCH=arm64")
	if err != nil {
		t.Fatal(err)
	}
	all, err := names()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		info, err := os.Stat(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%-12s %5.2f MiB", name, float64(info.Size())/(1<<20))
		most := max(maxBinary, larger[name])
		if info.Size() > most {
			t.Errorf("%s has %d bytes, at most %d are allowed: link less, or raise its ceiling above and in CONTRIBUTING.md", name, info.Size(), most)
		}
	}
}

// somewhere is a configuration that reaches nothing; before the first event nothing is called.
var somewhere = map[string]string{
	"DOCENT_TABLE_PREFIX": "none-", "DOCENT_BUCKET": "none", "DOCENT_BASE_URL": "https://docent.test/v1",
	"DOCENT_QUESTIONS_QUEUE_URL": "https://sqs.test/questions", "DOCENT_DOCUMENTS_QUEUE_URL": "https://sqs.test/documents",
	"DOCENT_SYNCS_QUEUE_URL":      "https://sqs.test/syncs",
	"DOCENT_DELIVERIES_QUEUE_URL": "https://sqs.test/deliveries",
	"DOCENT_AWS_ENDPOINT":         "http://127.0.0.1:1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
}

func TestStartedFunctionsHoldLittleMemory(t *testing.T) {
	t.Parallel()
	all, err := names()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := lambdarun.Start(context.Background(), binary(t, name), lambdarun.Options{Name: name, Env: somewhere})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(f.Close)
			if memory := f.PeakMemory(); memory > maxMemory {
				t.Errorf("%d bytes, at most %d are allowed", memory, maxMemory)
			} else if memory == 0 && os.Getenv("CI") == "true" {
				t.Error("CI must run where the system reports the memory of a process")
			} else if memory == 0 {
				t.Skip("this system does not report it")
			}
		})
	}
}

// BenchmarkColdStart measures the time from the start of a process to its first poll. The ceiling of 15 ms on a
// full core is for the reader: no test asserts a time.
func BenchmarkColdStart(b *testing.B) {
	all, err := names()
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range all {
		b.Run(name, func(b *testing.B) {
			program := binary(b, name)
			var starts []time.Duration
			var memory int64
			for b.Loop() {
				f, err := lambdarun.Start(context.Background(), program, lambdarun.Options{Name: name, Env: somewhere})
				if err != nil {
					b.Fatal(err)
				}
				starts = append(starts, f.Starts()...)
				memory = max(memory, f.PeakMemory())
				f.Close()
			}
			slices.Sort(starts)
			at := func(part float64) float64 {
				return float64(starts[int(part*float64(len(starts)-1))].Microseconds()) / 1000
			}
			b.ReportMetric(0, "ns/op") // the loop also ends the process
			b.ReportMetric(at(0.5), "ms-p50")
			b.ReportMetric(at(0.9), "ms-p90")
			b.ReportMetric(float64(memory)/(1<<20), "MiB")
		})
	}
}
