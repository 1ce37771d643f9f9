package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestWrongValuesAreNamedTogether(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		given map[string]string
		want  []string
	}{
		"unknown and malformed": {map[string]string{"colour": "red", "waf": "yes", "logDays": "31", "workers": "1", "removal": "keep", "tableKey": "mine",
			"name": "9 lives", "modelArns": "x"},
			[]string{`no value "colour"`, "waf=yes", "logDays=31", "one of [1 3 5", "workers=1", "from 2 to 1000", "removal=keep", "tableKey=mine", "name=9 lives", "modelArns=x"}},
		"a domain without its certificate": {map[string]string{"domain": "docent.example.com"}, []string{"domain and certificate"}},
		"a local domain":                   {map[string]string{"local": "http://localhost:4566", "domain": "d.example.com", "certificate": "arn:aws:acm:eu-central-1:1:c"}, []string{"no domain"}},
		"a path of a local emulator":       {map[string]string{"local": "http://localhost:4566/v1"}, []string{"local=http"}},
		"another architecture":             {map[string]string{"architecture": "amd64"}, []string{"neither arm64 nor x86_64"}},
		"a zone without a domain":          {map[string]string{"zone": "Z1", "zoneName": "example.com"}, []string{"zone and zoneName"}},
		"a budget without an address":      {map[string]string{"budget": "5"}, []string{"a budget requires alarmsEmail"}},
		"a backup that tells nobody":       {map[string]string{"backupRegion": "eu-west-1"}, []string{"backupRegion requires alarms and alarmsEmail or alarmsTopic"}},
		"a topic that is none":             {map[string]string{"alarmsTopic": "on-call"}, []string{"alarmsTopic=on-call"}},
		"a tag without a value":            {map[string]string{"tags": "team=search,prod"}, []string{`tags=team=search,prod: "prod" is not KEY=VALUE`}},
		"a tag of the stack":               {map[string]string{"tags": "docent=wiki"}, []string{"the tag docent is not yours"}},
		"a tag of AWS":                     {map[string]string{"tags": "aws:team=search"}, []string{"the tag aws:team is not yours"}},
		"a tag twice, as IAM reads it":     {map[string]string{"tags": "Team=search, team=wiki"}, []string{"the tag team is not yours to give, or is given twice"}},
		"too many tags":                    {map[string]string{"tags": manyTags()}, []string{"more than 40 tags"}},
		"a boundary without a name":        {map[string]string{"permissionsBoundary": "arn:aws:iam::123456789012:policy/"}, []string{"permissionsBoundary=arn"}},
		"a boundary that is none":          {map[string]string{"permissionsBoundary": "arn:aws:iam::123456789012:role/x"}, []string{"permissionsBoundary=arn"}},
		"a backup without alarms":          {map[string]string{"backupRegion": "eu-west-1", "alarmsEmail": "ops@example.com", "alarms": "false"}, []string{"requires alarms and alarmsEmail or alarmsTopic"}},
		"the gateway's address alone":      {map[string]string{"gatewayAddress": "true"}, []string{"gatewayAddress requires a domain"}},
		"a backup within an emulator":      {map[string]string{"backupRegion": "eu-west-1", "local": "http://localhost:4566"}, []string{"no other region"}},
		"a region that is none":            {map[string]string{"backupRegion": "Ireland", "backupDays": "0"}, []string{"backupRegion=Ireland", "backupDays=0"}},
		"a long name with backups":         {map[string]string{"backupRegion": "eu-west-1", "name": "a-name-of-nearly-thirty-letters"}, []string{"at most 26 characters"}},
		"a canary without alarms":          {map[string]string{"canary": "true", "alarms": "false"}, []string{"a canary requires alarms"}},
		"a model's ARN alone":              {map[string]string{"model": "arn:aws:bedrock:eu-central-1:1:inference-profile/x"}, []string{"requires modelArns"}},
		"ARNs without a model":             {map[string]string{"modelArns": "arn:aws:bedrock:eu-central-1::foundation-model/x"}, []string{"modelArns require model"}},
		"a server without a model":         {map[string]string{"modelUrl": "https://models.example.com/v1"}, []string{"require model"}},
		"a model without its server":       {map[string]string{"model": "m", "modelProvider": "openai"}, []string{"requires modelUrl"}},
		"a server without TLS":             {map[string]string{"model": "m", "modelUrl": "http://models.example.com/v1"}, []string{"modelUrl=http://"}},
		"a key in the address":             {map[string]string{"model": "m", "modelUrl": "https://u:p@models.example.com/v1"}, []string{"modelUrl=https://"}},
		"a key for Bedrock":                {map[string]string{"model": "m", "modelKeyParameter": "/k"}, []string{"modelKeyParameter is for"}},
		"ARNs for another provider":        {map[string]string{"model": "m", "modelUrl": "https://models.example.com/v1", "modelArns": "arn:aws:bedrock:eu-central-1::x"}, []string{"modelArns is for"}},
		"a size for the process":           {map[string]string{"embeddingSize": "256"}, []string{"are for a model of bedrock or openai"}},
		"a server for no model":            {map[string]string{"embeddingProvider": "none", "embeddingUrl": "https://models.example.com/v1"}, []string{"are for a model of bedrock or openai"}},
		"an embedding server without size": {map[string]string{"embeddingModel": "m", "embeddingUrl": "https://models.example.com/v1"}, []string{"and embeddingSize"}},
		"a size that Titan does not have":  {map[string]string{"embeddingProvider": "bedrock", "embeddingSize": "384"}, []string{"256, 512 or 1024"}},
		"a key for embeddings of Bedrock":  {map[string]string{"embeddingProvider": "bedrock", "embeddingKeyParameter": "/k"}, []string{"embeddingKeyParameter is for"}},
		"an embedding server without TLS":  {map[string]string{"embeddingModel": "m", "embeddingSize": "9", "embeddingUrl": "http://models.example.com/v1"}, []string{"embeddingUrl=http://"}},
		"a domain with empty labels":       {map[string]string{"domain": "-.-", "certificate": "arn:aws:acm:eu-central-1:1:certificate/x"}, []string{"domain=-.-"}},
		"another domain's zone":            {map[string]string{"domain": "a.example.com", "certificate": "arn:aws:acm:eu-central-1:1:certificate/x", "zone": "Z1", "zoneName": "xample.com"}, []string{"domain=a.example.com is not in the zone xample.com"}},
		"the address of a call":            {map[string]string{"model": "m", "modelUrl": "https://models.example.com/v1/chat/completions"}, []string{"is the address of a call"}},
		"a name that no parameter has":     {map[string]string{"model": "m", "modelUrl": "https://models.example.com/v1", "modelKeyParameter": "/a//b"}, []string{"modelKeyParameter=/a//b"}},
		"a moment with parts of a second":  {map[string]string{"restored": "20261123T050000.5Z"}, []string{"restored=20261123T050000.5Z: it is not a moment"}},
		"a moment that was never":          {map[string]string{"restored": "20261323T050000Z"}, []string{"restored=20261323T050000Z: it is not a moment"}},
		"another provider of embeddings":   {map[string]string{"embeddingProvider": "other"}, []string{"embeddingProvider=other"}},
		"another provider":                 {map[string]string{"model": "m", "modelProvider": "other"}, []string{"modelProvider=other"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parse(c.given)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in: %v", want, err)
				}
			}
		})
	}
}

// TestValuesOfAnotherRegionAreRefused checks that a template is not written which would fail only when it is deployed.
func TestValuesOfAnotherRegionAreRefused(t *testing.T) {
	const (
		topic       = "-c alarmsTopic=" + topicARN
		certificate = "-c domain=d.example.com -c certificate=arn:aws:acm:us-east-1:123456789012:certificate/c"
		backup      = "-c alarmsEmail=ops@example.com -c backupRegion=eu-west-1"
		accepted    = "is not built" // the next that is checked
	)
	for _, c := range []struct{ name, region, fallback, args, want string }{
		{"a topic of another region", "us-east-1", "", topic, "the topic of the alarms is in the region eu-central-1: CloudWatch needs one of us-east-1"},
		{"the other variable", "", "us-east-1", topic, "CloudWatch needs one of us-east-1"},
		{"the first variable counts", "eu-central-1", "us-east-1", topic, accepted},
		{"the topic's own region", "eu-central-1", "", topic, accepted},
		{"a certificate of another region", "eu-central-1", "", certificate, "the certificate is of the region us-east-1: the domain needs one of eu-central-1"},
		{"backups in the stack's region", "eu-west-1", "", backup, "backupRegion=eu-west-1 is the region of the stack"},
		{"backups elsewhere", "eu-central-1", "", backup, accepted},
		{"backups in a region of another partition", "", "", "-c alarmsEmail=ops@example.com -c backupRegion=eusc-de-east-1", accepted},
		{"no region", "", "", topic + " " + certificate + " " + backup, accepted},
		{"an emulator", "us-east-1", "", topic + " -c local=http://localhost:4566", accepted},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("AWS_REGION", c.region)
			t.Setenv("AWS_DEFAULT_REGION", c.fallback)
			folder := t.TempDir()
			err := run(strings.Fields(c.args + " -c dist=" + folder + " -o " + filepath.Join(folder, "out")))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func manyTags() string {
	var tags []string
	for i := range mostTags + 1 {
		tags = append(tags, fmt.Sprintf("t%d=", i))
	}
	return strings.Join(tags, ",")
}

func TestEveryValueIsInTheGuide(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for key, s := range known {
		row := "| `" + key + "` | "
		if s.fallback != "" {
			row += "`" + s.fallback + "` |"
		}
		if !strings.Contains(string(guide), row) {
			t.Errorf("README.md has no row %q", row)
		}
	}
	if _, err := parse(nil); err != nil {
		t.Errorf("the defaults are not accepted: %v", err)
	}
}

// TestTheProviderThatIsMeant checks that an address means a server, and no address Bedrock.
func TestTheProviderThatIsMeant(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		given    map[string]string
		provider string
	}{
		{nil, ""},
		{map[string]string{"model": "m"}, bedrock},
		{map[string]string{"model": "m", "modelProvider": "bedrock", "modelUrl": "https://bedrock.example.com"}, bedrock},
		{map[string]string{"model": "m", "modelUrl": "https://models.example.com/v1"}, openai},
	} {
		s, err := parse(c.given)
		if err != nil || s.provider != c.provider {
			t.Errorf("%v: provider %q, want %q (%v)", c.given, s.provider, c.provider, err)
		}
	}
}

// TestValuesThatAreNotGivenChangeNothing checks that a deployment keeps the values of the one before it, which it reads in the output
// Settings, and that a value is forgotten when its default is given.
func TestValuesThatAreNotGivenChangeNothing(t *testing.T) {
	t.Parallel()
	given := map[string]string{"alarmsEmail": "ops@example.com", "rate": "50", "removal": "destroy", "architecture": "x86_64", "dist": "elsewhere", "backupRegion": "eu-west-1"}
	first, err := parse(given)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"alarmsEmail":"ops@example.com","backupRegion":"eu-west-1","rate":"50","removal":"destroy"}`; first.chosenJSON() != want {
		t.Errorf("remembered %s, want %s", first.chosenJSON(), want)
	}
	last := maps.Clone(first.chosen)
	last["colour"] = "red" // of another version
	for _, c := range []struct {
		name  string
		given map[string]string
		want  string
	}{
		{"nothing", nil, first.chosenJSON()},
		{"another value", map[string]string{"rate": "60"}, `{"alarmsEmail":"ops@example.com","backupRegion":"eu-west-1","rate":"60","removal":"destroy"}`},
		{"defaults", map[string]string{"rate": "500", "alarmsEmail": "", "removal": "retain", "backupRegion": ""}, `{}`},
	} {
		if c.given == nil {
			c.given = map[string]string{}
		}
		s, err := parse(remembered(c.given, last))
		if err != nil || s.chosenJSON() != c.want {
			t.Errorf("%s: %s, want %s (%v)", c.name, s.chosenJSON(), c.want, err)
		}
	}
}

func TestTheStackSaysWhetherAlarmsAreSent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		given map[string]string
		want  string
	}{
		{nil, nobody}, {map[string]string{"alarmsEmail": "ops@example.com"}, "ops@example.com"},
		{map[string]string{"alarmsEmail": "ops@example.com", "alarms": "false"}, nobody}, {map[string]string{"alarmsTopic": topicARN}, topicARN},
	} {
		if s, err := parse(c.given); err != nil || s.told() != c.want {
			t.Errorf("%v: %s, want %s (%v)", c.given, s.told(), c.want, err)
		}
	}
	for want, m := range map[string]template{nobody: plain(t), "ops@example.com, " + topicARN: whole(t)} {
		if got := m.Outputs["AlarmsTold"].Value; got != want {
			t.Errorf("the output is %v, want %s", got, want)
		}
	}
	if got, _ := whole(t).Outputs["Settings"].Value.(string); !strings.Contains(got, `"alarmsEmail":"ops@example.com"`) {
		t.Errorf("the output Settings is %s", got)
	}
}

func TestTheStageNamesTheStack(t *testing.T) {
	t.Parallel()
	for want, given := range map[string]map[string]string{
		"docent": nil, "docent-beta": {"stage": "beta"}, "wiki-beta": {"stage": "beta", "name": "wiki"},
	} {
		s, err := parse(given)
		if err != nil || s.stackName() != want {
			t.Errorf("%v names it %s, want %s (%v)", given, s.stackName(), want, err)
		}
	}
}

// TestNothingIsWrittenOfFunctionsThatAreNotBuilt checks that the command fails before it starts.
func TestNothingIsWrittenOfFunctionsThatAreNotBuilt(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for args, want := range map[string]string{
		"-c dist=" + folder: "is not built: run make build",
		"-c waf":            "not KEY=VALUE",
		"-last " + folder:   "the values of the last deployment",
		"more":              `"more" is not an argument`,
		"-c stage=a/b":      "stage=a/b",
	} {
		err := run(append(strings.Fields(args), []string{"-o", filepath.Join(folder, "out")}...))
		if args == "more" {
			err = run([]string{"more"})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "out")); err == nil {
		t.Error("it has written something")
	}
}

// TestAFunctionForAnotherProcessorIsNotDeployed checks the program of this test, which is built for this machine.
func TestAFunctionForAnotherProcessorIsNotDeployed(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("programs of this system do not say it")
	}
	folder := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(folder, "admin"), 0o700), os.Symlink(program, filepath.Join(folder, "admin", "bootstrap"))); err != nil {
		t.Fatal(err)
	}
	for architecture, ours := range map[string]string{"arm64": "arm64", "x86_64": "amd64"} {
		s, err := parse(map[string]string{"architecture": architecture, "dist": folder})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.runs("admin"); (err == nil) != (runtime.GOARCH == ours) {
			t.Errorf("%s: %v", architecture, err)
		}
	}
}
