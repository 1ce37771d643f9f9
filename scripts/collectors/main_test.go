package collectors

import (
	"context"
	"fmt"
	"os"
	"testing"

	_ "github.com/warpstreamlabs/bento/public/components/io"
	_ "github.com/warpstreamlabs/bento/public/components/pure"
	"github.com/warpstreamlabs/bento/public/service"
)

// runAs names the environment variable that makes the test program one of the
// collectors, so that a test can kill it.
const runAs = "DOCENT_COLLECTOR"

// The collectors.
const (
	elasticAgent = "elastic"
	bento        = "bento"
)

func TestMain(m *testing.M) {
	switch as := os.Getenv(runAs); as {
	case "":
		os.Exit(m.Run())
	case bento:
		os.Args = []string{bento, "-c", "recipe"}
		service.RunCLI(context.Background())
	case elasticAgent:
		config, err := os.ReadFile("recipe")
		if err == nil {
			err = runElastic(string(config))
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	default:
		fmt.Fprintln(os.Stderr, "no collector", as)
		os.Exit(2)
	}
}
