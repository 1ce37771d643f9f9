package main

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// starred are the resources with a star, by action, with the reason.
var starred = map[string]string{
	"xray:PutTraceSegments *":                                   "X-Ray has no resources",
	"xray:PutTelemetryRecords *":                                "X-Ray has no resources",
	"cloudwatch:DescribeAlarms *":                               "alarms are described by their names, not as resources",
	"s3:GetObject ${Segments}/segments/*":                       "the names of segments are made as they are written",
	"s3:GetObject ${Segments}/vectors/*":                        "the names of vectors are made as they are written",
	"s3:PutObject ${Segments}/segments/*":                       "the names of segments are made as they are written",
	"s3:PutObject ${Segments}/vectors/*":                        "the names of vectors are made as they are written",
	"s3:DeleteObject ${Segments}/segments/*":                    "the names of segments are made as they are written",
	"s3:DeleteObject ${Segments}/vectors/*":                     "the names of vectors are made as they are written",
	"s3:DeleteObject ${Segments}/originals/*":                   "each document that was a file has one object",
	"s3:GetObject ${Segments}/originals/*":                      "each document that was a file has one object",
	"s3:PutObject ${Segments}/originals/*":                      "each document that was a file has one object",
	"s3:GetObjectVersionForReplication ${Segments}/originals/*": "every original file is copied",
	"s3:GetObjectVersionAcl ${Segments}/originals/*":            "every original file is copied",
	"s3:GetObjectVersionTagging ${Segments}/originals/*":        "every original file is copied",
	"s3:ReplicateObject arn:${AWS::Partition}:s3:::docent-beta-backups-${AWS::AccountId}-eu-west-1/originals/*": "every original file is copied",
	"s3:ReplicateDelete arn:${AWS::Partition}:s3:::docent-beta-backups-${AWS::AccountId}-eu-west-1/originals/*": "every original file is copied",
	"s3:ReplicateTags arn:${AWS::Partition}:s3:::docent-beta-backups-${AWS::AccountId}-eu-west-1/originals/*":   "every original file is copied",
	"bedrock:InvokeModel arn:${AWS::Partition}:bedrock:*::foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0": "a profile passes a " +
		"request on to its model in any of its regions",
	"bedrock:InvokeModelWithResponseStream arn:${AWS::Partition}:bedrock:*::foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0": "a profile passes a " +
		"request on to its model in any of its regions",
}

// keyPolicy is the action of the key's own policy. It leaves the key to the account's policies, as AWS recommends;
// without it the key could not be administered.
const keyPolicy = "kms:*"

func TestPoliciesNameWhatTheyAllow(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, m := range []template{plain(t), whole(t), compatible(t), careful(t)} {
		seen := 0
		for name, r := range m.Resources {
			for _, s := range statements(r) {
				if s.at("Effect") != "Allow" {
					continue
				}
				seen++
				for _, action := range list(s.at("Action")) {
					action := action.(string)
					if strings.Contains(action, "*") && (r.Type != "AWS::KMS::Key" || action != keyPolicy) {
						t.Errorf("%s allows %s", name, action)
					}
					for _, on := range list(s.at("Resource")) {
						grant := action + " " + words(on)
						if strings.Contains(words(on), "*") && r.Type != "AWS::KMS::Key" && starred[grant] == "" {
							t.Errorf("%s allows %s", name, grant)
						}
						used[grant] = true
					}
				}
				if who := s.at("Principal"); who == "*" || words(who) == "AWS=*" {
					t.Errorf("%s allows everyone %v", name, s.at("Action"))
				}
			}
			if managed := r.at("ManagedPolicyArns"); managed != nil && bare(name) != "ApiCloudWatchRole" && bare(name) != "BackupRole" {
				t.Errorf("%s has policies that are not ours: %s", name, words(managed))
			}
			if r.Type == "AWS::IAM::Policy" && bare(name) != "ReplicationPolicy" || r.Type == "AWS::IAM::ManagedPolicy" {
				t.Errorf("%s is added to the policy of its function", name)
			}
		}
		if seen < len(functions) {
			t.Errorf("%d statements", seen)
		}
	}
	for grant := range starred {
		if !used[grant] {
			t.Errorf("nothing allows %s: remove its reason", grant)
		}
	}
}

// statements returns the statements of all policies in a resource.
func statements(r resource) (out []resource) {
	documents := []any{r.at("PolicyDocument"), r.at("KeyPolicy"), r.at("AssumeRolePolicyDocument")}
	for _, p := range list(r.at("Policies")) {
		documents = append(documents, p.(map[string]any)["PolicyDocument"])
	}
	for _, d := range documents {
		d, _ := d.(map[string]any)
		for _, s := range list(d["Statement"]) {
			out = append(out, resource{Properties: s.(map[string]any)})
		}
	}
	return out
}

// granted returns what the policy of a function allows, as "action resource".
func granted(m template, function string) (out []string) {
	role := m.of("AWS::IAM::Role")[*id(function, "Role")]
	for _, s := range statements(role) {
		for _, action := range list(s.at("Action")) {
			for _, on := range list(s.at("Resource")) {
				out = append(out, action.(string)+" "+words(on))
			}
		}
	}
	slices.Sort(out)
	return out
}

func TestOnlyWhoAsksAModelMayInvokeIt(t *testing.T) {
	t.Parallel()
	for _, f := range functions {
		var invokes []string
		for _, g := range granted(whole(t), f.name) {
			if strings.HasPrefix(g, "bedrock:") {
				invokes = append(invokes, g)
			}
		}
		var want []string
		if f.name == "answering" || f.name == "answers" || f.name == "context" { // a model writes answers and research
			for _, action := range []string{"bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream"} {
				want = append(want,
					action+" arn:${AWS::Partition}:bedrock:${AWS::Region}:${AWS::AccountId}:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
					action+" arn:${AWS::Partition}:bedrock:*::foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0")
			}
		}
		if f.embeds {
			want = append(want, "bedrock:InvokeModel arn:${AWS::Partition}:bedrock:${AWS::Region}::foundation-model/amazon.titan-embed-text-v2:0")
		}
		slices.Sort(want)
		if !slices.Equal(invokes, want) {
			t.Errorf("%s: %q, want %q", f.name, invokes, want)
		}
		if slices.ContainsFunc(granted(plain(t), f.name), func(g string) bool { return strings.HasPrefix(g, "bedrock:") }) {
			t.Errorf("%s may call a model that does not exist", f.name)
		}
	}
}

func TestOnlyWhoAsksAModelMayReadItsKey(t *testing.T) {
	t.Parallel()
	const parameter = "ssm:GetParameter arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter/docent/"
	for _, f := range functions {
		var grants, want []string
		if f.embeds {
			want = append(want, parameter+"embedding-key")
		}
		if f.name == "answering" || f.name == "answers" || f.name == "context" {
			want = append(want, parameter+"model-key")
		}
		for _, g := range granted(compatible(t), f.name) {
			if strings.HasPrefix(g, "ssm:") || strings.HasPrefix(g, "bedrock:") {
				grants = append(grants, g)
			}
		}
		if !slices.Equal(grants, want) {
			t.Errorf("%s: %q, want %q", f.name, grants, want)
		}
		if slices.ContainsFunc(granted(whole(t), f.name), func(g string) bool { return strings.HasPrefix(g, "ssm:") }) {
			t.Errorf("%s may read a key that does not exist", f.name)
		}
	}
}

func TestOnlyTheGatewayAndTheScheduleInvoke(t *testing.T) {
	t.Parallel()
	m := plain(t)
	invoked := map[string]string{}
	m.each(t, "AWS::Lambda::Permission", func(t *testing.T, name string, r resource) {
		invoked[target(r.at("FunctionName"))] = words(r.at("Principal"))
		if r.at("SourceArn") == nil {
			t.Errorf("%s has no source: anyone in that service may call", name)
		}
	})
	for _, f := range functions {
		want := ""
		switch {
		case f.serves():
			want = "apigateway.amazonaws.com"
		case f.name == "sweeping":
			want = "events.amazonaws.com"
		}
		if got := invoked[*functionID(f.name)]; got != want {
			t.Errorf("%s is invoked by %q, want %q", f.name, got, want)
		}
	}
}

// TestOnlyAlarmsAndBackupsPublish checks who may send mail through the topic. A budget sends its own.
func TestOnlyAlarmsAndBackupsPublish(t *testing.T) {
	t.Parallel()
	who := map[string]bool{}
	whole(t).each(t, "AWS::SNS::TopicPolicy", func(_ *testing.T, _ string, r resource) {
		for _, s := range statements(r) {
			if s.at("Effect") == "Allow" {
				who[words(s.at("Principal"))] = true
			}
		}
	})
	if got, want := slices.Sorted(maps.Keys(who)), []string{"Service=cloudwatch.amazonaws.com", "Service=events.amazonaws.com"}; !slices.Equal(got, want) {
		t.Errorf("%q may publish, want %q", got, want)
	}
}

// TestOriginalFilesAreForFew checks who may read, keep and delete the files that people have put: not those that search, which read only
// the index.
func TestOriginalFilesAreForFew(t *testing.T) {
	t.Parallel()
	may := map[string]string{"s3:GetObject": "documents extracting syncing", "s3:PutObject": "documents syncing", "s3:DeleteObject": "indexing"}
	for action, want := range may {
		var who []string
		for _, f := range functions {
			if slices.Contains(granted(plain(t), f.name), action+" ${Segments}/originals/*") {
				who = append(who, f.name)
			}
		}
		if got := strings.Join(who, " "); got != want {
			t.Errorf("%s on original files: %q, want %q", action, got, want)
		}
	}
}
