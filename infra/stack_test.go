package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"docent/shared/deployed"
	"docent/shared/queue"
	"docent/shared/table"
	"docent/shared/webhook"
)

func TestTablesAreKeptAndRecoverable(t *testing.T) {
	t.Parallel()
	m := plain(t)
	if n := len(m.of("AWS::DynamoDB::Table")); n != len(table.Names) {
		t.Errorf("%d tables, want %d", n, len(table.Names))
	}
	m.each(t, "AWS::DynamoDB::Table", func(t *testing.T, name string, r resource) {
		for _, want := range []struct {
			path  []any
			value any
		}{
			{[]any{"BillingMode"}, "PAY_PER_REQUEST"},
			{[]any{"DeletionProtectionEnabled"}, true},
			{[]any{"SSESpecification", "SSEEnabled"}, true},
			{[]any{"PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled"}, true},
			{[]any{"PointInTimeRecoverySpecification", "RecoveryPeriodInDays"}, 35.0},
			{[]any{"TimeToLiveSpecification", "AttributeName"}, table.ExpiresAttribute},
			{[]any{"TimeToLiveSpecification", "Enabled"}, true},
			{[]any{"KeySchema", 0, "AttributeName"}, table.PartitionAttribute},
			{[]any{"KeySchema", 0, "KeyType"}, "HASH"},
			{[]any{"KeySchema", 1, "AttributeName"}, table.SortAttribute},
			{[]any{"KeySchema", 1, "KeyType"}, "RANGE"},
		} {
			if got := r.at(want.path...); got != want.value {
				t.Errorf("%s: %v is %v, want %v", name, want.path, got, want.value)
			}
		}
		if r.DeletionPolicy != "Retain" {
			t.Errorf("%s is not retained", name)
		}
	})
}

func TestDynamoDBsOwnKeyEncryptsTheTablesOnDemand(t *testing.T) {
	t.Parallel()
	whole(t).each(t, "AWS::DynamoDB::Table", func(t *testing.T, name string, r resource) {
		if r.at("SSESpecification", "SSEEnabled") != false {
			t.Errorf("%s is not encrypted under DynamoDB's own key: %v", name, r.at("SSESpecification"))
		}
	})
}

// TestRestoredTablesTakeThePlaceOfTheirs checks that a stack with restored tables makes none, and uses those everywhere.
func TestRestoredTablesTakeThePlaceOfTheirs(t *testing.T) {
	t.Parallel()
	m := compatible(t)
	if n := len(m.of("AWS::DynamoDB::Table")); n != 0 {
		t.Errorf("%d tables of its own", n)
	}
	for _, name := range table.Names {
		restored := "docent-20261123T050000Z-" + name
		if got := words(m.Outputs["Tables"].Value); !strings.Contains(got, `"`+name+`":"`+restored+`"`) {
			t.Errorf("the output Tables is %s", got)
		}
		if got := words(m.of("AWS::Lambda::Function")["Sweeping"].at("Environment")); !strings.Contains(got, name+"="+restored) {
			t.Errorf("the environment of sweeping lacks %s: %s", restored, got)
		}
		if got := words(m.of("AWS::IAM::Role")["SweepingRole"].at("Policies")); !strings.Contains(got, ":table/"+restored) {
			t.Errorf("sweeping may not read %s: %s", restored, got)
		}
	}
}

func TestDataStaysUnlessItIsToGo(t *testing.T) {
	t.Parallel()
	holds := []string{"AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::KMS::Key"}
	for _, c := range []struct {
		m                template
		policy, retained string
		protected        bool
	}{{plain(t), "Retain", "true", true}, {whole(t), "Delete", "false", false}} {
		for _, kind := range holds {
			c.m.each(t, kind, func(t *testing.T, name string, r resource) {
				if r.DeletionPolicy != c.policy {
					t.Errorf("%s: %s, want %s", name, r.DeletionPolicy, c.policy)
				}
				if kind == holds[0] && r.at("DeletionProtectionEnabled") != c.protected {
					t.Errorf("%s: protected %v, want %t", name, r.at("DeletionProtectionEnabled"), c.protected)
				}
			})
		}
		if got := c.m.Outputs["DataRetained"].Value; got != c.retained {
			t.Errorf("DataRetained is %v", got)
		}
	}
}

func TestBucketIsPrivate(t *testing.T) {
	t.Parallel()
	m := plain(t)
	m.each(t, "AWS::S3::Bucket", func(t *testing.T, name string, r resource) {
		for _, block := range []string{"BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"} {
			if r.at("PublicAccessBlockConfiguration", block) != true {
				t.Errorf("%s has no %s", name, block)
			}
		}
		if r.at("BucketEncryption", "ServerSideEncryptionConfiguration", 0, "ServerSideEncryptionByDefault", "SSEAlgorithm") != "AES256" {
			t.Errorf("%s is not encrypted", name)
		}
		if r.at("LifecycleConfiguration", "Rules", 0, "AbortIncompleteMultipartUpload", "DaysAfterInitiation") != 1.0 {
			t.Errorf("%s keeps incomplete uploads", name)
		}
		if r.at("VersioningConfiguration") != nil || r.at("NotificationConfiguration") != nil {
			t.Errorf("%s has versions or notifications", name)
		}
	})
	m.each(t, "AWS::S3::BucketPolicy", func(t *testing.T, name string, r resource) { refusesPlainText(t, name, r) })
}

// refusesPlainText checks that a policy denies everyone what does not use TLS.
func refusesPlainText(t *testing.T, name string, r resource) {
	t.Helper()
	for _, s := range list(r.at("PolicyDocument", "Statement")) {
		s := resource{Properties: s.(map[string]any)}
		if s.at("Effect") == "Deny" && s.at("Principal", "AWS") == "*" && s.at("Condition", "Bool", "aws:SecureTransport") == "false" {
			return
		}
	}
	t.Errorf("%s accepts requests without TLS", name)
}

func TestQueuesLoseNothing(t *testing.T) {
	t.Parallel()
	m := plain(t)
	policies := map[string]bool{}
	m.each(t, "AWS::SQS::QueuePolicy", func(t *testing.T, name string, r resource) {
		refusesPlainText(t, name, r)
		policies[target(r.at("Queues", 0))] = true
	})
	queues := m.of("AWS::SQS::Queue")
	for name, r := range queues {
		if r.at("SqsManagedSseEnabled") != true || !policies[name] {
			t.Errorf("%s is not encrypted or has no policy", name)
		}
		if strings.HasSuffix(name, "DeadLetters") {
			if r.at("MessageRetentionPeriod") != 14.0*24*3600 {
				t.Errorf("%s keeps dead letters for %v s", name, r.at("MessageRetentionPeriod"))
			}
			continue
		}
		dead := queues[target(r.at("RedrivePolicy", "deadLetterTargetArn"))]
		if dead.Type == "" || r.at("RedrivePolicy", "maxReceiveCount") != float64(queue.MaxReceives) {
			t.Errorf("%s: its dead letters go to %v", name, r.at("RedrivePolicy"))
		}
		if r.at("MessageRetentionPeriod") != 4.0*24*3600 {
			t.Errorf("%s keeps messages for %v s", name, r.at("MessageRetentionPeriod"))
		}
	}
	taken := map[string]bool{}
	m.each(t, "AWS::Lambda::EventSourceMapping", func(t *testing.T, name string, r resource) {
		from := target(r.at("EventSourceArn"))
		taken[from] = true
		hidden, _ := queues[from].at("VisibilityTimeout").(float64)
		worker := m.of("AWS::Lambda::Function")[target(r.at("FunctionName"))]
		timeout, _ := worker.at("Timeout").(float64)
		if timeout == 0 || hidden < 6*timeout {
			t.Errorf("%s: hidden for %v s, and its worker has %v s", name, hidden, timeout)
		}
		if words(r.at("FunctionResponseTypes")) != "ReportBatchItemFailures" {
			t.Errorf("%s: one bad message repeats the rest", name)
		}
		n, _ := r.at("ScalingConfig", "MaximumConcurrency").(float64)
		if n < 2 {
			t.Errorf("%s: concurrency %v", name, n)
		}
		if strings.HasPrefix(name, "Delivering") && n <= webhook.MaxPerTeam {
			t.Errorf("%s: the slow endpoints of one team may take all %v", name, n)
		}
	})
	if len(taken) != 7 || len(queues) != 14 {
		t.Errorf("%d queues, %d with a worker", len(queues), len(taken))
	}
}

func TestFunctionsAreBuiltAndWatched(t *testing.T) {
	t.Parallel()
	m := plain(t)
	logs := m.of("AWS::Logs::LogGroup")
	m.each(t, "AWS::Lambda::Function", func(t *testing.T, name string, r resource) {
		for property, want := range map[string]string{"Runtime": "provided.al2023", "Architectures": "arm64", "Handler": "bootstrap"} {
			if got := words(r.at(property)); got != want {
				t.Errorf("%s: %s is %s, want %s", name, property, got, want)
			}
		}
		log := logs[target(r.at("LoggingConfig", "LogGroup"))]
		if log.at("RetentionInDays") != 30.0 {
			t.Errorf("%s: its log is kept for %v days", name, log.at("RetentionInDays"))
		}
		if r.at("ReservedConcurrentExecutions") != nil {
			t.Errorf("%s reserves concurrency of the account", name)
		}
	})
	m.each(t, "AWS::Events::Rule", func(t *testing.T, name string, r resource) {
		if r.at("ScheduleExpression") != "rate(1 minute)" || target(r.at("Targets", 0, "Arn")) != "Sweeping" {
			t.Errorf("%s: %v", name, r.Properties)
		}
	})
}

// TestTheDashboardUploadsFromEveryAddress checks that the bucket takes files from the pages at each address that the API has, and from no others.
func TestTheDashboardUploadsFromEveryAddress(t *testing.T) {
	t.Parallel()
	const domain, gateway = "https://docent.example.com", "https://${Api}.execute-api.${AWS::Region}.${AWS::URLSuffix}"
	for _, c := range []struct {
		m    template
		want string
	}{{plain(t), gateway}, {whole(t), domain}, {careful(t), domain + ", " + gateway}} {
		if got := words(c.m.of("AWS::S3::Bucket")["Segments"].at("CorsConfiguration", "CorsRules", 0, "AllowedOrigins")); got != c.want {
			t.Errorf("%s: files come from %s, want %s", c.m.stack, got, c.want)
		}
	}
}

// TestWorkThatContinuesIsNoLoop checks that Lambda does not end work whose next turn is a message of the function to itself, and still does
// for every other function.
func TestWorkThatContinuesIsNoLoop(t *testing.T) {
	t.Parallel()
	continues := map[string]string{"Delivering": "Allow", "Embedding": "Allow", "Indexing": "Allow", "Syncing": "Allow"}
	for name, f := range plain(t).of("AWS::Lambda::Function") {
		if got := words(f.at("RecursiveLoop")); got != cmp.Or(continues[name], "<nil>") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestOldVersionsGoWithoutBackups checks the rules of a bucket that had versions while backups were on: S3 keeps those until a rule
// removes them.
func TestOldVersionsGoWithoutBackups(t *testing.T) {
	t.Parallel()
	days := map[string]string{}
	for _, r := range list(plain(t).of("AWS::S3::Bucket")["Segments"].at("LifecycleConfiguration", "Rules")) {
		r := resource{Properties: r.(map[string]any)}
		days[words(r.at("Prefix"))] = words(r.at("NoncurrentVersionExpiration", "NoncurrentDays"))
	}
	if days["originals/"] != "35" || days["segments/"] != "1" || days["vectors/"] != "1" {
		t.Errorf("old versions stay %v days", days)
	}
}

// commonRules has every rule of AWS's common group by name, and which valid requests of the API it would stop. An empty text means none.
var commonRules = map[string]string{
	"NoUserAgent_HEADER":                  "a program without a name",
	"UserAgent_BadBots_HEADER":            "",
	"SizeRestrictions_QUERYSTRING":        "an OAuth request of more than 2 KB",
	"SizeRestrictions_Cookie_HEADER":      "", // above 10,240 bytes, which the gateway does not take
	"SizeRestrictions_BODY":               "a document of more than 8 KB",
	"SizeRestrictions_URIPATH":            "",
	"EC2MetaDataSSRF_BODY":                "a document that names 169.254.169.254",
	"EC2MetaDataSSRF_COOKIE":              "",
	"EC2MetaDataSSRF_URIPATH":             "",
	"EC2MetaDataSSRF_QUERYARGUMENTS":      "a redirect to 127.0.0.1",
	"GenericLFI_QUERYARGUMENTS":           `the SCIM filter displayName eq "../../shared"`,
	"GenericLFI_URIPATH":                  "",
	"GenericLFI_BODY":                     "a document with ../../",
	"RestrictedExtensions_URIPATH":        "",
	"RestrictedExtensions_QUERYARGUMENTS": `the SCIM filter displayName eq "app.log" or "nginx.conf.bak"`,
	"GenericRFI_QUERYARGUMENTS":           "a redirect to an address of numbers",
	"GenericRFI_BODY":                     "a question about http://10.0.0.1",
	"GenericRFI_URIPATH":                  "",
	"CrossSiteScripting_COOKIE":           "",
	"CrossSiteScripting_QUERYARGUMENTS":   `the SCIM filter displayName eq "<b>R&D</b>"`,
	"CrossSiteScripting_BODY":             "a document with HTML",
	"CrossSiteScripting_URIPATH":          "",
}

// TestTheFirewallLetsClientsPass checks that what Docent allows is not stopped before it: as many requests from one address as a team may
// send, and requests that rules of AWS take for attacks. All other rules block.
func TestTheFirewallLetsClientsPass(t *testing.T) {
	t.Parallel()
	rules := list(whole(t).of("AWS::WAFv2::WebACL")["Firewall"].at("Rules"))
	rate, common := resource{Properties: rules[0].(map[string]any)}, resource{Properties: rules[1].(map[string]any)}
	if got := words(rate.at("Statement", "RateBasedStatement", "Limit")); got != "30000" { // 300 s of teamRate
		t.Errorf("%s requests of an address", got)
	}
	counted := map[string]bool{}
	for _, o := range list(common.at("Statement", "ManagedRuleGroupStatement", "RuleActionOverrides")) {
		o := resource{Properties: o.(map[string]any)}
		counted[words(o.at("Name"))] = o.at("ActionToUse", "Count") != nil
	}
	for rule, stops := range commonRules {
		if counted[rule] != (stops != "") {
			t.Errorf("%s only counts: %t; it stops %q", rule, counted[rule], stops)
		}
		delete(counted, rule)
	}
	for rule := range counted {
		t.Errorf("%s is no rule of the group", rule)
	}
	for _, c := range []struct{ given, want string }{{"teamRate=10", "10000"}, {"teamRate=0", "150000"}} {
		key, value, _ := strings.Cut(c.given, "=")
		s, err := parse(map[string]string{key: value})
		if err != nil || fmt.Sprint(s.requestsPerAddress()) != c.want {
			t.Errorf("%s: %d requests of an address, want %s: %v", c.given, s.requestsPerAddress(), c.want, err)
		}
	}
}

// TestTheAddressOfTheGatewayGoesWithADomain checks that it goes unless the operator keeps it for the time of a change.
func TestTheAddressOfTheGatewayGoesWithADomain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		m    template
		gone bool
	}{{plain(t), false}, {whole(t), true}, {careful(t), false}} {
		if got := c.m.of("AWS::ApiGateway::RestApi")["Api"].at("DisableExecuteApiEndpoint"); got != c.gone {
			t.Errorf("%s: gone %v, want %t", c.m.stack, got, c.gone)
		}
	}
}

// TestTracingIsTheOperatorsChoice checks that nothing is traced and paid for unless it is wanted.
func TestTracingIsTheOperatorsChoice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		m      template
		traced bool
	}{{plain(t), false}, {whole(t), true}} {
		c.m.each(t, "AWS::Lambda::Function", func(t *testing.T, name string, r resource) {
			if got := r.at("TracingConfig", "Mode") == "Active"; got != c.traced {
				t.Errorf("%s is traced: %t", name, got)
			}
		})
		c.m.each(t, "AWS::ApiGateway::Stage", func(t *testing.T, name string, r resource) {
			if r.at("TracingEnabled") != c.traced {
				t.Errorf("%s is traced: %v", name, r.at("TracingEnabled"))
			}
		})
	}
}

func TestFunctionsHaveTheChosenArchitecture(t *testing.T) {
	t.Parallel()
	compatible(t).each(t, "AWS::Lambda::Function", func(t *testing.T, name string, r resource) {
		if got := words(r.at("Architectures")); got != "x86_64" {
			t.Errorf("%s: %s", name, got)
		}
	})
}

func TestEveryFunctionIsDeployed(t *testing.T) {
	t.Parallel()
	listed := map[string]bool{}
	for _, f := range deployed.Functions {
		listed[f.Name] = true
		i := slices.IndexFunc(functions, func(g function) bool { return g.name == f.Name })
		if i < 0 {
			t.Errorf("%s is not in the stack", f.Name)
		} else if functions[i].serves() != f.HTTP() {
			t.Errorf("%s has %d s, reached by paths: %t", f.Name, functions[i].timeout, f.HTTP())
		}
	}
	for _, f := range functions {
		if !listed[f.name] {
			t.Errorf("%s is deployed and there is no such function", f.name)
		}
	}
}

// TestNothingHasANameOfOurs checks that resources have generated names, so that two stacks can exist and everything
// can be replaced.
func TestNothingHasANameOfOurs(t *testing.T) {
	t.Parallel()
	for _, m := range []template{plain(t), whole(t)} {
		for name, r := range m.Resources {
			for _, property := range []string{"TableName", "QueueName", "BucketName", "RoleName", "LogGroupName", "TopicName",
				"AlarmName", "DashboardName", "AliasName", "FunctionName"} {
				if v := r.at(property); v != nil && target(v) == "" {
					t.Errorf("%s has the %s %v", name, property, v)
				}
			}
		}
	}
}

func TestGatewayAnswersInOurShape(t *testing.T) {
	t.Parallel()
	m := plain(t)
	want := map[string]string{ // details of the gateway's own replies
		"MISSING_AUTHENTICATION_TOKEN": "404 not-found", "RESOURCE_NOT_FOUND": "404 not-found",
		"REQUEST_TOO_LARGE": "413 request-too-large",
		"THROTTLED":         "503 unavailable again", "QUOTA_EXCEEDED": "503 unavailable again",
		"UNSUPPORTED_MEDIA_TYPE": "415 unsupported-media-type",
		"BAD_REQUEST_BODY":       "400 invalid-request", "BAD_REQUEST_PARAMETERS": "400 invalid-request", "DEFAULT_4XX": "400 invalid-request",
		"UNAUTHORIZED":  "401 unauthorized",
		"ACCESS_DENIED": "403 forbidden", "WAF_FILTERED": "403 forbidden", "INVALID_API_KEY": "403 forbidden",
		"EXPIRED_TOKEN": "403 forbidden", "INVALID_SIGNATURE": "403 forbidden",
		"INTEGRATION_TIMEOUT": "503 unavailable again", "INTEGRATION_FAILURE": "503 unavailable again",
		"API_CONFIGURATION_ERROR": "500 internal", "AUTHORIZER_CONFIGURATION_ERROR": "500 internal", "AUTHORIZER_FAILURE": "500 internal",
		"DEFAULT_5XX": "500 internal",
	}
	m.each(t, "AWS::ApiGateway::GatewayResponse", func(t *testing.T, name string, r resource) {
		kind, _ := r.at("ResponseType").(string)
		var body struct {
			Status    int
			Code      string
			Title     string
			Detail    string
			RequestID string
		}
		text, _ := r.at("ResponseTemplates", "application/json").(string)
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := words(r.at("StatusCode")) + " " + body.Code
		if r.at("ResponseParameters", "gatewayresponse.header.Retry-After") == "'1'" {
			got += " again"
		}
		if got != want[kind] {
			t.Errorf("%s: %s, want %s", kind, got, want[kind])
		}
		if words(float64(body.Status)) != words(r.at("StatusCode")) || body.Title == "" || body.Detail == "" || body.RequestID != "$context.requestId" {
			t.Errorf("%s: %s", name, text)
		}
		if r.at("ResponseParameters", "gatewayresponse.header.X-Request-Id") != "context.requestId" {
			t.Errorf("%s has no request id", name)
		}
		for header, value := range map[string]string{"Cache-Control": "'no-store'", "X-Content-Type-Options": "'nosniff'"} {
			if r.at("ResponseParameters", "gatewayresponse.header."+header) != value {
				t.Errorf("%s does not say %s", name, header)
			}
		}
		delete(want, kind)
	})
	if len(want) > 0 {
		t.Errorf("no reply for %v", want)
	}
}

func TestStageIsBoundedAndLogged(t *testing.T) {
	t.Parallel()
	m := plain(t)
	m.each(t, "AWS::ApiGateway::Stage", func(t *testing.T, _ string, r resource) {
		if r.at("StageName") != "v1" || r.at("TracingEnabled") != false || r.at("MethodSettings", 0, "ThrottlingRateLimit") != 500.0 {
			t.Errorf("stage %v", r.Properties)
		}
		format, _ := r.at("AccessLogSetting", "Format").(string)
		var line map[string]string
		if err := json.Unmarshal([]byte(format), &line); err != nil || line["requestId"] != "$context.requestId" {
			t.Errorf("access log %s: %v", format, err)
		}
		for _, secret := range []string{"header", "query", "apiKey", "authorizer"} {
			if strings.Contains(format, secret) {
				t.Errorf("the access log shows %s", secret)
			}
		}
	})
	m.each(t, "AWS::ApiGateway::RestApi", func(t *testing.T, _ string, r resource) {
		if r.at("MinimumCompressionSize") != 1024.0 || words(r.at("EndpointConfiguration", "Types")) != "REGIONAL" || r.at("BinaryMediaTypes") != nil {
			t.Errorf("API %v", r.Properties)
		}
		if r.at("SecurityPolicy") != "SecurityPolicy_TLS13_1_2_2021_06" || r.at("EndpointAccessMode") != "BASIC" {
			t.Errorf("the API accepts connections by %v, %v", r.at("SecurityPolicy"), r.at("EndpointAccessMode"))
		}
	})
}
