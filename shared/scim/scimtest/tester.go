package scimtest

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"docent/testkit/installed"
)

// What scim2-tester finds fault with and the API's contract demands: name,
// displayName and active are in every user, so removing one leaves its default (RFC
// 7643 section 2.4 lets a service provider have defaults).
var byContract = []string{
	"PATCH modify() did not remove attribute 'active'",
	"PATCH modify() did not remove attribute 'displayName'",
	"PATCH modify() did not remove attribute 'name'",
}

// fewestChecks is the least number of checks that scim2-tester makes: with fewer, it has not
// understood what the server supports.
const fewestChecks = 120

// Tester runs scim2-tester, which knows the RFCs and nothing about Docent, against the server
// at base, which ends in /scim/v2. Only findings that the contract requires are allowed. If
// scim2-tester is not installed, the test is skipped, and fails in CI.
func Tester(t *testing.T, base, key string) {
	t.Helper()
	program, err := tester()
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "--url", base, "test") //nolint:gosec // what make scimtester installed
	cmd.Env = append(os.Environ(), "SCIM_CLI_HEADERS=Authorization: Bearer "+key, "NO_COLOR=1", "PYTHONIOENCODING=utf-8")
	output, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var faults []string
	checks := 0
	lines := strings.Split(string(output), "\n")
	for i, line := range lines {
		switch status, _, _ := strings.Cut(line, " "); status {
		case "SUCCESS", "SKIPPED", "ACCEPTABLE":
			checks++
		case "ERROR", "CRITICAL", "DEVIATION":
			checks++
			faults = append(faults, strings.TrimSpace(lines[min(i+1, len(lines)-1)]))
		}
	}
	slices.Sort(faults)
	if checks < fewestChecks || !slices.Equal(faults, byContract) {
		t.Errorf("%d checks, faults %q, want %q:\n%s", checks, faults, byContract, output)
	}
}

// tester is the path of the program, which make scimtester installs below the module's root.
func tester() (string, error) {
	program, err := installed.Program("scimtester", "scim2")
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("scim2-tester is not installed: run make scimtester")
	}
	return program, err
}
