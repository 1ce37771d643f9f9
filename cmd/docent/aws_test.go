package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
)

// fakeAWS answers for one stack and its dead letters, and records the requests.
type fakeAWS struct {
	stack   string // DescribeStacks' Stacks; empty: there is no stack
	letters int

	mu    sync.Mutex
	calls []string
}

func (f *fakeAWS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // an incomplete request fails the test below
	call := string(body)
	_, operation, isQueue := strings.Cut(r.Header.Get("X-Amz-Target"), "AmazonSQS.")
	f.mu.Lock()
	f.calls = append(f.calls, operation+call)
	f.mu.Unlock()
	switch {
	case !isQueue && f.stack == "":
		w.Header().Set("Content-Type", "text/xml")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id beta does not exist</Message></Error></ErrorResponse>`)
	case !isQueue:
		w.Header().Set("Content-Type", "text/xml")
		fmt.Fprintf(w, `<DescribeStacksResponse><DescribeStacksResult><Stacks><member>%s</member></Stacks></DescribeStacksResult></DescribeStacksResponse>`, f.stack)
	case operation == "GetQueueAttributes":
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		fmt.Fprintf(w, `{"Attributes":{"QueueArn":"arn:aws:sqs:eu-north-1:1:dead","ApproximateNumberOfMessages":"%d"}}`, f.letters)
	default:
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		fmt.Fprint(w, `{"TaskHandle":"t"}`)
	}
}

// describe returns a stack with the outputs of names, without some.
func describe(status string, without ...string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "<StackName>beta</StackName><StackStatus>%s</StackStatus><CreationTime>2026-11-21T12:00:00Z</CreationTime><Outputs>", status)
	for name, value := range map[string]string{"BaseURL": "https://docent.test/v1", "Tables": `{"teams":"T"}`, "BucketName": "b",
		"QuestionsQueueURL": "https://sqs.test/q", "DocumentsQueueURL": "https://sqs.test/d",
		"QuestionsDeadLetterURL": "https://sqs.test/qd", "DocumentsDeadLetterURL": "https://sqs.test/dd", "SyncsDeadLetterURL": "https://sqs.test/sd"} {
		if !strings.Contains(strings.Join(without, " "), name) {
			fmt.Fprintf(&out, "<member><OutputKey>%s</OutputKey><OutputValue>%s</OutputValue></member>", name, value)
		}
	}
	return out.String() + "</Outputs>"
}

// TestCommandsOnAWS is not parallel: it changes the environment of the process.
func TestCommandsOnAWS(t *testing.T) {
	const create = "team create --aws --stack beta --name n --admin a"
	for _, tt := range []struct {
		name, args string
		aws        *fakeAWS
		unset      string // of the environment
		status     int
		want       string // in the output or the errors
		asked      string // in the last call to AWS
	}{
		{name: "no region", args: create, unset: "AWS_REGION", status: 1, want: "set AWS_REGION"},
		{name: "no credentials", args: create, unset: "AWS_ACCESS_KEY_ID", status: 1, want: "no AWS credentials are set"},
		{name: "a model without a region", args: "serve --model m", unset: "AWS_REGION", status: 1, want: "set AWS_REGION"},
		{name: "a model without credentials", args: "serve --model m --model-provider bedrock", unset: "AWS_ACCESS_KEY_ID", status: 1, want: "no AWS credentials are set"},
		{name: "a provider that there is none of", args: "serve --model m --model-provider other", status: 2, want: "--model-provider is neither bedrock nor openai"},
		{name: "a server without a model", args: "serve --model-url http://127.0.0.1:1/v1", status: 2, want: "--model is not set"},
		{name: "a model without its server", args: "serve --model m --model-provider openai", status: 2, want: "--model-url is not set"},
		{name: "served without a region", args: "serve --engine aws", unset: "AWS_REGION", status: 1, want: "set AWS_REGION"},
		{name: "served from a folder with a stack", args: "serve --stack beta", status: 2, want: "--stack requires --engine aws"},
		{name: "served from an unknown engine", args: "serve --engine redis", status: 2, want: "must be one of"},
		{name: "served from an older stack", args: "serve --no-meaning --engine aws --stack beta", aws: &fakeAWS{stack: describe("UPDATE_COMPLETE")}, status: 1, want: "the stack beta lacks outputs", asked: "StackName=beta"},
		{name: "exported from an older stack", args: "export --stack beta", aws: &fakeAWS{stack: describe("UPDATE_COMPLETE")}, status: 1, want: "the stack beta has no output KeyID"},
		{name: "imported from nowhere", args: "import --stack beta --data /nowhere", status: 1, want: "there is no data folder /nowhere"},
		{name: "no stack", args: create, aws: &fakeAWS{}, status: 1, want: "there is no stack beta in eu-north-1", asked: "StackName=beta"},
		{name: "another's stack", args: create, aws: &fakeAWS{stack: describe("CREATE_COMPLETE", "Tables")}, status: 1, want: "has no output Tables"},
		{name: "being deleted", args: create, aws: &fakeAWS{stack: describe("DELETE_IN_PROGRESS")}, status: 1, want: "DELETE_IN_PROGRESS"},
		{name: "a stack without --aws", args: "team create --stack beta --name n --admin a", status: 2, want: "--stack requires --aws"},
		{name: "nothing to redrive", args: "queue redrive questions", aws: &fakeAWS{stack: describe("UPDATE_COMPLETE")}, want: "There are no dead letters in the questions queue.", asked: "https://sqs.test/qd"},
		{name: "dead letters", args: "queue redrive documents --per-second 10", aws: &fakeAWS{stack: describe("UPDATE_COMPLETE"), letters: 3},
			want: "About 3 messages are moving back", asked: `"MaxNumberOfMessagesPerSecond":10`},
		{name: "dead letters of sources", args: "queue redrive syncs", aws: &fakeAWS{stack: describe("UPDATE_COMPLETE"), letters: 1},
			want: "About 1 messages are moving back to the syncs queue", asked: "https://sqs.test/sd"},
		{name: "the index of an older stack", args: "index status --aws --stack beta", aws: &fakeAWS{stack: describe("UPDATE_COMPLETE")}, status: 1, want: "has no output RebuildsQueueURL"},
		{name: "an unknown queue", args: "queue redrive letters", status: 2, want: "must be one of"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, value := range map[string]string{"AWS_REGION": "eu-north-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
				"AWS_SESSION_TOKEN": "", "AWS_PROFILE": "", "AWS_DEFAULT_REGION": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "",
				"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull} {
				if name == tt.unset {
					value = ""
				}
				t.Setenv(name, value)
			}
			aws := tt.aws
			if aws == nil {
				aws = &fakeAWS{}
			}
			server := httptest.NewServer(aws)
			defer server.Close()
			t.Setenv("AWS_ENDPOINT_URL", server.URL)
			status, out, errOut := docent(t, strings.Fields(tt.args)...)
			if status != tt.status || !strings.Contains(out+errOut, tt.want) || status == 1 && strings.Count(errOut, "\n") != 1 {
				t.Errorf("status %d, output %q, errors %q", status, out, errOut)
			}
			aws.mu.Lock()
			defer aws.mu.Unlock()
			if calls := strings.Join(aws.calls, "\n"); !strings.Contains(calls, tt.asked) || tt.aws == nil && len(aws.calls) > 0 {
				t.Errorf("AWS was asked %q", calls)
			}
		})
	}
}
