package main

import (
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// settings are the choices of an operator. README.md lists them under their names for -c.
type settings struct {
	name        string // of the installation
	stage       string // such as beta; empty: the account has only one
	withAlarms  bool
	alarmsEmail string            // receives alarms; empty, and without alarmsTopic: they only show in AWS
	alarmsTopic string            // ARN of an SNS topic of the operator's, which gets alarms too; empty: none
	tags        map[string]string // on everything, next to the stack's own
	boundary    string            // permissions boundary of every role, a policy of the account by name or ARN; empty: none
	refusedKeys int               // refused keys within 5 minutes that raise an alarm
	budget      int               // US dollars per month; 0: none
	domain      string            // of the API; empty: the gateway's own
	bothNames   bool              // the gateway's own address keeps working next to the domain
	certificate string            // ARN, in the stack's region, for domain
	zone        string            // id of the Route 53 zone of domain; empty: its record is made by hand
	zoneName    string            // its name
	waf         bool              // a web firewall in front of the API
	canary      bool              // new versions get a tenth of the calls first
	tracing     bool              // requests are traced by X-Ray
	logDays     int               // how long logs are kept
	logLevel    string
	logRole     bool     // set the account's role for the gateway's logs
	model       string   // of Bedrock an id, or the id or ARN of an inference profile; else a server's name for it; empty: answers are quoted
	provider    string   // of the model: bedrock or openai; empty: there is none
	modelURL    string   // of an OpenAI-compatible server, before /chat/completions; for Bedrock a custom endpoint
	modelKey    string   // name of the parameter with that server's key; empty: it needs none
	modelARNs   []string // what may be invoked for a model of Bedrock
	embedding   embedding
	rate, burst int    // requests per second that the gateway accepts, and at once
	teamRate    int    // requests per second of a team; 0: as many as the gateway accepts
	workers     int    // of each queue at the same time
	freeKey     bool   // the tables are encrypted under DynamoDB's own key; false: under the account's key for DynamoDB
	destroy     bool   // delete the data with the stack; false: it stays
	x86         bool   // the functions are built for x86-64; false: for arm64
	restored    string // moment of the restored tables that are used; empty: the stack's own tables are
	// region of the daily copies of the tables, and of original files; empty: there are none
	backupRegion string
	backupDays   int    // how long the copies are kept
	local        string // address of a local emulator of AWS; empty: it is AWS
	dist         string // the folder of the built functions

	chosen map[string]string // the values of -c that are not the defaults and are remembered
}

// embedding is the model that embeds texts.
type embedding struct {
	provider string // local, bedrock, openai or none
	model    string // of Bedrock an id or ARN, empty: Titan; of openai the server's name for it
	url      string // of an OpenAI-compatible server, before /embeddings; for Bedrock a custom endpoint
	size     string // numbers of a vector; empty: the model's own
	key      string // name of the parameter with that server's key; empty: it needs none
}

// setting describes one value of -c.
type setting struct {
	fallback string // the default
	set      func(*settings, string) error
}

var known = map[string]setting{
	"name":           {"docent", textOf(func(s *settings) *string { return &s.name }, `[a-zA-Z][a-zA-Z0-9-]{0,63}`)},
	"stage":          {"", textOf(func(s *settings) *string { return &s.stage }, `([a-zA-Z0-9-]{1,32})?`)},
	"alarms":         {"true", yesOrNo(func(s *settings) *bool { return &s.withAlarms })},
	"alarmsEmail":    {"", textOf(func(s *settings) *string { return &s.alarmsEmail }, `([^@\s]+@[^@\s]+)?`)},
	"alarmsTopic":    {"", textOf(func(s *settings) *string { return &s.alarmsTopic }, `(arn:[a-z-]+:sns:[a-z0-9-]+:[0-9]{12}:[a-zA-Z0-9_-]{1,256})?`)},
	"tags":           {"", readTags},
	"refusedKeys":    {"100", numberOf(func(s *settings) *int { return &s.refusedKeys }, 1, 1_000_000)},
	"budget":         {"0", numberOf(func(s *settings) *int { return &s.budget }, 0, 1_000_000)},
	"domain":         {"", textOf(func(s *settings) *string { return &s.domain }, hostName)},
	"gatewayAddress": {"false", yesOrNo(func(s *settings) *bool { return &s.bothNames })},
	"certificate":    {"", textOf(func(s *settings) *string { return &s.certificate }, `(arn:[a-z-]+:acm:\S+)?`)},
	"zone":           {"", textOf(func(s *settings) *string { return &s.zone }, `(Z[A-Z0-9]+)?`)},
	"zoneName":       {"", textOf(func(s *settings) *string { return &s.zoneName }, hostName)},
	"canary":         {"false", yesOrNo(func(s *settings) *bool { return &s.canary })},
	"tracing":        {"false", yesOrNo(func(s *settings) *bool { return &s.tracing })},
	"waf":            {"false", yesOrNo(func(s *settings) *bool { return &s.waf })},
	"logDays": {"30", func(s *settings, value string) error {
		if err := numberOf(func(s *settings) *int { return &s.logDays }, 1, 3653)(s, value); err != nil {
			return err
		}
		if _, ok := retentions[s.logDays]; !ok {
			return fmt.Errorf("CloudWatch keeps logs for one of %v days", slices.Sorted(maps.Keys(retentions)))
		}
		return nil
	}},
	"logLevel": {"info", textOf(func(s *settings) *string { return &s.logLevel }, `debug|info|warn|error`)},
	"logRole":  {"true", yesOrNo(func(s *settings) *bool { return &s.logRole })},
	"model":    {"", textOf(func(s *settings) *string { return &s.model }, `\S*`)},
	// As in docent serve: openai with an address and bedrock without one.
	"modelProvider":     {"", textOf(func(s *settings) *string { return &s.provider }, `(bedrock|openai)?`)},
	"modelUrl":          {"", textOf(func(s *settings) *string { return &s.modelURL }, serverURL)},
	"modelKeyParameter": {"", textOf(func(s *settings) *string { return &s.modelKey }, parameterName)},
	"modelArns": {"", func(s *settings, value string) error {
		for _, arn := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' }) {
			if !regexp.MustCompile(`^arn:[a-z-]+:bedrock:\S+$`).MatchString(arn) {
				return errors.New("it is not a list of ARNs of Bedrock")
			}
			s.modelARNs = append(s.modelARNs, arn)
		}
		return nil
	}},
	// As in docent serve: openai with an address and local without one.
	"embeddingProvider":     {"", textOf(func(s *settings) *string { return &s.embedding.provider }, `(local|bedrock|openai|none)?`)},
	"embeddingModel":        {"", textOf(func(s *settings) *string { return &s.embedding.model }, `\S*`)},
	"embeddingUrl":          {"", textOf(func(s *settings) *string { return &s.embedding.url }, serverURL)},
	"embeddingSize":         {"", textOf(func(s *settings) *string { return &s.embedding.size }, `([1-9][0-9]{0,3})?`)},
	"embeddingKeyParameter": {"", textOf(func(s *settings) *string { return &s.embedding.key }, parameterName)},

	"rate":     {"500", numberOf(func(s *settings) *int { return &s.rate }, 1, 100_000)},
	"burst":    {"1000", numberOf(func(s *settings) *int { return &s.burst }, 1, 100_000)},
	"teamRate": {"100", numberOf(func(s *settings) *int { return &s.teamRate }, 0, 100_000)},
	"workers":  {"10", numberOf(func(s *settings) *int { return &s.workers }, 2, mostWorkers)}, // the range of an event source mapping
	"tableKey": {"account", func(s *settings, value string) error {
		s.freeKey = value == "aws"
		if !s.freeKey && value != "account" {
			return errors.New("it is neither account nor aws")
		}
		return nil
	}},
	"removal": {"retain", func(s *settings, value string) error {
		s.destroy = value == "destroy"
		if !s.destroy && value != "retain" {
			return errors.New("it is neither retain nor destroy")
		}
		return nil
	}},
	"architecture": {"arm64", func(s *settings, value string) error {
		s.x86 = value == "x86_64"
		if !s.x86 && value != "arm64" {
			return errors.New("it is neither arm64 nor x86_64")
		}
		return nil
	}},
	"permissionsBoundary": {"", textOf(func(s *settings) *string { return &s.boundary }, `((arn:[a-z-]+:iam::([0-9]{12}|aws):policy/)?[a-zA-Z0-9_+=,.@/-]*[a-zA-Z0-9_+=,.@-])?`)},
	"restored": {"", func(s *settings, value string) error {
		const form = "20060102T150405Z"
		// Parse takes fractions of a second too, which no name of a table has.
		if at, err := time.Parse(form, value); (err != nil || at.Format(form) != value) && value != "" {
			return errors.New("it is not a moment, such as 20261123T050000Z")
		}
		s.restored = value
		return nil
	}},
	"backupRegion": {"", textOf(func(s *settings) *string { return &s.backupRegion }, `([a-z]{2,4}(-[a-z]+)+-[0-9])?`)},
	"backupDays":   {"7", numberOf(func(s *settings) *int { return &s.backupDays }, 1, 365)},
	"local":        {"", textOf(func(s *settings) *string { return &s.local }, `(https?://[a-zA-Z0-9.-]+(:[0-9]{1,5})?)?`)},
	"dist":         {"dist", textOf(func(s *settings) *string { return &s.dist }, `.+`)},
}

// Patterns of values.
const (
	hostName      = `([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+)?`
	serverURL     = `(https://[^\s?#@]+)?`
	parameterName = `([a-zA-Z0-9_.-]+|(/[a-zA-Z0-9_.-]+)+)?`
)

func textOf(field func(*settings) *string, pattern string) func(*settings, string) error {
	whole := regexp.MustCompile(`^(?:` + pattern + `)$`)
	return func(s *settings, value string) error {
		if !whole.MatchString(value) {
			return errors.New("it does not match " + pattern)
		}
		*field(s) = value
		return nil
	}
}

func yesOrNo(field func(*settings) *bool) func(*settings, string) error {
	return func(s *settings, value string) error {
		*field(s) = value == "true"
		if value != "true" && value != "false" {
			return errors.New("it is neither true nor false")
		}
		return nil
	}
}

func numberOf(field func(*settings) *int, least, most int) func(*settings, string) error {
	return func(s *settings, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < least || n > most {
			return fmt.Errorf("it is not a whole number from %d to %d", least, most)
		}
		*field(s) = n
		return nil
	}
}

// perBuild are the values that belong to a build and are not remembered.
var perBuild = []string{"architecture", "dist", "local"}

// remembered adds to the given values those of the last deployment that are not given. It leaves out what this version does
// not know any more.
func remembered(given, last map[string]string) map[string]string {
	all := maps.Clone(given)
	for key, value := range last {
		if _, ok := known[key]; !ok {
			continue
		}
		if _, ok := all[key]; !ok {
			all[key] = value
		}
	}
	return all
}

// parse reads the values of -c. The error names every wrong one.
func parse(given map[string]string) (settings, error) {
	s := settings{chosen: map[string]string{}}
	var errs []error
	for key := range given {
		if _, ok := known[key]; !ok {
			errs = append(errs, fmt.Errorf("there is no value %q", key))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(known)) {
		value, ok := given[key]
		if !ok {
			value = known[key].fallback
		}
		if value != known[key].fallback && !slices.Contains(perBuild, key) {
			s.chosen[key] = value
		}
		if err := known[key].set(&s, value); err != nil {
			errs = append(errs, fmt.Errorf("%s=%s: %w", key, value, err))
		}
	}
	errs = append(errs, s.check()...)
	errs = append(errs, s.chooseModel()...)
	if err := s.embedding.choose(); err != nil {
		errs = append(errs, err)
	}
	return s, errors.Join(errs...)
}

// check returns an error for each combination of values that cannot be deployed.
func (s settings) check() (errs []error) {
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	refuse(s.local != "" && s.domain != "", "a local emulator of AWS has no domain")
	refuse((s.domain == "") != (s.certificate == ""), "domain and certificate require each other")
	refuse((s.zone == "") != (s.zoneName == "") || s.zone != "" && s.domain == "", "zone and zoneName require each other, and a domain")
	inZone := s.domain == s.zoneName || strings.HasSuffix(s.domain, "."+s.zoneName)
	refuse(s.zoneName != "" && !inZone, "domain=%s is not in the zone %s", s.domain, s.zoneName)
	refuse(s.budget > 0 && s.alarmsEmail == "", "a budget requires alarmsEmail")
	refuse(s.bothNames && s.domain == "", "gatewayAddress requires a domain: without one the API has only the gateway's address")
	backup := s.backupRegion != ""
	refuse(backup && s.told() == nobody, "backupRegion requires alarms and alarmsEmail or alarmsTopic, which report a failed backup")
	refuse(backup && s.local != "", "a local emulator of AWS has no other region")
	refuse(backup && len(s.stackName()) > longestBackupName, "backupRegion requires a name of at most %d characters, with its stage", longestBackupName)
	refuse(s.canary && !s.withAlarms, "a canary requires alarms, which end it")
	for _, url := range []string{s.modelURL, s.embedding.url} {
		isCall := strings.HasSuffix(url, "/chat/completions") || strings.HasSuffix(url, "/embeddings")
		refuse(isCall, "%s is the address of a call: give what is before /chat/completions or /embeddings", url)
	}
	return errs
}

// checkRegion returns an error for each value that does not fit the region of the stack. An empty region means that it is not known here,
// because a profile may name it; then only make deploy checks.
func (s settings) checkRegion(region string) (errs []error) {
	if region == "" || s.local != "" {
		return nil
	}
	for _, v := range []struct{ arn, problem string }{
		{s.certificate, "the certificate is of the region %s: the domain needs one of %s"},
		{s.alarmsTopic, "the topic of the alarms is in the region %s: CloudWatch needs one of %s"},
	} {
		// arn:aws:SERVICE:REGION:ACCOUNT:NAME
		if parts := strings.Split(v.arn, ":"); len(parts) > 3 && parts[3] != region {
			errs = append(errs, fmt.Errorf(v.problem, parts[3], region))
		}
	}
	if s.backupRegion == region {
		errs = append(errs, fmt.Errorf("backupRegion=%s is the region of the stack: choose another one", region))
	}
	return errs
}

// The providers of models.
const (
	bedrock = "bedrock"
	openai  = "openai"
)

// chooseModel checks the values of the model and chooses a provider if none is given.
func (s *settings) chooseModel() (errs []error) {
	switch {
	case s.model == "":
		if s.provider+s.modelURL+s.modelKey != "" || len(s.modelARNs) > 0 {
			errs = append(errs, errors.New("modelProvider, modelUrl, modelKeyParameter and modelArns require model"))
		}
		return errs
	case s.provider == "" && s.modelURL != "":
		s.provider = openai
	case s.provider == "":
		s.provider = bedrock
	}
	if s.provider == openai && s.modelURL == "" {
		errs = append(errs, errors.New("a model of openai requires modelUrl"))
	}
	if s.provider == bedrock && s.modelKey != "" {
		errs = append(errs, errors.New("modelKeyParameter is for a model of openai"))
	}
	if s.provider == openai && len(s.modelARNs) > 0 {
		errs = append(errs, errors.New("modelArns is for a model of bedrock"))
	}
	if s.provider == bedrock && strings.HasPrefix(s.model, "arn:") && len(s.modelARNs) == 0 {
		errs = append(errs, errors.New("a model that is an ARN requires modelArns: itself, and the models behind it"))
	}
	return errs
}

// The other providers of embedding models.
const (
	local   = "local"
	nowhere = "none"
)

// embedsElsewhere reports whether texts are embedded by a service, which may be away.
func (s settings) embedsElsewhere() bool {
	return s.embedding.provider == bedrock || s.embedding.provider == openai
}

// choose checks the values of the embedding model and chooses a provider if none is given.
func (e *embedding) choose() error {
	switch {
	case e.provider == "" && e.url != "":
		e.provider = openai
	case e.provider == "":
		e.provider = local
	}
	switch rest := e.model + e.url + e.size + e.key; {
	case (e.provider == local || e.provider == nowhere) && rest != "":
		return errors.New("embeddingModel, embeddingUrl, embeddingSize and embeddingKeyParameter are for a model of bedrock or openai")
	case e.provider == openai && (e.model == "" || e.url == "" || e.size == ""):
		return errors.New("an embedding model of openai requires embeddingModel, embeddingUrl and embeddingSize")
	case e.provider == bedrock && e.key != "":
		return errors.New("embeddingKeyParameter is for a model of openai")
	case e.provider == bedrock && e.size != "" && !slices.Contains([]string{"256", "512", "1024"}, e.size):
		return errors.New("embeddingSize of a model of bedrock is 256, 512 or 1024")
	}
	return nil
}

// stackName is the name of the stack, and of the service in metrics.
func (s settings) stackName() string {
	if s.stage == "" {
		return s.name
	}
	return s.name + "-" + s.stage
}

// code returns the folder whose content is deployed as the function.
func (s settings) code(function string) string { return filepath.Join(s.dist, function) }

// runs returns an error if a function was built for another processor than it gets. Only programs of Linux say so.
func (s settings) runs(function string) error {
	program, err := elf.Open(filepath.Join(s.code(function), "bootstrap"))
	if err != nil {
		return nil //nolint:nilerr // of another system, for a local emulator
	}
	defer func() { _ = program.Close() }() // it was only read
	want, name, arch := elf.EM_AARCH64, "arm64", "arm64"
	if s.x86 {
		want, name, arch = elf.EM_X86_64, "x86_64", "amd64"
	}
	if program.Machine != want {
		return fmt.Errorf("the function %s is built for another processor than %s: set it by ARCH=%s", function, name, arch)
	}
	return nil
}

// weights are the files of the embedding model in the process, next to the program of each function that embeds.
var weights = []string{"model/model.onnx", "model/tokenizer.json"}

// built returns an error if a function has not been built, or does not have the weights that it needs.
func (s settings) built() error {
	for _, f := range functions {
		if _, err := os.Stat(filepath.Join(s.code(f.name), "bootstrap")); err != nil {
			return fmt.Errorf("the function %s is not built: run make build", f.name)
		}
		if err := s.runs(f.name); err != nil {
			return err
		}
		for _, name := range weights {
			if !f.embeds || s.embedding.provider != local {
				continue
			}
			if _, err := os.Stat(filepath.Join(s.code(f.name), filepath.FromSlash(name))); err != nil {
				return fmt.Errorf("the function %s has no weights of the embedding model: run make build with a network, or choose words alone with -c embeddingProvider=none", f.name)
			}
		}
	}
	return nil
}
