package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"docent/shared/app"
	"docent/shared/logtest"
	"docent/shared/pending"
	"docent/shared/queue"
)

func TestLongPollEndsInTimeBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		left   time.Duration // 0: no deadline
		pauses int           // until it ends, at most 30
	}{
		"28 seconds":     {28 * time.Second, 27},
		"just two":       {2 * time.Second, 1},
		"less than two":  {1999 * time.Millisecond, 0},
		"no deadline":    {0, 30},
		"half a second":  {500 * time.Millisecond, 0},
		"three and half": {3500 * time.Millisecond, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if c.left > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.left)
					defer cancel()
				}
				begun, pauses := time.Now(), 0
				for pauses < 30 && app.PausePoll(ctx) == nil {
					pauses++
				}
				if pauses != c.pauses || time.Since(begun) != time.Duration(pauses)*time.Second || ctx.Err() != nil {
					t.Errorf("%d pauses in %s, want %d; context %v", pauses, time.Since(begun), c.pauses, ctx.Err())
				}
			})
		})
	}
}

func TestLongPollEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(300*time.Millisecond, cancel)
		begun := time.Now()
		if err := app.PausePoll(ctx); !errors.Is(err, context.Canceled) || time.Since(begun) != 300*time.Millisecond {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
	})
}

func TestWorkEndsInTimeToReportWhatIsNotDone(t *testing.T) {
	t.Parallel()
	for left, works := range map[time.Duration]time.Duration{time.Minute: 58 * time.Second, time.Second: 500 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), left)
			defer cancel()
			answer, err := app.Handles(func(ctx context.Context, batch []queue.Message) []string {
				<-ctx.Done()
				return []string{batch[1].ID}
			})(ctx, events.SQSEvent{Records: []events.SQSMessage{{MessageId: "a"}, {MessageId: "b"}}})
			if err != nil || len(answer.BatchItemFailures) != 1 || answer.BatchItemFailures[0].ItemIdentifier != "b" || time.Since(begun) != works {
				t.Errorf("%+v, %v after %s, want %s", answer, err, time.Since(begun), works)
			}
		})
	}
}

func TestPanicFailsTheBatch(t *testing.T) {
	t.Parallel()
	answer, err := app.Handles(func(context.Context, []queue.Message) []string { panic("on purpose") })(t.Context(),
		events.SQSEvent{Records: []events.SQSMessage{{MessageId: "a"}, {MessageId: "b"}}})
	if err != nil || len(answer.BatchItemFailures) != 2 {
		t.Errorf("%+v, %v", answer, err)
	}
}

// TestOutagesOfAWSEndInTime: whatever AWS does, before the invocation ends a client is asked to
// retry, and a message is reported as failed.
func TestOutagesOfAWSEndInTime(t *testing.T) {
	t.Parallel()
	key := newStage(t).values["KEY"] // well-formed, so that it is looked up
	work := pending.Work{Kind: pending.AnswerQuestion, TeamID: "t", ID: question, At: 1}
	for name, aws := range map[string]http.HandlerFunc{
		"hangs": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // or the server does not see the client leave
			<-r.Context().Done()
		},
		"fails": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"throttles": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			w.WriteHeader(400)
			_, _ = w.Write([]byte(`{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"slow down"}`))
		},
		"hangs up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(aws)
			t.Cleanup(server.Close)
			log := &logtest.Buffer{}
			functions := app.FunctionsOnAWS(app.Config{Service: "docent", TablePrefix: "x-", Bucket: "x", BaseURL: "https://docent.test/v1",
				QuestionsQueue: server.URL + "/q", DocumentsQueue: server.URL + "/d", SyncsQueue: server.URL + "/s", DeliveriesQueue: server.URL + "/w", AWSEndpoint: server.URL, Region: "us-east-1",
				Credentials: app.Credentials{KeyID: "test", Secret: "test"}}, log)
			invoke := func(name, event string) []byte {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				answer, err := functions[name].Invoke(ctx, []byte(event))
				if name != "sweeping" && err != nil || name == "sweeping" && err == nil {
					t.Errorf("%s: %s, %v", name, answer, err)
				}
				if ctx.Err() != nil {
					t.Errorf("%s was cut off", name)
				}
				return answer
			}
			var response events.APIGatewayProxyResponse
			decode(t, invoke("documents", fmt.Sprintf(`{"httpMethod":"GET","path":"/documents","headers":{"Authorization":"Bearer %s"}}`, key)), &response)
			if response.StatusCode != 503 || http.Header(response.MultiValueHeaders).Get("Retry-After") != "1" || !strings.Contains(response.Body, `"unavailable"`) {
				t.Errorf("%d %v %s", response.StatusCode, response.MultiValueHeaders, response.Body)
			}
			event, err := json.Marshal(events.SQSEvent{Records: []events.SQSMessage{{MessageId: "a", Body: string(work.Message())}}})
			if err != nil {
				t.Fatal(err)
			}
			if answer := invoke("answering", string(event)); !strings.Contains(string(answer), `{"itemIdentifier":"a"}`) {
				t.Errorf("answering: %s", answer)
			}
			invoke("sweeping", "{}")
		})
	}
}
