package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
)

// workspace is the folder of what the tests synthesise; it is removed with the process.
var workspace string

func TestMain(m *testing.M) {
	var err error
	if workspace, err = os.MkdirTemp("", "docent-infra-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if synthesised {
		jsii.Close()
	}
	if err := os.RemoveAll(workspace); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// synthesised: a process of Node must be ended.
var synthesised bool

// plain is the stack with all defaults, whole the one with every option.
var (
	plain = once("plain", nil)
	whole = once("whole", map[string]string{"stage": "beta", "alarmsEmail": "ops@example.com", "budget": "50",
		"domain": "docent.example.com", "certificate": "arn:aws:acm:eu-central-1:123456789012:certificate/c",
		"zone": "Z0123", "zoneName": "example.com", "waf": "true", "tracing": "true", "model": "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
		"removal": "destroy", "tableKey": "aws", "logRole": "false", "backupRegion": "eu-west-1", "backupDays": "14",
		"alarmsTopic": topicARN, "tags": "team=search,Cost Center=42=A", "permissionsBoundary": "org/developer",
		"embeddingProvider": "bedrock", "embeddingModel": "amazon.titan-embed-text-v2:0", "embeddingSize": "256"})
	// compatible is the stack with a model of an OpenAI-compatible server and restored tables, for a local emulator of AWS.
	compatible = once("compatible", map[string]string{"model": "llama3.3", "modelUrl": "https://models.example.com/v1",
		"modelKeyParameter": "/docent/model-key", "embeddingModel": "nomic-embed-text", "embeddingUrl": "https://models.example.com/v1",
		"embeddingSize": "768", "embeddingKeyParameter": "/docent/embedding-key", "architecture": "x86_64", "local": "http://localhost:4566",
		"restored": "20261123T050000Z", "permissionsBoundary": "arn:aws:iam::123456789012:policy/developer"})
	// careful is the stack whose new versions are tried by a few calls, whose logs have no metrics, and whose domain is new.
	careful = once("careful", map[string]string{"canary": "true", "logLevel": "warn", "domain": "docent.example.com",
		"certificate": "arn:aws:acm:eu-central-1:123456789012:certificate/c", "gatewayAddress": "true"})
)

// topicARN is the topic of an operator.
const topicARN = "arn:aws:sns:eu-central-1:123456789012:on-call"

// template is a synthesised stack.
type template struct {
	Resources map[string]resource
	Outputs   map[string]struct{ Value any }

	folder, stack string
}

type resource struct {
	Type           string
	Properties     map[string]any
	DeletionPolicy string
	UpdatePolicy   map[string]any
}

// oneAtATime: jsii has one process of Node, which does one thing at a time.
var oneAtATime sync.Mutex

func once(name string, given map[string]string) func(*testing.T) template {
	synth := sync.OnceValues(func() (template, error) {
		if err := findNode(context.Background()); err != nil {
			return template{}, err
		}
		oneAtATime.Lock()
		defer oneAtATime.Unlock()
		synthesised = true
		return synthesise(name, given)
	})
	return func(t *testing.T) template {
		t.Helper()
		made, err := synth()
		if errors.Is(err, errNoNode) && os.Getenv("CI") != "true" {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
}

// synthesise writes a stack whose functions have one byte each, and cdk-nag's report on it.
func synthesise(name string, given map[string]string) (template, error) {
	s, err := parse(given)
	if err != nil {
		return template{}, err
	}
	s.dist = filepath.Join(workspace, name+"-dist")
	for _, f := range functions {
		if err := os.MkdirAll(s.code(f.name), 0o700); err != nil {
			return template{}, err
		}
		if err := os.WriteFile(filepath.Join(s.code(f.name), "bootstrap"), []byte(f.name), 0o600); err != nil {
			return template{}, err
		}
	}
	out := template{folder: filepath.Join(workspace, name), stack: s.stackName()}
	built := newStack(newApp(out.folder), s)
	awscdk.Aspects_Of(built.app).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{
		Reports: jsii.Bool(true), ReportFormats: &[]cdknag.NagReportFormat{cdknag.NagReportFormat_JSON}}), nil)
	built.app.Synth(nil)
	text, err := os.ReadFile(filepath.Join(out.folder, templateFile))
	if err != nil {
		return template{}, err
	}
	return out, json.Unmarshal(text, &out)
}

// of returns the resources of a type, by their names without the hash.
func (m template) of(kind string) map[string]resource {
	out := map[string]resource{}
	for name, r := range m.Resources {
		if r.Type == kind {
			out[bare(name)] = r
		}
	}
	return out
}

// bare removes the hash from the name of a resource.
func bare(name string) string {
	const hash = 8
	if len(name) > hash && strings.Trim(name[len(name)-hash:], "0123456789ABCDEF") == "" {
		return name[:len(name)-hash]
	}
	return name
}

// each runs test on every resource of a type. At least one must exist.
func (m template) each(t *testing.T, kind string, test func(t *testing.T, name string, r resource)) {
	t.Helper()
	found := m.of(kind)
	if len(found) == 0 {
		t.Errorf("there is no %s", kind)
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		test(t, name, found[name])
	}
}

// at returns the property at a path, or nil.
func (r resource) at(path ...any) any {
	var v any = r.Properties
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			l, _ := v.([]any)
			if step >= len(l) {
				return nil
			}
			v = l[step]
		}
	}
	return v
}

// target returns the bare name in a value such as {"Ref": name} or {"Fn::GetAtt": [name, attribute]}, or "" for
// another value.
func target(v any) string {
	m, _ := v.(map[string]any)
	if ref, ok := m["Ref"].(string); ok {
		return bare(ref)
	}
	if get, ok := m["Fn::GetAtt"].([]any); ok {
		return bare(get[0].(string))
	}
	return ""
}

// words returns a value as one line, with references replaced by their names.
func words(v any) string {
	switch v := v.(type) {
	case map[string]any:
		if name := target(v); name != "" {
			return "${" + name + "}"
		}
		if join, ok := v["Fn::Join"].([]any); ok {
			var parts []string
			for _, part := range join[1].([]any) {
				parts = append(parts, words(part))
			}
			return strings.Join(parts, join[0].(string))
		}
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, k+"="+words(v[k]))
		}
		return strings.Join(parts, " ")
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, words(e))
		}
		return strings.Join(parts, ", ")
	case float64:
		return fmt.Sprint(v)
	default:
		return fmt.Sprint(v)
	}
}

// list returns a value that is one thing or several as a list.
func list(v any) []any {
	if l, ok := v.([]any); ok {
		return l
	}
	if v == nil {
		return nil
	}
	return []any{v}
}
