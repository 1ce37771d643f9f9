// Package functions_test runs the functions as the deployed binaries, built for this machine, on servers that speak
// the protocols of DynamoDB, SQS and S3.
package functions_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// workspace is the folder of the built binaries; it is removed with the process.
var workspace string

func TestMain(m *testing.M) {
	var err error
	if workspace, err = os.MkdirTemp("", "docent-functions-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := os.RemoveAll(workspace); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// names returns the folders that have a main.
var names = sync.OnceValues(func() ([]string, error) {
	mains, err := filepath.Glob("*/main.go")
	if err != nil || len(mains) == 0 {
		return nil, errors.Join(err, errors.New("no functions"))
	}
	var out []string
	for _, file := range mains {
		out = append(out, filepath.Dir(file))
	}
	return out, nil
})

// host builds every function for this machine, once.
var host = sync.OnceValues(func() (string, error) { return build("host", "lambda.norpc") })

// reaching builds syncing and admin for this machine, once, so that they also reach the test servers.
var reaching = sync.OnceValues(func() (string, error) {
	standIn := httptest.NewTLSServer(nil) // all have the same certificate
	defer standIn.Close()
	const at = "-X docent/shared/app/parts/reach."
	trusted := base64.StdEncoding.EncodeToString(standIn.Certificate().Raw)
	return linked("reaching", "lambda.norpc", at+"reached=127.0.0.1/32 "+at+"trusted="+trusted, []string{"./syncing", "./admin"})
})

// posting builds delivering for this machine, once, so that it also reaches the test's receivers.
var posting = sync.OnceValues(func() (string, error) {
	return linked("posting", "lambda.norpc", "-X docent/shared/app/parts/hooks.reached=127.0.0.1/32", []string{"./delivering"})
})

// build runs the compiler with the options of make build and these tags. environment is added to that of this
// process.
func build(folder, tags string, environment ...string) (string, error) {
	return linked(folder, tags, "", []string{"./..."}, environment...)
}

// linked is build of packages with another option of the linker.
func linked(folder, tags, option string, packages []string, environment ...string) (string, error) {
	folder = filepath.Join(workspace, folder)
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", err
	}
	cmd := exec.Command("go", append([]string{"build", "-trimpath", "-buildvcs=false", "-tags", tags, "-ldflags", "-s -w " + option,
		"-o", folder + string(filepath.Separator)}, packages...)...)
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), environment...)
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the functions: %w\n%s", err, output)
	}
	return folder, nil
}

// binary returns the path of a function built for this machine.
func binary(t testing.TB, name string) string {
	t.Helper()
	folder, err := host()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(folder, name)
}
