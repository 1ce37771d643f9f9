package ministack

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

const (
	deployWait = 5 * time.Minute
	pollEvery  = 200 * time.Millisecond
)

// The emulator refuses alarms on metrics that CloudWatch calculates, and nothing else in the template. A plain
// alarm replaces each, so that references to it stay valid.
const (
	alarmType  = "AWS::CloudWatch::Alarm"
	calculated = "Metrics"
)

// On AWS, permission to send includes sending in batches; in the emulator it does not.
var (
	maySend        = []byte(`"Action":"sqs:SendMessage"`)
	maySendBatches = []byte(`"Action":["sqs:SendMessage","sqs:SendMessageBatch"]`)
)

// The emulator's gateway has no streams: functions that stream get requests whose replies are passed on whole.
const streamed = `"ResponseTransferMode":"STREAM"`

var whole = strings.NewReplacer(streamed, `"ResponseTransferMode":"BUFFERED"`, "2021-11-15/functions/", "2015-03-31/functions/",
	"/response-streaming-invocations", "/invocations", `"DOCENT_RESPONSE_TRANSFER":"stream"`, `"DOCENT_RESPONSE_TRANSFER":"buffered"`)

var plainAlarm = map[string]json.RawMessage{"Namespace": json.RawMessage(`"Local"`), "MetricName": json.RawMessage(`"StandIn"`),
	"Statistic": json.RawMessage(`"Sum"`), "Period": json.RawMessage(`60`)}

// standIn returns the template in a form that the emulator accepts, and a line for each kind of change.
func standIn(template []byte) (fit []byte, changes []string, err error) {
	alarms := 0
	var all, resources map[string]json.RawMessage
	if err := json.Unmarshal(template, &all); err != nil {
		return nil, nil, fmt.Errorf("read the template: %w", err)
	}
	if err := json.Unmarshal(all["Resources"], &resources); err != nil {
		return nil, nil, fmt.Errorf("read the template: %w", err)
	}
	for name, text := range resources {
		var r map[string]json.RawMessage
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, nil, fmt.Errorf("read the resource %s: %w", name, err)
		}
		var properties map[string]json.RawMessage
		if string(r["Type"]) != `"`+alarmType+`"` {
			continue
		}
		if err := json.Unmarshal(r["Properties"], &properties); err != nil {
			return nil, nil, fmt.Errorf("read the resource %s: %w", name, err)
		}
		if properties[calculated] == nil {
			continue
		}
		delete(properties, calculated)
		maps.Copy(properties, plainAlarm)
		if r["Properties"], err = json.Marshal(properties); err != nil {
			return nil, nil, err
		}
		if resources[name], err = json.Marshal(r); err != nil {
			return nil, nil, err
		}
		alarms++
	}
	if all["Resources"], err = json.Marshal(resources); err != nil {
		return nil, nil, err
	}
	if fit, err = json.Marshal(all); err != nil {
		return nil, nil, err
	}
	if alarms > 0 {
		changes = append(changes, fmt.Sprintf("%d alarms on calculated metrics: replaced by plain ones", alarms))
	}
	if n := bytes.Count(fit, maySend); n > 0 {
		changes = append(changes, fmt.Sprintf("%d policies that allow sqs:SendMessage: sending batches added, which AWS implies", n))
	}
	if n := bytes.Count(fit, []byte(streamed)); n > 0 {
		changes = append(changes, fmt.Sprintf("%d integrations that stream: buffered", n))
	}
	return []byte(whole.Replace(string(bytes.ReplaceAll(fit, maySend, maySendBatches)))), changes, nil
}

// assets is the CDK's list of the files that a template refers to.
type assets struct {
	Files map[string]struct {
		Source       struct{ Path, Packaging string }
		Destinations map[string]struct{ BucketName, ObjectKey string }
	}
}

// Deploy does what the CDK's command line does with the assembly in folder: it uploads the assets and creates the
// stack name from the template file. It returns the stack's outputs, and a line for each kind of change that the
// emulator requires.
func (s *Server) Deploy(ctx context.Context, folder, file, name string) (outputs map[string]string, changes []string, err error) {
	body, err := os.ReadFile(filepath.Join(folder, strings.TrimSuffix(file, ".template.json")+".assets.json"))
	if err != nil {
		return nil, nil, err
	}
	var list assets
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, nil, fmt.Errorf("read the list of assets: %w", err)
	}
	to := buckets{client: s3.NewFromConfig(s.Config(), func(o *s3.Options) { o.UsePathStyle = true }), made: map[string]bool{}}
	template := ""
	for _, asset := range list.Files {
		content, err := packaged(filepath.Join(folder, asset.Source.Path), asset.Source.Packaging)
		if err != nil {
			return nil, nil, fmt.Errorf("package %s: %w", asset.Source.Path, err)
		}
		if asset.Source.Path == file {
			if content, changes, err = standIn(content); err != nil {
				return nil, nil, err
			}
		}
		for _, d := range asset.Destinations {
			bucket := strings.NewReplacer("${AWS::AccountId}", Account, "${AWS::Region}", Region, "${AWS::Partition}", "aws").Replace(d.BucketName)
			if err := to.put(ctx, bucket, d.ObjectKey, content); err != nil {
				return nil, nil, fmt.Errorf("upload %s: %w", asset.Source.Path, err)
			}
			if asset.Source.Path == file {
				template = s.Endpoint + "/" + bucket + "/" + d.ObjectKey
			}
		}
	}
	if template == "" {
		return nil, nil, fmt.Errorf("%s is not among the assets", file)
	}
	outputs, err = create(ctx, cloudformation.NewFromConfig(s.Config()), name, template)
	return outputs, changes, err
}

// buckets upload assets. A bucket is created when it is first needed.
type buckets struct {
	client *s3.Client
	made   map[string]bool
}

func (b buckets) put(ctx context.Context, bucket, key string, content []byte) error {
	if !b.made[bucket] {
		if _, err := b.client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &bucket}); err != nil {
			return fmt.Errorf("make bucket %s: %w", bucket, err)
		}
		b.made[bucket] = true
	}
	_, err := b.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: bytes.NewReader(content)})
	return err
}

// packaged returns a file as it is, or the files of a folder as a zip.
func packaged(path, packaging string) ([]byte, error) {
	if packaging == "file" {
		return os.ReadFile(path)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	if err := w.AddFS(os.DirFS(path)); err != nil {
		return nil, err
	}
	err := w.Close() // it writes the zip's directory
	return out.Bytes(), err
}

func create(ctx context.Context, stacks *cloudformation.Client, name, template string) (map[string]string, error) {
	if _, err := stacks.CreateStack(ctx, &cloudformation.CreateStackInput{StackName: &name, TemplateURL: &template,
		Capabilities: []types.Capability{types.CapabilityCapabilityIam, types.CapabilityCapabilityNamedIam}}); err != nil {
		return nil, fmt.Errorf("create the stack: %w", err)
	}
	for end := time.Now().Add(deployWait); ; time.Sleep(pollEvery) {
		found, err := stacks.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
		if err != nil {
			return nil, fmt.Errorf("describe the stack: %w", err)
		}
		if len(found.Stacks) != 1 {
			return nil, fmt.Errorf("%d stacks are called %s", len(found.Stacks), name)
		}
		stack := found.Stacks[0]
		switch {
		case stack.StackStatus == types.StackStatusCreateComplete:
			out := map[string]string{}
			for _, o := range stack.Outputs {
				out[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
			}
			return out, nil
		case stack.StackStatus != types.StackStatusCreateInProgress:
			return nil, errors.Join(fmt.Errorf("the stack is %s: %s", stack.StackStatus, aws.ToString(stack.StackStatusReason)),
				failures(ctx, stacks, name))
		case time.Now().After(end):
			return nil, fmt.Errorf("the stack does not exist after %v", deployWait)
		}
	}
}

// failures returns the resources that could not be created, each with the reason.
func failures(ctx context.Context, stacks *cloudformation.Client, name string) error {
	events, err := stacks.DescribeStackEvents(ctx, &cloudformation.DescribeStackEventsInput{StackName: &name})
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range events.StackEvents {
		if strings.HasSuffix(string(e.ResourceStatus), "_FAILED") {
			errs = append(errs, fmt.Errorf("%s %s: %s", aws.ToString(e.ResourceType), aws.ToString(e.LogicalResourceId), aws.ToString(e.ResourceStatusReason)))
		}
	}
	return errors.Join(errs...)
}
