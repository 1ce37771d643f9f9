package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// suppressed are findings that are intended: the rule, the resources and the reason.
var suppressed = []struct {
	rule, resources, why string
}{
	{"AwsSolutions-S1", `^Docent/Segments/`, "reads of segments are not worth a separate log: CloudTrail's data events can be switched on where they are"},
	{"AwsSolutions-S1", `^DocentBackups/Originals/`, "the same for the copies of original files, which nobody reads until they are restored"},
	{"AwsSolutions-IAM4", `^Docent/BackupRole/`, "the policy that AWS made for AWS Backup, which changes with what that needs"},
	{"AwsSolutions-IAM4", `^DocentBackups/Restoring/`, "the same for restoring"},
	{"AwsSolutions-IAM5", `^Docent/ReplicationPolicy/`, "the same"},
	{"AwsSolutions-APIG2", `^Docent/Api/`, "the functions validate requests, the same as without a gateway"},
	{"AwsSolutions-APIG3", `^Docent/Api/`, "a firewall is the operator's choice (-c waf=true)"},
	{"AwsSolutions-APIG4", `^Docent/Api/`, "the functions authenticate every request, with the API's own errors; a test in shared/httpapi calls each operation without a key"},
	{"AwsSolutions-COG4", `^Docent/Api/`, "keys are Docent's own, as programs have no user pool"},
	{"AwsSolutions-APIG6", `^Docent/Api/`, "each request has a line in the access log and one of its function; execution logs would show headers and bodies"},
	{"AwsSolutions-IAM4", `^Docent/Api/CloudWatchRole/`, "the account's role for the gateway's logs, with the policy that AWS made for it"},
	{"AwsSolutions-IAM5", `^Docent/[A-Z][a-z]+Role/`, "TestPoliciesNameWhatTheyAllow has the reason of each star"},
}

// TestNagFindsNothingUnexplained reads the report of cdk-nag, which only reports.
func TestNagFindsNothingUnexplained(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, m := range []template{plain(t), whole(t), copies(t)} {
		text, err := os.ReadFile(filepath.Join(m.folder, "AwsSolutions--"+m.stack+"-NagReport.json"))
		if err != nil {
			t.Fatal(err)
		}
		var report struct {
			Lines []struct{ RuleID, ResourceID, Compliance, RuleInfo string }
		}
		if err := json.Unmarshal(text, &report); err != nil || len(report.Lines) < 5 {
			t.Fatalf("a report of %d lines: %v", len(report.Lines), err)
		}
		for _, l := range report.Lines {
			if l.Compliance == "Compliant" || l.Compliance == "N/A" {
				continue
			}
			explained := false
			for _, s := range suppressed {
				if s.rule == l.RuleID && regexp.MustCompile(s.resources).MatchString(l.ResourceID) {
					explained, used[s.rule] = true, true
				}
			}
			if !explained {
				t.Errorf("%s: %s (%s): %s", l.ResourceID, l.RuleID, l.Compliance, l.RuleInfo)
			}
		}
	}
	for _, s := range suppressed {
		if !used[s.rule] {
			t.Errorf("%s is found nowhere: its suppression can go", s.rule)
		}
	}
}
