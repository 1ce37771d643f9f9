package app_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"docent/shared/app"
	"docent/shared/app/parts/agents"
	"docent/shared/app/parts/identity"
	"docent/shared/app/parts/saml"
	"docent/shared/app/parts/web"
	"docent/shared/clocktest"
	"docent/shared/embed"
	"docent/shared/embed/embedtest"
	"docent/shared/extract"
	"docent/shared/logtest"
	"docent/shared/pending"
	"docent/shared/scim/scimtest"
	"docent/shared/team"
	"docent/shared/webhook"
)

// stage is all functions on a temporary file with a team that has
//   - a collection (COLLECTION) with an indexed document (DOCUMENT), one that is
//     to be indexed (CHANGED, INDEX_MESSAGE) and one that was deleted (REMOVE_MESSAGE),
//   - a deleted collection (EMPTIED, REMOVE_COLLECTION_MESSAGE),
//   - an answered question (ANSWERED) and one that waits (QUESTION, QUESTION_MESSAGE),
//   - a data source with an indexed issue (TRACKER), and one of GitHub with a signed
//     delivery that has not come yet (GITHUB, GITHUB_BODY, GITHUB_SIGNATURE),
//     and whose first sync is due (SYNC_MESSAGE),
//   - the vectors of the indexed document to make (EMBED_MESSAGE),
//   - a file whose text is to be read (FILE, EXTRACT_MESSAGE),
//   - a webhook endpoint (ENDPOINT) with a delivery to make (DELIVERY_MESSAGE),
//   - a SAML identity provider (SAML) and a provisioned user (USER),
//   - keys of each kind: KEY (KEY_ID) of the team, PAT of its admin, MEMBER of the user, SCIM.
//
// All queues are empty.
type stage struct {
	t         *testing.T
	local     *app.Local
	clock     *clocktest.Clock
	log       *logtest.Buffer
	functions map[string]lambda.Handler
	values    map[string]string // of the placeholders of events
	posted    []webhook.Request // to the endpoint
	function  string            // the function under test
	event     string            // its input
}

const (
	question = "0190d2a0-0000-7000-8000-000000000001"
	answered = "0190d2a0-0000-7000-8000-000000000002"
)

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, clock: clocktest.New(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)), log: &logtest.Buffer{}}
	post := func(_ context.Context, r webhook.Request) webhook.Reply {
		s.posted = append(s.posted, r)
		return webhook.Reply{Status: 204}
	}
	var err error
	s.local, err = app.OpenLocal(t.Context(), t.TempDir(), app.LocalOptions{Log: slog.New(slog.DiscardHandler), Now: s.clock.Now,
		Parts: app.Parts{Fetch: web.Fetcher(), Tools: agents.Tools, ParseSAML: saml.Parse, SignOn: identity.Providers(), Extract: wholeFile,
			Embedder: embedtest.New(embed.Model{Name: "words", Size: 64}), Post: post}, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.local.Close(); err != nil {
			t.Error(err)
		}
	})
	s.functions = s.local.Functions(s.log, "https://docent.test/v1")
	t.Cleanup(s.wantNothingDenied)
	s.fill()
	s.wantNothingDenied()
	s.log.Reset()
	return s
}

// wantNothingDenied fails the test if the stack does not allow a function what it tried. Some of that is only logged, and done later by
// another function.
func (s *stage) wantNothingDenied() {
	s.t.Helper()
	for line := range strings.Lines(s.log.String()) {
		if strings.Contains(line, "AccessDenied") {
			s.t.Errorf("not allowed: %s", line)
		}
	}
}

// wholeFile reads a file as one page of text.
func wholeFile(_ context.Context, _ string, file io.ReaderAt, size int64) (extract.Document, error) {
	text, err := io.ReadAll(io.NewSectionReader(file, 0, size))
	return extract.Document{Pages: []extract.Page{{Number: 1, Markdown: string(text)}}}, err
}

func (s *stage) fill() {
	s.t.Helper()
	ctx := s.t.Context()
	acme, admin, err := s.local.Teams.CreateTeam(ctx, "acme", "admin@acme.test")
	if err != nil {
		s.t.Fatal(err)
	}
	s.values = map[string]string{"TEAM": acme.ID, "QUESTION": question, "ANSWERED": answered, "SAML": scimtest.Metadata}
	for name, k := range map[string]team.NewKey{
		"KEY": {Kind: team.KindTeam, Name: "team"}, "PAT": {Kind: team.KindPersonal, Name: "admin", UserID: admin.ID}, "SCIM": {Kind: team.KindSCIM, Name: "scim"},
	} {
		made, secret, err := s.local.Teams.CreateKey(ctx, acme.ID, k)
		if err != nil {
			s.t.Fatal(err)
		}
		s.values[name], s.values[name+"_ID"] = secret, made.ID
	}
	s.fillConnected(acme.ID)
	s.values["COLLECTION"] = s.id(s.call("collections", "POST", "/collections", `{"name":"wiki","description":"All"}`, 201))
	s.values["COLLECTION_ETAG"] = s.call("collections", "GET", "/collections/"+s.values["COLLECTION"], "", 200).MultiValueHeaders["Etag"][0]
	s.values["EMPTIED"] = s.id(s.call("collections", "POST", "/collections", `{"name":"old","description":"Old"}`, 201))
	s.values["DOCUMENT"] = s.put("COLLECTION", "runbook", "Runbook", "# Runbook\n\n## Rolling back\n\nTo roll back a deployment, run `deployctl undo`.\n")
	gone := s.put("COLLECTION", "gone", "Gone", "Soon gone.\n")
	s.put("EMPTIED", "old", "Old", "An old page.\n")
	s.values["INDEXED_MESSAGE"] = s.takeWaiting(pending.IndexDocument, s.values["DOCUMENT"], true)
	s.ask(answered)
	s.values["ANSWERED_MESSAGE"] = s.takeWaiting(pending.AnswerQuestion, answered, true)
	s.values["CHANGED"] = s.put("COLLECTION", "lunch", "Lunch", "The canteen serves soup at noon.\n")
	s.call("documents", "DELETE", "/documents/"+gone, "", 204)
	s.call("collections", "DELETE", "/collections/"+s.values["EMPTIED"], "", 204)
	s.ask(question)
	waiting, err := s.local.Waiting(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	names := map[pending.Kind]string{pending.IndexDocument: "INDEX_MESSAGE", pending.RemoveDocument: "REMOVE_MESSAGE",
		pending.RemoveCollection: "REMOVE_COLLECTION_MESSAGE", pending.AnswerQuestion: "QUESTION_MESSAGE"}
	for _, body := range waiting {
		w, err := pending.Decode([]byte(body))
		if err != nil {
			s.t.Fatal(err)
		}
		s.values[names[w.Kind]] = body
	}
	if len(waiting) != len(names) {
		s.t.Fatalf("waiting: %q", waiting)
	}
	s.fillQueued()
	s.fillFile()
	s.values["PUT_BASE64"] = base64.StdEncoding.EncodeToString(fmt.Appendf(nil,
		`{"collectionId":%q,"title":"Größe","body":"7 µm","uri":"https://wiki.test/size"}`, s.values["COLLECTION"]))
}

// fillQueued adds the work of the queues of embeddings and deliveries.
func (s *stage) fillQueued() {
	s.t.Helper()
	embeddings, err := s.local.WaitingEmbeddings(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, body := range embeddings {
		if w, err := pending.Decode([]byte(body)); err == nil && w.Kind == pending.IndexDocument && w.ID == s.values["DOCUMENT"] {
			s.values["EMBED_MESSAGE"] = body
		}
	}
	if s.values["EMBED_MESSAGE"] == "" {
		s.t.Fatalf("the document does not wait for vectors: %q", embeddings)
	}
	s.wantMeaning("DOCUMENT", "pending")
	s.values["ENDPOINT"] = s.id(s.callAs("PAT", "admin", "POST", "/webhook-endpoints", `{"url":"https://hooks.test/docent","eventTypes":["collection.updated"]}`, 201))
	s.callAs("PAT", "admin", "POST", "/webhook-endpoints/"+s.values["ENDPOINT"]+"/test", "", 202)
	deliveries, err := s.local.WaitingDeliveries(s.t.Context())
	if err != nil || len(deliveries) != 1 {
		s.t.Fatalf("deliveries: %q, %v", deliveries, err)
	}
	s.values["DELIVERY_MESSAGE"] = deliveries[0]
}

// fillFile adds a file whose text is to be read.
func (s *stage) fillFile() {
	s.t.Helper()
	text, err := json.Marshal(map[string]string{"collectionId": s.values["COLLECTION"], "uri": "https://wiki.test/handbook.pdf", "title": "Handbook",
		"mediaType": extract.PDF, "body": base64.StdEncoding.EncodeToString([]byte("%PDF-1.7 The office opens at eight."))})
	if err != nil {
		s.t.Fatal(err)
	}
	s.values["FILE"] = s.id(s.call("documents", "PUT", "/documents", string(text), 200))
	files, err := s.local.WaitingFiles(s.t.Context())
	if err != nil || len(files) != 1 {
		s.t.Fatalf("files: %q, %v", files, err)
	}
	s.values["EXTRACT_MESSAGE"] = files[0]
}

// fillConnected adds connected sources and the other data of a team.
func (s *stage) fillConnected(teamID string) {
	s.t.Helper()
	if _, err := s.local.Teams.SetSAML(s.t.Context(), teamID, team.SAMLProvider{EntityID: "https://idp.test/"}, []byte(scimtest.Metadata)); err != nil {
		s.t.Fatal(err)
	}
	s.values["USER"] = s.id(s.callAs("SCIM", "scim", "POST", "/scim/v2/Users", `{"userName":"grace@acme.test"}`, 201))
	_, member, err := s.local.Teams.CreateKey(s.t.Context(), teamID, team.NewKey{Kind: team.KindPersonal, Name: "grace", UserID: s.values["USER"]})
	if err != nil {
		s.t.Fatal(err)
	}
	s.values["MEMBER"] = member
	s.values["TRACKER"] = s.id(s.callAs("PAT", "admin", "POST", "/data-sources", `{"provider":"jira","name":"Tracker"}`, 201))
	s.callAs("PAT", "admin", "POST", "/data-sources/"+s.values["TRACKER"]+"/items",
		`{"uri":"https://tracker.test/issues/1","title":"Login fails","body":"The login fails on Safari.","sourceType":"issue","state":"open"}`, 200)
	var github struct{ ID, WebhookSecret string }
	decode(s.t, []byte(s.callAs("PAT", "admin", "POST", "/data-sources",
		`{"provider":"github","name":"Code","settings":{"repositories":["acme/api"]}}`, 201).Body), &github)
	const body = `{"action":"opened","repository":{"full_name":"acme/api"},"issue":{"html_url":"https://github.test/acme/api/issues/1","number":1,` +
		`"title":"Crash","body":"It crashes.","state":"open","user":{"login":"ada"},"created_at":"2026-11-20T00:00:00Z","updated_at":"2026-11-20T00:00:00Z"}}`
	mac := hmac.New(sha256.New, []byte(github.WebhookSecret))
	mac.Write([]byte(body))
	due, err := s.local.WaitingSyncs(s.t.Context())
	if err != nil || len(due) != 1 {
		s.t.Fatalf("due: %q, %v", due, err)
	}
	s.values["SYNC_MESSAGE"] = due[0]
	s.values["GITHUB"], s.values["GITHUB_BODY"], s.values["GITHUB_SIGNATURE"] = github.ID, body, hex.EncodeToString(mac.Sum(nil))
}

func (s *stage) put(collection, page, title, body string) (id string) {
	s.t.Helper()
	text, err := json.Marshal(map[string]string{"collectionId": s.values[collection], "uri": "https://wiki.test/" + page, "title": title, "body": body})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.id(s.call("documents", "PUT", "/documents", string(text), 200))
}

func (s *stage) ask(id string) {
	s.t.Helper()
	s.call("answers", "PUT", "/answers/"+id, `{"question":"How do I roll back a deployment?"}`, 204)
}

// takeWaiting takes all waiting messages, does their work if do is set, and returns the message
// of one record.
func (s *stage) takeWaiting(kind pending.Kind, id string, do bool) (message string) {
	s.t.Helper()
	waiting, err := s.local.Waiting(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	var event events.SQSEvent
	for i, body := range waiting {
		w, err := pending.Decode([]byte(body))
		if err != nil {
			s.t.Fatal(err)
		}
		if w.Kind == kind && w.ID == id {
			message = body
		}
		event.Records = append(event.Records, events.SQSMessage{MessageId: fmt.Sprint(i), Body: body})
	}
	if message == "" {
		s.t.Fatalf("no %s %s among %q", kind, id, waiting)
	}
	if do {
		text, err := json.Marshal(event)
		if err != nil {
			s.t.Fatal(err)
		}
		name := map[bool]string{true: "answering", false: "indexing"}[kind == pending.AnswerQuestion]
		if answer := s.invoke(name, string(text)); !strings.Contains(string(answer), `"batchItemFailures":[]`) {
			s.t.Fatalf("%s: %s", name, answer)
		}
	}
	return message
}

// expand fills the placeholders of an event, such as ${KEY}.
func (s *stage) expand(event string) string {
	return os.Expand(event, func(name string) string {
		value, ok := s.values[name]
		if !ok {
			s.t.Errorf("the event names %s, which this test does not know", name)
		}
		text, err := json.Marshal(value)
		if err != nil {
			s.t.Fatal(err)
		}
		return string(text[1 : len(text)-1])
	})
}

// invoke calls a function as Lambda does, 3 seconds before its deadline.
func (s *stage) invoke(name, event string) []byte {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 3*time.Second)
	defer cancel()
	ctx = lambdacontext.NewContext(ctx, &lambdacontext.LambdaContext{AwsRequestID: "invocation-1"})
	answer, err := s.functions[name].Invoke(ctx, []byte(event))
	if err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	return answer
}

// call sends an HTTP function a minimal event with the team's key.
func (s *stage) call(function, method, path, body string, status int) events.APIGatewayProxyResponse {
	s.t.Helper()
	return s.callAs("KEY", function, method, path, body, status)
}

// callAs is call with the key of that name.
func (s *stage) callAs(key, function, method, path, body string, status int) events.APIGatewayProxyResponse {
	s.t.Helper()
	header := map[string]string{"Authorization": "Bearer " + s.values[key]}
	if strings.HasSuffix(path, "/items") {
		header["Content-Type"] = "application/x-ndjson"
	}
	event, err := json.Marshal(events.APIGatewayProxyRequest{HTTPMethod: method, Path: path, Body: body, Headers: header})
	if err != nil {
		s.t.Fatal(err)
	}
	var response events.APIGatewayProxyResponse
	decode(s.t, s.invoke(function, string(event)), &response)
	if response.StatusCode != status {
		s.t.Fatalf("%s %s: %d %s, want %d", method, path, response.StatusCode, response.Body, status)
	}
	return response
}

func (s *stage) get(function, path string, status int) string {
	s.t.Helper()
	return s.call(function, http.MethodGet, path, "", status).Body
}

func (s *stage) id(response events.APIGatewayProxyResponse) string {
	s.t.Helper()
	var body struct{ ID string }
	decode(s.t, []byte(response.Body), &body)
	return body.ID
}

// again replays the event once more.
func (s *stage) again(status int) {
	s.t.Helper()
	var response events.APIGatewayProxyResponse
	if decode(s.t, s.invoke(s.function, s.event), &response); response.StatusCode != status {
		s.t.Errorf("the second time: %d %s", response.StatusCode, response.Body)
	}
}

func (s *stage) wantState(placeholder, state string) {
	s.t.Helper()
	if got := s.get("answers", "/answers/"+s.values[placeholder], 200); !strings.Contains(got, `"state":"`+state+`"`) {
		s.t.Errorf("%s is %s, want %s", placeholder, got, state)
	}
}

func (s *stage) wantIndexed(placeholder string) {
	s.t.Helper()
	if got := s.get("documents", "/documents/"+s.values[placeholder], 200); !strings.Contains(got, `"state":"indexed"`) {
		s.t.Errorf("%s is %s, want indexed", placeholder, got)
	}
}

// wantMeaning fails the test unless the vectors of a document are made or not.
func (s *stage) wantMeaning(placeholder, meaning string) {
	s.t.Helper()
	if got := s.get("documents", "/documents/"+s.values[placeholder], 200); !strings.Contains(got, `"meaning":"`+meaning+`"`) {
		s.t.Errorf("%s is %s, want its meaning %s", placeholder, got, meaning)
	}
}

// wantDelivered fails the test unless the endpoint was posted to once, with the body of its delivery.
func (s *stage) wantDelivered() {
	s.t.Helper()
	if len(s.posted) != 1 || s.posted[0].URL != "https://hooks.test/docent" || s.posted[0].Header["Webhook-Signature"] == "" {
		s.t.Errorf("posted: %+v", s.posted)
	}
	if got := s.callAs("PAT", "admin", "GET", "/webhook-endpoints/"+s.values["ENDPOINT"]+"/deliveries", "", 200).Body; !strings.Contains(got, `"status":"delivered"`) {
		s.t.Errorf("deliveries: %s", got)
	}
}

// wantWaiting takes all waiting messages, which must be of these kinds.
func (s *stage) wantWaiting(kinds ...pending.Kind) {
	s.t.Helper()
	waiting, err := s.local.Waiting(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	got := []pending.Kind{}
	for _, body := range waiting {
		w, err := pending.Decode([]byte(body))
		if err != nil {
			s.t.Fatal(err)
		}
		got = append(got, w.Kind)
	}
	slices.Sort(got)
	slices.Sort(kinds)
	if !slices.Equal(got, kinds) {
		s.t.Errorf("waiting: %v, want %v", got, kinds)
	}
}

func (s *stage) sweep() {
	s.t.Helper()
	s.invoke("sweeping", "{}")
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil && !errors.Is(err, io.EOF) {
		t.Fatalf("%q: %v", text, err)
	}
}
