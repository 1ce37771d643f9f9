package main

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var released = flag.String("released", "", "write the names of the stack's resources to testdata/released, as those of this version")

// holders are the resources that hold data. A released stack's must stay, each under its name.
var holders = []string{"AWS::DynamoDB::Table", "AWS::KMS::Key", "AWS::S3::Bucket", "AWS::SQS::Queue"}

// TestReleasedStacksCanBeUpdated compares the names of the stack's resources with those of each released version, with the defaults and
// with every option, as "type name". CloudFormation refuses an update that gives a name to a resource of another type, and makes a resource
// with a new name anew, without its data.
func TestReleasedStacksCanBeUpdated(t *testing.T) {
	t.Parallel()
	all := []template{plain(t), whole(t), careful(t)}
	if *released != "" {
		if err := os.WriteFile(filepath.Join("testdata/released", *released+".txt"), []byte(names(all)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob("testdata/released/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d released stacks: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				kind, name, _ := strings.Cut(strings.TrimSpace(line), " ")
				for _, m := range all {
					now, ok := m.Resources[name]
					if ok && now.Type != kind {
						t.Errorf("%s was a %s and is a %s", name, kind, now.Type)
					}
					if !ok && slices.Contains(holders, kind) {
						t.Errorf("%s is gone, a %s", name, kind)
					}
				}
			}
		})
	}
}

// names returns "type name" of the resources of stacks, one a line. The name of a deployment of the API is a hash of it.
func names(stacks []template) string {
	var all []string
	for _, m := range stacks {
		for name, r := range m.Resources {
			if r.Type != "AWS::ApiGateway::Deployment" {
				all = append(all, r.Type+" "+name+"\n")
			}
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "")
}
