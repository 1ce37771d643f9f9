package main

import (
	"crypto/x509"
	"os"
	"os/exec"
	"testing"
)

// The system's authorities are read once in a process, so the test asks a process that has just begun.
func TestAMachineWithoutCertificateAuthoritiesHasSome(t *testing.T) {
	t.Parallel()
	if os.Getenv("DOCENT_TEST_ROOTS") == "" {
		cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.count", "1")
		cmd.Env = append(os.Environ(), "DOCENT_TEST_ROOTS=1", "SSL_CERT_FILE="+t.TempDir()+"/none", "SSL_CERT_DIR="+t.TempDir())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		t.Fatal(err)
	}
	if pool.Equal(x509.NewCertPool()) {
		t.Fatal("no certificate authority is known")
	}
}
