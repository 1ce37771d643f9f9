package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"docent/shared/table"
)

// copies is the stack of the other region that belongs to whole.
func copies(t *testing.T) template {
	t.Helper()
	m := template{folder: whole(t).folder, stack: "docent-beta-backups"}
	text, err := os.ReadFile(filepath.Join(m.folder, backupsID+".template.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestBackupsAreTheOperatorsChoice checks that nothing of them exists, and costs, unless a region is given.
func TestBackupsAreTheOperatorsChoice(t *testing.T) {
	t.Parallel()
	m := plain(t)
	for name, r := range m.Resources {
		if strings.HasPrefix(r.Type, "AWS::Backup::") || r.at("VersioningConfiguration") != nil || r.at("ReplicationConfiguration") != nil {
			t.Errorf("%s is a %s: %s", name, r.Type, words(r.Properties))
		}
	}
	if _, err := os.Stat(filepath.Join(m.folder, backupsID+".template.json")); err == nil {
		t.Error("there is a stack for another region")
	}
}

func TestEveryTableIsCopiedToTheOtherRegion(t *testing.T) {
	t.Parallel()
	m := whole(t)
	selected := map[string]bool{}
	m.each(t, "AWS::Backup::BackupSelection", func(t *testing.T, name string, r resource) {
		for _, arn := range list(r.at("BackupSelection", "Resources")) {
			selected[target(arn)] = true
		}
		if got := target(r.at("BackupSelection", "IamRoleArn")); got != "BackupRole" {
			t.Errorf("%s: the role is %s", name, got)
		}
	})
	for name := range m.of("AWS::DynamoDB::Table") {
		if !selected[name] {
			t.Errorf("%s is not backed up", name)
		}
	}
	if len(selected) != len(table.Names) {
		t.Errorf("%d tables are backed up: %v", len(selected), selected)
	}
	m.each(t, "AWS::Backup::BackupPlan", func(t *testing.T, name string, r resource) {
		rule := resource{Properties: r.at("BackupPlan", "BackupPlanRule", 0).(map[string]any)}
		for _, want := range []struct {
			path  []any
			value string
		}{
			{[]any{"ScheduleExpression"}, "cron(0 3 * * ? *)"},
			{[]any{"TargetBackupVault"}, "${BackupVault}"},
			{[]any{"Lifecycle", "DeleteAfterDays"}, "2"},
			{[]any{"CopyActions", 0, "Lifecycle", "DeleteAfterDays"}, "14"},
			{[]any{"CopyActions", 0, "DestinationBackupVaultArn"}, "arn:${AWS::Partition}:backup:eu-west-1:${AWS::AccountId}:backup-vault:docent-beta-backups"},
		} {
			if got := words(rule.at(want.path...)); got != want.value {
				t.Errorf("%s: %v is %s, want %s", name, want.path, got, want.value)
			}
		}
	})
	if role := m.of("AWS::IAM::Role")["BackupRole"]; words(role.at("AssumeRolePolicyDocument", "Statement", 0, "Principal")) != "Service=backup.amazonaws.com" {
		t.Errorf("the role is assumed by %v", role.at("AssumeRolePolicyDocument"))
	}
}

// TestOriginalFilesAreCopiedToTheOtherRegion checks that both buckets have versions, that only original files are copied, also their
// deletion, and that what is deleted does not stay for ever.
func TestOriginalFilesAreCopiedToTheOtherRegion(t *testing.T) {
	t.Parallel()
	near, far := whole(t).of("AWS::S3::Bucket")["Segments"], copies(t).of("AWS::S3::Bucket")["Originals"]
	name := words(far.at("BucketName"))
	if name != "docent-beta-backups-${AWS::AccountId}-eu-west-1" || far.DeletionPolicy != "RetainExceptOnCreate" {
		t.Errorf("the bucket of the copies is %s, on removal %s", name, far.DeletionPolicy)
	}
	rule := resource{Properties: near.at("ReplicationConfiguration", "Rules", 0).(map[string]any)}
	for _, want := range []struct {
		got   any
		value string
	}{
		{rule.at("Destination", "Bucket"), "arn:${AWS::Partition}:s3:::" + name},
		{rule.at("Filter", "Prefix"), "originals/"}, {rule.at("Status"), "Enabled"}, {rule.at("DeleteMarkerReplication", "Status"), "Enabled"},
		{near.at("ReplicationConfiguration", "Role"), "${ReplicationRole}"},
	} {
		if got := words(want.got); got != want.value {
			t.Errorf("%s, want %s", got, want.value)
		}
	}
	for _, bucket := range []resource{near, far} {
		if bucket.at("VersioningConfiguration", "Status") != "Enabled" {
			t.Errorf("versions: %v", bucket.at("VersioningConfiguration"))
		}
		days := map[string]string{}
		for _, r := range list(bucket.at("LifecycleConfiguration", "Rules")) {
			r := resource{Properties: r.(map[string]any)}
			days[words(r.at("Prefix"))] += words(r.at("NoncurrentVersionExpiration", "NoncurrentDays")) + words(r.at("ExpiredObjectDeleteMarker"))
		}
		if days["originals/"] != "35<nil>" || days["segments/"] != "1<nil>" || days["vectors/"] != "1<nil>" || !strings.Contains(days["<nil>"], "true") {
			t.Errorf("deleted objects stay %v", days)
		}
	}
	copies(t).each(t, "AWS::S3::BucketPolicy", func(t *testing.T, name string, r resource) { refusesPlainText(t, name, r) })
	copies(t).each(t, "AWS::Backup::BackupVault", func(t *testing.T, name string, r resource) {
		if words(r.at("BackupVaultName")) != "docent-beta-backups" || r.DeletionPolicy != "RetainExceptOnCreate" {
			t.Errorf("%s: %v, on removal %s", name, r.Properties, r.DeletionPolicy)
		}
	})
}

// TestARestoreHasItsRole checks that the role of the guide's commands is there when the region of the tables is lost.
func TestARestoreHasItsRole(t *testing.T) {
	t.Parallel()
	m := copies(t)
	if got := target(m.Outputs["RestoreRole"].Value); got != "Restoring" {
		t.Fatalf("the output RestoreRole is %v", m.Outputs["RestoreRole"].Value)
	}
	role := m.of("AWS::IAM::Role")["Restoring"]
	if words(role.at("AssumeRolePolicyDocument", "Statement", 0, "Principal")) != "Service=backup.amazonaws.com" ||
		!strings.HasSuffix(words(role.at("ManagedPolicyArns", 0)), "policy/service-role/AWSBackupServiceRolePolicyForRestores") ||
		role.DeletionPolicy != "RetainExceptOnCreate" {
		t.Errorf("%v, on removal %s", role.Properties, role.DeletionPolicy)
	}
}

func TestAFailedBackupTellsWhomAlarmsTell(t *testing.T) {
	t.Parallel()
	rules := whole(t).of("AWS::Events::Rule")
	for rule, vault := range map[string]string{"FailedBackup": "backupVaultArn", "FailedCopy": "sourceBackupVaultArn"} {
		r := rules[rule]
		if target(r.at("Targets", 0, "Arn")) != "Alarms" || r.at("Targets", 1, "Arn") != topicARN || target(r.at("EventPattern", "detail", vault, 0)) != "BackupVault" ||
			words(r.at("EventPattern", "detail", "state")) != "FAILED, ABORTED, EXPIRED" {
			t.Errorf("%s: %v", rule, r.Properties)
		}
	}
}

// TestTheDeploymentSeesTheOtherRegion checks what scripts/deploy and the CDK's command line read: the region of the second stack, and
// that the first one is deployed after it.
func TestTheDeploymentSeesTheOtherRegion(t *testing.T) {
	t.Parallel()
	var manifest struct {
		Artifacts map[string]struct {
			Environment  string
			Dependencies []string
		}
	}
	readManifest(t, &manifest)
	if got := manifest.Artifacts[backupsID].Environment; got != "aws://unknown-account/eu-west-1" {
		t.Errorf("the copies go to %s", got)
	}
	if got := manifest.Artifacts[constructID].Dependencies; !slices.Contains(got, backupsID) {
		t.Errorf("the stack depends on %v", got)
	}
}
