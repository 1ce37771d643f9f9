package kernel

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
)

// TestEmulated runs the tests of this package for arm64 on a machine of another kind.
func TestEmulated(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH == "arm64" {
		t.Skip("this machine runs them itself")
	}
	emulator, err := exec.LookPath("qemu-aarch64")
	if err != nil {
		t.Skip("qemu-aarch64 is not installed (qemu-user), so the kernels for arm64 are not tested here")
	}
	run := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", "-exec", emulator, "-run", "^Test", ".")
	run.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	if output, err := run.CombinedOutput(); err != nil {
		t.Errorf("tests for arm64: %v\n%s", err, output)
	}
}
