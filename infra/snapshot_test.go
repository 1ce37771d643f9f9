package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/stack.txt")

// shown are the properties whose changes a reviewer should see, by type. Other tests cover the rest, or it follows
// from these.
var shown = map[string][]string{
	"AWS::ApiGateway::Method":          {"HttpMethod"},
	"AWS::ApiGateway::Stage":           {"StageName", "MethodSettings"},
	"AWS::CloudWatch::Alarm":           {"MetricName", "Threshold", "EvaluationPeriods", "DatapointsToAlarm", "TreatMissingData"},
	"AWS::DynamoDB::Table":             {"BillingMode", "KeySchema", "PointInTimeRecoverySpecification", "SSESpecification"},
	"AWS::Events::Rule":                {"ScheduleExpression"},
	"AWS::KMS::Key":                    {"EnableKeyRotation", "PendingWindowInDays"},
	"AWS::Lambda::EventInvokeConfig":   {"MaximumEventAgeInSeconds", "MaximumRetryAttempts"},
	"AWS::Lambda::EventSourceMapping":  {"BatchSize", "ScalingConfig"},
	"AWS::Lambda::Function":            {"MemorySize", "Timeout"},
	"AWS::Lambda::Permission":          {"Principal"},
	"AWS::Logs::LogGroup":              {"RetentionInDays"},
	"AWS::SQS::Queue":                  {"MessageRetentionPeriod", "VisibilityTimeout", "RedrivePolicy"},
	"AWS::ApiGateway::GatewayResponse": {"StatusCode"},
	"AWS::ApiGateway::Resource":        {"PathPart"},
	"AWS::Logs::MetricFilter":          {"FilterPattern"},
	"AWS::S3::Bucket":                  {"LifecycleConfiguration", "CorsConfiguration"},
	"AWS::ApiGateway::RestApi":         {"MinimumCompressionSize", "SecurityPolicy"},
	"AWS::ApiGateway::Account":         {},
	"AWS::ApiGateway::Deployment":      {},
	"AWS::CloudWatch::Dashboard":       {},
	"AWS::IAM::Role":                   {}, // below, by function
	"AWS::S3::BucketPolicy":            {},
	"AWS::SQS::QueuePolicy":            {},
}

// abridged shortens what belongs together to one word.
var abridged = strings.NewReplacer(
	strings.Join(slices.Sorted(slices.Values(slices.Concat(readItems, writeItems))), " "), "read and write items",
	strings.Join(readItems, " "), "read items",
	strings.Join(writeLog, " "), "log", strings.Join(trace, " "), "trace", strings.Join(takeMessages, " "), "take messages")

// summary describes the stack in a page or two: its resources, and who may do what.
func summary(t *testing.T, m template) string {
	t.Helper()
	var b strings.Builder
	byType := map[string]map[string]resource{}
	for name, r := range m.Resources {
		if _, ok := shown[r.Type]; !ok {
			t.Errorf("%s is a %s, of which nothing is shown", name, r.Type)
		}
		if byType[r.Type] == nil {
			byType[r.Type] = m.of(r.Type)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(byType)) {
		fmt.Fprintf(&b, "%s\n", strings.TrimPrefix(kind, "AWS::"))
		for _, name := range slices.Sorted(maps.Keys(byType[kind])) {
			r := byType[kind][name]
			if kind == "AWS::ApiGateway::Deployment" {
				name = "" // its name is a hash of the API
			}
			line := "  " + name
			for _, property := range shown[kind] {
				if v := r.at(property); v != nil {
					line += " " + property + "=" + words(v)
				}
			}
			if r.DeletionPolicy != "" {
				line += " on removal " + r.DeletionPolicy
			}
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	b.WriteString("\nWho may do what\n")
	for _, f := range functions {
		fmt.Fprintf(&b, "  %s\n", f.name)
		on := map[string][]string{}
		for _, g := range granted(m, f.name) {
			action, what, _ := strings.Cut(g, " ")
			on[what] = append(on[what], action)
		}
		for _, what := range slices.Sorted(maps.Keys(on)) {
			fmt.Fprintf(&b, "    %s: %s\n", what, abridged.Replace(strings.Join(on[what], " ")))
		}
	}
	return b.String()
}

// TestStackIsAsReviewed shows how a change affects the template. To accept it: go test ./infra -run
// TestStackIsAsReviewed -update
func TestStackIsAsReviewed(t *testing.T) {
	t.Parallel()
	const file = "testdata/stack.txt"
	got := summary(t, plain(t))
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("the stack changes (- is reviewed, + is new); if it should, run with -update:\n%s", diff)
	}
}
