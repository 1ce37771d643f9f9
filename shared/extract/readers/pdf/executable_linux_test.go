package pdf

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"docent/shared/extract"
)

// TestAProcessThatMayNotCompileBlamesNoFile checks that the file is not called damaged: the error is the machine's, and passes when the
// process gets the right. A process that has given the right up cannot take it back, so another one does.
func TestAProcessThatMayNotCompileBlamesNoFile(t *testing.T) {
	t.Parallel()
	const refused = "DOCENT_TEST_NO_EXECUTABLE_MEMORY"
	if os.Getenv(refused) == "" {
		program := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		program.Env = append(os.Environ(), refused+"=1")
		out, err := program.CombinedOutput()
		if strings.Contains(string(out), "--- SKIP") {
			t.Skipf("%s", out)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	const setMDWE, refuseExecGain = 65, 1 // prctl(2): PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN
	if _, _, err := syscall.RawSyscall6(syscall.SYS_PRCTL, setMDWE, refuseExecGain, 0, 0, 0, 0); err != 0 {
		t.Skipf("this kernel cannot refuse executable memory: %v", err)
	}
	_, err := read(t.Context(), file(at("F", 10, 50, 700, "Hello")), extract.Limits{})
	var wrong *extract.Error
	if err == nil || errors.As(err, &wrong) || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("the error is %v", err)
	}
}

// TestTheServiceMayCompile checks the unit of the Debian package: PDFium is compiled when the first file is read.
func TestTheServiceMayCompile(t *testing.T) {
	t.Parallel()
	unit, err := os.ReadFile("../../../../packaging/docent.service")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(unit), "\nMemoryDenyWriteExecute=") { // by default it may
		t.Error("the service may not execute what it compiles, so it reads no PDF")
	}
}
