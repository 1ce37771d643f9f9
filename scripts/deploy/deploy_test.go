package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// cloud answers like STS, CloudFormation and S3.
type cloud struct {
	mu     sync.Mutex
	stacks map[string]string // replies of DescribeStacks, by stack
	who    int               // status of GetCallerIdentity; 0: 200
	code   string            // of the error with status who
	limit  int               // functions at a time; 0: GetAccountSettings is refused
	tables bool              // stacks have tables of their own, and DynamoDB every table that is asked for
	busy   int               // deletions of a stack that fail, because its functions have written to the bucket in between
	gone   bool              // the bucket does not exist
	did    []string
}

func (c *cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if strings.HasSuffix(r.URL.Path, "/account-settings") {
		if c.limit == 0 {
			w.WriteHeader(http.StatusForbidden)
		}
		fmt.Fprintf(w, `{"AccountLimit":{"ConcurrentExecutions":%d,"UnreservedConcurrentExecutions":%d}}`, c.limit+500, c.limit)
		return
	}
	if r.Method == http.MethodGet && c.gone {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `<Error><Code>NoSuchBucket</Code></Error>`)
		return
	}
	if r.Method == http.MethodGet { // S3 lists
		fmt.Fprint(w, `<ListVersionsResult><Version><Key>segments/1</Key><VersionId>v1</VersionId></Version>`+
			`<DeleteMarker><Key>segments/2</Key><VersionId>v2</VersionId></DeleteMarker><IsTruncated>false</IsTruncated></ListVersionsResult>`)
		return
	}
	if r.URL.Query().Has("delete") {
		body, _ := io.ReadAll(r.Body)
		for _, version := range []string{"<VersionId>v1<", "<VersionId>v2<"} {
			if !strings.Contains(string(body), version) {
				c.did = append(c.did, "keep "+version)
			}
		}
		c.did = append(c.did, "empty "+strings.Trim(r.URL.Path, "/"))
		fmt.Fprint(w, `<DeleteResult></DeleteResult>`)
		return
	}
	refuse := func(status int, code, message string) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error></ErrorResponse>`, code, message)
	}
	if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".DescribeTable") {
		if c.tables {
			fmt.Fprint(w, `{"Table":{"TableStatus":"ACTIVE"}}`)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"}`)
		return
	}
	name := r.FormValue("StackName")
	switch r.FormValue("Action") {
	case "GetCallerIdentity":
		if c.who != 0 {
			refuse(c.who, c.code, "not you")
			return
		}
		fmt.Fprint(w, `<GetCallerIdentityResponse><GetCallerIdentityResult><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`)
	case "ValidateTemplate":
		switch region, body := r.Header.Get("Authorization"), r.FormValue("TemplateBody"); {
		case strings.Contains(region, "/us-gov-west-1/") && strings.Contains(body, `"AWS::Budgets::Budget"`):
			refuse(400, "ValidationError", "Template format error: Unrecognized resource types: [AWS::Budgets::Budget]")
		case strings.Contains(region, "/eu-west-3/"):
			refuse(403, "AccessDenied", "not you")
		default:
			fmt.Fprint(w, `<ValidateTemplateResponse><ValidateTemplateResult></ValidateTemplateResult></ValidateTemplateResponse>`)
		}
	case "DescribeStacks":
		described, ok := c.stacks[name]
		if !ok {
			refuse(400, "ValidationError", "Stack with id "+name+" does not exist")
			return
		}
		fmt.Fprintf(w, `<DescribeStacksResponse><DescribeStacksResult><Stacks><member>%s</member></Stacks></DescribeStacksResult></DescribeStacksResponse>`, described)
	case "ListStackResources": // in pages of 100; the tables are in none but the last
		resources, next := `<member><ResourceType>AWS::ApiGateway::Method</ResourceType></member>`+
			`<member><ResourceType>AWS::DynamoDB::Table</ResourceType><ResourceStatus>DELETE_SKIPPED</ResourceStatus></member>`, `<NextToken>2</NextToken>`
		if r.FormValue("NextToken") != "" {
			resources, next = "", ""
			if c.tables {
				resources = `<member><ResourceType>AWS::DynamoDB::Table</ResourceType><ResourceStatus>CREATE_COMPLETE</ResourceStatus></member>`
			}
		}
		fmt.Fprintf(w, `<ListStackResourcesResponse><ListStackResourcesResult><StackResourceSummaries>%s</StackResourceSummaries>%s</ListStackResourcesResult></ListStackResourcesResponse>`, resources, next)
	case "DeleteStack":
		c.did = append(c.did, "delete "+name)
		c.stacks[name] = described(name, "DELETE_COMPLETE", name)
		if c.busy > 0 {
			c.busy--
			c.stacks[name] = described(name, "DELETE_FAILED", name) + "<StackStatusReason>failed to delete: [Segments]</StackStatusReason>"
		}
		fmt.Fprint(w, `<DeleteStackResponse></DeleteStackResponse>`)
	default:
		refuse(400, "InvalidAction", r.FormValue("Action"))
	}
}

// described returns a stack in CloudFormation's form; outputs are names and values in turn.
func described(name, status, owner string, outputs ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<StackName>%s</StackName><StackId>%s</StackId><CreationTime>2026-11-01T00:00:00Z</CreationTime><StackStatus>%s</StackStatus>`, name, name, status)
	if owner != "" {
		fmt.Fprintf(&b, `<Tags><member><Key>docent</Key><Value>%s</Value></member></Tags>`, owner)
	}
	b.WriteString("<Outputs>")
	for i := 0; i+1 < len(outputs); i += 2 {
		fmt.Fprintf(&b, `<member><OutputKey>%s</OutputKey><OutputValue>%s</OutputValue></member>`, outputs[i], outputs[i+1])
	}
	return b.String() + "</Outputs>"
}

// given sets the environment so that the deployer calls c.
func given(t *testing.T, c *cloud) {
	t.Helper()
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": server.URL, "AWS_REGION": "eu-central-1", "AWS_DEFAULT_REGION": "", "AWS_PROFILE": "",
		"AWS_ACCESS_KEY_ID": "KEY", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_MAX_ATTEMPTS": "1",
	} {
		t.Setenv(name, value)
	}
}

// assembly writes what make synth writes for a stack, and a command line of the CDK that records its arguments.
func assembly(t *testing.T, name string) (args []string, asked string) {
	t.Helper()
	folder := t.TempDir()
	manifest := `{"artifacts":{"Docent.assets":{"type":"cdk:asset-manifest"},"DocentBackups":{"type":"aws:cloudformation:stack","environment":"aws://unknown-account/eu-west-1","properties":{"stackName":"` + name + `-backups"}},"Docent":{"type":"aws:cloudformation:stack","properties":{"stackName":"` + name + `"}}}}`
	asked = filepath.Join(folder, "asked")
	cdk := filepath.Join(folder, "cdk")
	template := `{"Resources":{"A":{"Properties":{"ScalingConfig":{"MaximumConcurrency":40}}},"B":{"Properties":{"ScalingConfig":{"MaximumConcurrency":2}}},"C":{"Properties":{}}}}`
	for file, text := range map[string]string{filepath.Join(folder, "manifest.json"): manifest, filepath.Join(folder, "Docent.template.json"): template, cdk: "#!/bin/sh\necho \"$@\" >" + asked + "\n"} {
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"-assembly", folder, "-cdk", cdk}, asked
}

const base = "https://abc.execute-api.eu-central-1.amazonaws.com/v1"

func TestDeploySaysWhereTheAPIIs(t *testing.T) { // not parallel: it changes the environment of the process
	c := &cloud{stacks: map[string]string{"CDKToolkit": described("CDKToolkit", "CREATE_COMPLETE", ""),
		"docent-beta": described("docent-beta", "UPDATE_COMPLETE", "docent-beta", "BaseURL", base)}}
	given(t, c)
	args, asked := assembly(t, "docent-beta")
	var out strings.Builder
	if err := run(t.Context(), args, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{base, "Copies of the data go to eu-west-1.", "AWS_REGION=eu-central-1 bin/docent team create --aws --stack docent-beta"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in %s", want, out.String())
		}
	}
	if text, err := os.ReadFile(asked); err != nil || !strings.Contains(string(text), "deploy --app "+args[1]+" --all --require-approval never") {
		t.Errorf("the CDK is asked %s, %v", text, err)
	}
}

func TestEveryPartitionHasRegions(t *testing.T) {
	for _, region := range []string{"ap-southeast-7", "cn-north-1", "eusc-de-east-1", "us-gov-west-1", "us-isob-east-1"} {
		given(t, &cloud{stacks: map[string]string{}})
		t.Setenv("AWS_REGION", region)
		var out strings.Builder
		err := run(t.Context(), []string{"-remember", filepath.Join(t.TempDir(), "settings.json")}, &out)
		if err != nil || !strings.Contains(out.String(), region) {
			t.Errorf("%s: %v, %s", region, err, out.String())
		}
	}
}

// TestAMomentHasWholeSeconds checks that tables are not restored under names that the deployment after it would not find.
func TestAMomentHasWholeSeconds(t *testing.T) {
	for _, wrong := range []string{"2026-11-23T05:00:00.5Z", "2026-11-23T05:00:00.0Z", "2026-11-23T05:00:00+01:00", "20261123T050000Z"} {
		fake := &cloud{stacks: map[string]string{}}
		given(t, fake)
		err := run(t.Context(), []string{"-restore", wrong}, &strings.Builder{})
		if err == nil || !strings.Contains(err.Error(), "is not a moment of UTC") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

func TestDeployRefusesInOneLine(t *testing.T) {
	toolkit := described("CDKToolkit", "CREATE_COMPLETE", "")
	for name, c := range map[string]struct {
		cloud  *cloud
		set    map[string]string
		change func(args []string) []string
		want   string
	}{
		"no credentials": {set: map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, want: "there are no credentials: set AWS_PROFILE"},
		"wrong credentials": {cloud: &cloud{who: 403, code: "InvalidClientTokenId"},
			want: "AWS does not know the credentials in eu-central-1: they are wrong, or the region is not enabled"},
		"expired credentials": {cloud: &cloud{who: 403, code: "ExpiredToken"}, want: "the credentials have expired"},
		"no region":           {set: map[string]string{"AWS_REGION": ""}, want: "no region is chosen: set AWS_REGION"},
		"no such region":      {set: map[string]string{"AWS_REGION": "Frankfurt"}, want: `"Frankfurt" is not a name of a region`},
		"a region without a network to it": {set: map[string]string{"AWS_ENDPOINT_URL": "http://sts.eu-nowhere-9.invalid", "AWS_REGION": "eu-nowhere-9"},
			want: "is there a region eu-nowhere-9"},
		"no bootstrap": {cloud: &cloud{stacks: map[string]string{}},
			want: "not prepared for the CDK: run make bootstrap"},
		"another owner's stack": {cloud: &cloud{stacks: map[string]string{"CDKToolkit": toolkit, "docent": described("docent", "CREATE_COMPLETE", "")}},
			want: "the stack docent in eu-central-1 is not Docent's: choose another name"},
		"a stack that has the tag of another": {cloud: &cloud{stacks: map[string]string{"CDKToolkit": toolkit, "docent": described("docent", "CREATE_COMPLETE", "wiki")}},
			want: "is not Docent's"},
		"a stack that changes": {cloud: &cloud{stacks: map[string]string{"CDKToolkit": toolkit, "docent": described("docent", "UPDATE_IN_PROGRESS", "docent")}},
			want: "is being changed (UPDATE_IN_PROGRESS)"},
		// Until a stack has been created, the tags of its change set are not its own.
		"a stack whose creation was interrupted": {cloud: &cloud{stacks: map[string]string{"CDKToolkit": toolkit, "docent": described("docent", "REVIEW_IN_PROGRESS", "")}},
			want: "the stack docent has never been created (REVIEW_IN_PROGRESS), as after an interrupted deployment, and holds nothing: run aws cloudformation delete-stack --stack-name docent"},
		"a stack that is partly deleted": {cloud: &cloud{stacks: map[string]string{"CDKToolkit": toolkit, "docent": described("docent", "DELETE_FAILED", "docent")}},
			want: "the stack docent was not deleted whole (DELETE_FAILED), and can only be deleted"},
		"backups in its own region": {set: map[string]string{"AWS_REGION": "eu-west-1"}, want: "backupRegion=eu-west-1 is the region of the stack"},
		"nothing synthesised":       {change: func(args []string) []string { args[1] = t.TempDir(); return args }, want: "run make synth"},
		"no command line":           {change: func(args []string) []string { args[3] += "x"; return args }, want: "not installed: run make deploy"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.cloud == nil {
				c.cloud = &cloud{}
			}
			given(t, c.cloud)
			for name, value := range c.set {
				t.Setenv(name, value)
			}
			args, asked := assembly(t, "docent")
			if c.change != nil {
				args = c.change(args)
			}
			err := run(t.Context(), args, &strings.Builder{})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want %q in one line", err, c.want)
			}
			if _, err := os.Stat(asked); err == nil {
				t.Error("it was deployed")
			}
		})
	}
}

func TestDestroyRefusesWhileDataIsRetained(t *testing.T) {
	for name, c := range map[string]struct{ stack, want string }{
		"retained":                        {described("docent", "CREATE_COMPLETE", "docent", "DataRetained", "true", "BucketName", "b"), "keeps its data"},
		"it does not say":                 {described("docent", "CREATE_COMPLETE", "docent", "BucketName", "b"), "keeps its data"},
		"retained, partly deleted":        {described("docent", "DELETE_FAILED", "docent", "DataRetained", "true"), "run aws cloudformation delete-stack --stack-name docent"},
		"another owner's":                 {described("docent", "CREATE_COMPLETE", "", "DataRetained", "false"), "is not Docent's"},
		"another owner's, partly deleted": {described("docent", "DELETE_FAILED", "", "DataRetained", "false"), "is not Docent's"},
		"none":                            {"", "there is no stack docent in eu-central-1"},
	} {
		t.Run(name, func(t *testing.T) {
			fake := &cloud{stacks: map[string]string{}}
			if c.stack != "" {
				fake.stacks["docent"] = c.stack
			}
			given(t, fake)
			err := run(t.Context(), []string{"-destroy", "docent"}, &strings.Builder{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if len(fake.did) > 0 {
				t.Errorf("it did %v", fake.did)
			}
		})
	}
}

func TestDestroyEmptiesTheBucketAndDeletes(t *testing.T) {
	for _, status := range []string{"UPDATE_COMPLETE", "DELETE_FAILED"} { // a deletion may be repeated
		fake := &cloud{tables: true, stacks: map[string]string{"docent": described("docent", status, "docent", "DataRetained", "false", "BucketName", "segments")}}
		given(t, fake)
		var out strings.Builder
		if err := run(t.Context(), []string{"-destroy", "docent"}, &out); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(fake.did, ", "); got != "empty segments, delete docent" {
			t.Errorf("%s: it did %s", status, got)
		}
		if !strings.Contains(out.String(), "docent is gone") || strings.Contains(out.String(), "stay") {
			t.Errorf("%s: it says %s", status, out.String())
		}
	}
}

// TestDestroyRemovesWhatTheLastFunctionsWrote checks that one run is enough for a stack whose functions write to the bucket until they are
// deleted, and that one which cannot be deleted says why.
func TestDestroyRemovesWhatTheLastFunctionsWrote(t *testing.T) {
	for name, c := range map[string]struct {
		cloud *cloud
		did   string
		want  string // of the error; empty: it is gone
	}{
		"once":                 {&cloud{busy: 1}, "empty segments, delete docent, empty segments, delete docent", ""},
		"for ever":             {&cloud{busy: 9}, "empty segments, delete docent, empty segments, delete docent", "docent is not gone: failed to delete: [Segments]"},
		"the bucket is gone":   {&cloud{gone: true}, "delete docent", ""},
		"and the rest was not": {&cloud{gone: true, busy: 1}, "delete docent, delete docent", ""},
	} {
		t.Run(name, func(t *testing.T) {
			fake := c.cloud
			fake.tables = true
			fake.stacks = map[string]string{"docent": described("docent", "UPDATE_COMPLETE", "docent", "DataRetained", "false", "BucketName", "segments")}
			given(t, fake)
			err := run(t.Context(), []string{"-destroy", "docent"}, &strings.Builder{})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if got := strings.Join(fake.did, ", "); got != c.did {
				t.Errorf("it did %s, want %s", got, c.did)
			}
		})
	}
}

// TestDestroyNamesTheTablesThatStay destroys a stack that uses restored tables, which are not its own: their data is still there.
func TestDestroyNamesTheTablesThatStay(t *testing.T) {
	fake := &cloud{stacks: map[string]string{"docent": described("docent", "UPDATE_COMPLETE", "docent", "DataRetained", "false",
		"Tables", `{"usage":"docent-20261123T050000Z-usage","answers":"docent-20261123T050000Z-answers"}`)}}
	given(t, fake)
	var out strings.Builder
	if err := run(t.Context(), []string{"-destroy", "docent"}, &out); err != nil {
		t.Fatal(err)
	}
	if want := "Its restored tables stay, with their data: docent-20261123T050000Z-answers, docent-20261123T050000Z-usage."; !strings.Contains(out.String(), want) {
		t.Errorf("it says %s, want %s", out.String(), want)
	}
}

func TestDeploySaysWhetherAlarmsAreSent(t *testing.T) {
	for told, want := range map[string]bool{"nobody": true, "ops@example.com": false, "": false} {
		fake := &cloud{stacks: map[string]string{"CDKToolkit": described("CDKToolkit", "CREATE_COMPLETE", ""),
			"docent": described("docent", "UPDATE_COMPLETE", "docent", "BaseURL", base, "AlarmsTold", told)}}
		given(t, fake)
		args, _ := assembly(t, "docent")
		var out strings.Builder
		if err := run(t.Context(), args, &out); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "Alarms are sent to nobody") != want {
			t.Errorf("alarms go to %q: %s", told, out.String())
		}
	}
}

// TestDeployWarnsOfTooFewFunctionsAtATime checks what is said in an account whose limit leaves nothing for requests: the workers of the
// assembly may use 42.
func TestDeployWarnsOfTooFewFunctionsAtATime(t *testing.T) {
	for limit, want := range map[int]string{
		10: "may run 10 functions at a time, and the workers alone may use 42", 61: "Raise it to 62 or more", 62: "", 1000: "",
		0: "the credentials may not call lambda:GetAccountSettings. The workers may use 42",
	} {
		fake := &cloud{limit: limit, stacks: map[string]string{"CDKToolkit": described("CDKToolkit", "CREATE_COMPLETE", ""),
			"docent": described("docent", "UPDATE_COMPLETE", "docent", "BaseURL", base, "AlarmsTold", "ops@example.com")}}
		given(t, fake)
		args, asked := assembly(t, "docent")
		var out strings.Builder
		if err := run(t.Context(), args, &out); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(asked); err != nil {
			t.Errorf("%d: it was not deployed", limit)
		}
		if said := strings.Contains(out.String(), "at a time"); said != (want != "") || !strings.Contains(out.String(), want) {
			t.Errorf("%d: %s", limit, out.String())
		}
	}
}

// TestSettingsAreRemembered checks what the next deployment keeps, and that nothing else happens.
func TestSettingsAreRemembered(t *testing.T) {
	for name, c := range map[string]struct {
		stack, args string
		kept, says  string
		fails       string
	}{
		"no stack": {"", "", "{}", "The account 123456789012, eu-central-1.", ""},
		"values that are not given": {described("docent", "UPDATE_COMPLETE", "docent", "Settings", `{"alarmsEmail":"ops@example.com","rate":"50"}`), "-c rate=60",
			`{"alarmsEmail":"ops@example.com","rate":"50"}`, "Kept: alarmsEmail=ops@example.com\nChanged: rate=60, was 50\n", ""},
		"a stack of version 0.1":       {described("docent", "UPDATE_COMPLETE", "docent"), "", "", "", "give all of them this time"},
		"a stage of version 0.1":       {described("docent-beta", "UPDATE_COMPLETE", "docent-beta"), "-c name=docent -c stage=beta", "", "", "give all of them this time"},
		"version 0.1 after a restore":  {described("docent", "UPDATE_COMPLETE", "docent"), "-c restored=20261123T050000Z", "", "", "give all of them this time"},
		"settings for version 0.1":     {described("docent", "UPDATE_COMPLETE", "docent"), "-c alarmsEmail=ops@example.com", "{}", "those that are not given get their defaults", ""},
		"defaults for version 0.1":     {described("docent", "UPDATE_COMPLETE", "docent"), "-c logLevel=info", "{}", "those that are not given get their defaults", ""},
		"another stage":                {described("wiki-beta", "UPDATE_COMPLETE", "wiki-beta", "Settings", `{"name":"wiki","stage":"beta"}`), "-c name=wiki -c stage=beta", `{"name":"wiki","stage":"beta"}`, "", ""},
		"another owner's stack":        {described("docent", "UPDATE_COMPLETE", "wiki"), "", "", "", "is not Docent's"},
		"a stack that changes":         {described("docent", "UPDATE_IN_PROGRESS", "docent"), "", "", "", "is being changed"},
		"settings that are damaged":    {described("docent", "UPDATE_COMPLETE", "docent", "Settings", "{"), "", "", "", "read the settings of the stack docent"},
		"another region's certificate": {"", "-c domain=docent.example.com -c certificate=arn:aws:acm:us-east-1:1:certificate/x", "", "", "the certificate is of the region us-east-1"},
		"another region's topic":       {"", "-c alarmsTopic=arn:aws:sns:us-east-1:123456789012:on-call", "", "", "the topic of the alarms is in the region us-east-1"},
		"tables that were not restored": {described("docent", "UPDATE_COMPLETE", "docent", "Settings", "{}"), "-c restored=20261123T050000Z", "", "",
			"there is no table docent-20261123T050000Z-"},
		"empty tables instead of restored ones": {described("docent", "UPDATE_COMPLETE", "docent", "Settings", `{"restored":"20261123T050000Z"}`), "-c restored=", "", "",
			"it would get empty ones"},
		"a stack that was not created":    {described("docent", "ROLLBACK_COMPLETE", "docent"), "", "", "", "could not be created (ROLLBACK_COMPLETE)"},
		"an interrupted first deployment": {described("docent", "REVIEW_IN_PROGRESS", ""), "", "", "", "delete-stack --stack-name docent, and repeat this"},
		"a stack that is stuck":           {described("docent", "UPDATE_ROLLBACK_FAILED", "docent"), "", "", "", "continue-update-rollback --stack-name docent"},
		"no pair":                         {"", "-c rate", "", "", "not KEY=VALUE"},
	} {
		t.Run(name, func(t *testing.T) {
			fake := &cloud{stacks: map[string]string{}}
			if at, _, ok := strings.Cut(strings.TrimPrefix(c.stack, "<StackName>"), "<"); ok {
				fake.stacks[at] = c.stack
			}
			given(t, fake)
			file := filepath.Join(t.TempDir(), "settings.json")
			var out strings.Builder
			err := run(t.Context(), append([]string{"-remember", file}, strings.Fields(c.args)...), &out)
			if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Fatalf("error %v, want %q", err, c.fails)
			}
			text, _ := os.ReadFile(file)
			if string(text) != c.kept || !strings.Contains(out.String(), c.says) {
				t.Errorf("kept %s, want %s; it says %s", text, c.kept, out.String())
			}
			if len(fake.did) > 0 {
				t.Errorf("it did %v", fake.did)
			}
		})
	}
}

// TestABudgetNeedsARegionThatHasThem checks it before the build: CloudFormation would refuse the whole template after it.
func TestABudgetNeedsARegionThatHasThem(t *testing.T) {
	const refused = "CloudFormation has no budgets in us-gov-west-1: make it by hand, and deploy with -c budget=0"
	for name, c := range map[string]struct{ region, kept, args, want string }{
		"a region with budgets":         {"eu-central-1", "{}", "-c budget=50", ""},
		"one without":                   {"us-gov-west-1", "{}", "-c budget=50", refused},
		"without a budget":              {"us-gov-west-1", "{}", "-c budget=0", ""},
		"a budget of before":            {"us-gov-west-1", `{"budget":"50"}`, "", refused},
		"a budget that is taken back":   {"us-gov-west-1", `{"budget":"50"}`, "-c budget=0", ""},
		"credentials that may not know": {"eu-west-3", "{}", "-c budget=50", ""},
	} {
		t.Run(name, func(t *testing.T) {
			given(t, &cloud{stacks: map[string]string{"docent": described("docent", "UPDATE_COMPLETE", "docent", "Settings", c.kept)}})
			t.Setenv("AWS_REGION", c.region)
			err := run(t.Context(), append([]string{"-remember", filepath.Join(t.TempDir(), "settings.json")}, strings.Fields(c.args)...), &strings.Builder{})
			if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// TestRestoredTablesNeverReplaceTablesThatWouldBeDeleted checks both commands of make restore: with removal=destroy, the tables that
// leave the template would be deleted, whatever the same deployment changes.
func TestRestoredTablesNeverReplaceTablesThatWouldBeDeleted(t *testing.T) {
	const refused = "is deployed with removal=destroy"
	for name, c := range map[string]struct {
		retained string // the output of the stack
		own      bool   // it has tables of its own
		args     string
		want     string // of the error; empty: it is deployed
	}{
		"restoring":                           {"false", true, "-restore 2026-11-23T05:00:00Z", refused},
		"a stack that does not say":           {"", true, "-restore 2026-11-23T05:00:00Z", refused},
		"restoring again":                     {"false", false, "-restore 2026-11-23T05:00:00Z", "does not say what its tables are called"},
		"restoring what is kept":              {"true", true, "-restore 2026-11-23T05:00:00Z", "does not say what its tables are called"},
		"deploying":                           {"false", true, "-remember FILE -c restored=20261123T050000Z", refused},
		"deploying with another removal":      {"false", true, "-remember FILE -c restored=20261123T050000Z -c removal=retain", refused},
		"deploying what is kept":              {"true", true, "-remember FILE -c restored=20261123T050000Z", ""},
		"deploying without restored tables":   {"false", true, "-remember FILE", ""},
		"deploying on the way to be retained": {"false", true, "-remember FILE -c removal=retain", ""},
	} {
		t.Run(name, func(t *testing.T) {
			fake := &cloud{tables: c.own, stacks: map[string]string{"docent": described("docent", "UPDATE_COMPLETE", "docent", "DataRetained", c.retained, "Settings", "{}")}}
			given(t, fake)
			args := strings.Fields(strings.ReplaceAll(c.args, "FILE", filepath.Join(t.TempDir(), "settings.json")))
			err := run(t.Context(), args, &strings.Builder{})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}
