package sqs_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"docent/shared/queue"
	"docent/shared/queue/sqs"
	"docent/testkit/moto"

	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
)

// answering returns a queue on a server that gives the same answer to every request, and the
// bodies of the requests.
func answering(t *testing.T, status int, answer string) (*sqs.Queue, *[]string) {
	t.Helper()
	var requests []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		requests = append(requests, string(body))
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return sqs.New(awssqs.NewFromConfig(moto.Config(server.URL)), server.URL+"/queue"), &requests
}

const (
	noneOf = `{"Successful":[{"Id":"0"}],"Failed":[]}`
	failed = `{"Successful":[{"Id":"0"}],"Failed":[{"Id":"1","Code":"InternalError","Message":"on purpose","SenderFault":false}]}`
	// The reply of SQS for a message that is done, or visible again.
	gone = `{"Successful":[],"Failed":[
		{"Id":"0","Code":"InvalidParameterValue","Message":"Message does not exist or is not available for visibility timeout change.","SenderFault":true},
		{"Id":"1","Code":"AWS.SimpleQueueService.MessageNotInflight","SenderFault":true}]}`
	malformed = `{"Successful":[],"Failed":[{"Id":"0","Code":"ReceiptHandleIsInvalid","Message":"no","SenderFault":true}]}`
)

func TestPartialFailures(t *testing.T) {
	t.Parallel()
	delivered := []queue.Message{{ID: "a", Receipt: "ra"}, {ID: "b", Receipt: "rb"}}
	calls := map[string]func(t *testing.T, q *sqs.Queue) error{
		"Send": func(t *testing.T, q *sqs.Queue) error {
			return q.Send(t.Context(), queue.Outgoing{Body: []byte("a")}, queue.Outgoing{Body: []byte("b")})
		},
		"Done":  func(t *testing.T, q *sqs.Queue) error { return q.Done(t.Context(), delivered...) },
		"Retry": func(t *testing.T, q *sqs.Queue) error { return q.Retry(t.Context(), time.Second, delivered...) },
	}
	for name, call := range calls {
		q, _ := answering(t, http.StatusOK, failed)
		if err := call(t, q); err == nil || !strings.Contains(err.Error(), "message 1 of the batch: InternalError") {
			t.Errorf("%s of which one message failed: %v", name, err)
		}
		if name == "Send" {
			continue
		}
		for answer, want := range map[string]error{noneOf: nil, gone: nil, malformed: queue.ErrInvalid} {
			q, _ := answering(t, http.StatusOK, answer)
			if err := call(t, q); !errors.Is(err, want) {
				t.Errorf("%s answered with %.60s: %v, want %v", name, answer, err, want)
			}
		}
		q, _ = answering(t, http.StatusBadRequest, `{"__type":"com.amazonaws.sqs#ReceiptHandleIsInvalid","message":"no"}`)
		if err := call(t, q); !errors.Is(err, queue.ErrInvalid) {
			t.Errorf("%s answered with an invalid receipt: %v, want ErrInvalid", name, err)
		}
		q, _ = answering(t, http.StatusBadRequest, `{"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"no"}`)
		if err := call(t, q); err == nil || errors.Is(err, queue.ErrInvalid) {
			t.Errorf("%s on a missing queue: %v", name, err)
		}
	}
}

func TestDoneGoesOnAfterAFailure(t *testing.T) {
	t.Parallel()
	q, requests := answering(t, http.StatusBadRequest, `{"__type":"com.amazonaws.sqs#InvalidSecurity","message":"no"}`)
	if err := q.Done(t.Context(), make([]queue.Message, 25)...); err == nil {
		t.Error("Done succeeded")
	}
	if len(*requests) != 3 {
		t.Errorf("%d requests for 25 messages, want 3", len(*requests))
	}
}

func TestTimesAreRoundedUpToSeconds(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: `0`, 1: `1`, time.Second: `1`, time.Second + 1: `2`, queue.MaxDelay: `900`,
	} {
		q, requests := answering(t, http.StatusOK, noneOf)
		if err := q.Retry(t.Context(), d, queue.Message{Receipt: "r"}); err != nil {
			t.Fatal(err)
		}
		if got := (*requests)[0]; !strings.Contains(got, `"VisibilityTimeout":`+want+`}`) {
			t.Errorf("Retry after %s asked for %s, want %s", d, got, want)
		}
		if d > queue.MaxWait {
			continue
		}
		q, requests = answering(t, http.StatusOK, `{}`)
		if _, err := q.Receive(t.Context(), 1, d); err != nil {
			t.Fatal(err)
		}
		got := (*requests)[0] // the client leaves out a 0: the queue's own setting
		if strings.Contains(got, `"WaitTimeSeconds":`+want+`}`) != (d > 0) || d == 0 && strings.Contains(got, "WaitTimeSeconds") {
			t.Errorf("Receive for %s asked for %s, want %s", d, got, want)
		}
	}
}

func TestReceiveWithoutACount(t *testing.T) {
	t.Parallel()
	for attributes, want := range map[string]int{
		`{"ApproximateReceiveCount":"4"}`: 4, `{}`: 1, `{"ApproximateReceiveCount":"x"}`: 1, `{"ApproximateReceiveCount":"0"}`: 1,
	} {
		q, _ := answering(t, http.StatusOK, `{"Messages":[{"MessageId":"a","ReceiptHandle":"r","Attributes":`+attributes+`,
			"Body":"hello","MD5OfBody":"5d41402abc4b2a76b9719d911017c592"}]}`)
		got, err := q.Receive(t.Context(), 1, 0)
		if err != nil || len(got) != 1 || got[0].Receives != want || got[0].ID != "a" || got[0].Receipt != "r" || string(got[0].Body) != "hello" {
			t.Errorf("with %s: %+v, %v", attributes, got, err)
		}
	}
}
