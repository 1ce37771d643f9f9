package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryRoleHasTheBoundaryThatIsGiven checks both stacks: a single role without it, and an account whose rules ask for it refuses the
// deployment.
func TestEveryRoleHasTheBoundaryThatIsGiven(t *testing.T) {
	t.Parallel()
	const byName = "arn:${AWS::Partition}:iam::${AWS::AccountId}:policy/org/developer"
	for name, c := range map[string]struct {
		m    template
		want string
	}{
		"none": {plain(t), ""}, "by name": {whole(t), byName}, "the copies": {copies(t), byName},
		"by ARN": {compatible(t), "arn:aws:iam::123456789012:policy/developer"},
	} {
		c.m.each(t, "AWS::IAM::Role", func(t *testing.T, role string, r resource) {
			if got := words(r.at("PermissionsBoundary")); r.at("PermissionsBoundary") != nil && got != c.want || (c.want == "") != (r.at("PermissionsBoundary") == nil) {
				t.Errorf("%s: the boundary of %s is %q, want %q", name, role, got, c.want)
			}
		})
	}
}

// TestTheGivenTagsAreOnEverything checks the stacks, whose tags CloudFormation gives to all resources that take any, and the tables in
// the template.
func TestTheGivenTagsAreOnEverything(t *testing.T) {
	t.Parallel()
	var manifest struct {
		Artifacts map[string]struct {
			Properties struct{ Tags map[string]string }
		}
	}
	readManifest(t, &manifest)
	for stack, owner := range map[string]string{constructID: "docent-beta", backupsID: "docent-beta-backups"} {
		want := map[string]string{"docent": owner, "team": "search", "Cost Center": "42=A"}
		if got := manifest.Artifacts[stack].Properties.Tags; !maps.Equal(got, want) {
			t.Errorf("the tags of %s are %v, want %v", stack, got, want)
		}
	}
	for _, kind := range []string{"AWS::DynamoDB::Table", "AWS::Lambda::Function", "AWS::S3::Bucket", "AWS::SQS::Queue", "AWS::IAM::Role"} {
		whole(t).each(t, kind, func(t *testing.T, name string, r resource) {
			tags, err := json.Marshal(r.at("Tags"))
			if err != nil || !strings.Contains(string(tags), `{"Key":"Cost Center","Value":"42=A"}`) {
				t.Errorf("%s has the tags %s, %v", name, tags, err)
			}
		})
	}
}

// readManifest decodes what the CDK wrote about all stacks.
func readManifest(t *testing.T, manifest any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(whole(t).folder, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, manifest); err != nil {
		t.Fatal(err)
	}
}
