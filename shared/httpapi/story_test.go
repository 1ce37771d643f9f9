package httpapi_test

import (
	"strings"
	"testing"
)

// TestDocumentsInACitedAnswerOut is the main job from end to end.
func TestDocumentsInACitedAnswerOut(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	wiki := a.newCollection(acme.key, "wiki")
	a.putDocument(acme.key, wiki, "https://wiki.test/runbook", "Runbook",
		"# Runbook\n\n## Rolling back\n\nTo roll back a deployment, run `deployctl undo` within 24 hours.\n")
	a.putDocument(acme.key, wiki, "https://wiki.test/lunch", "Lunch", "The canteen opens at noon and serves soup.\n")
	a.drain()
	const id = "0190d2a0-0000-7000-8000-000000000001"
	a.do(call{"PUT", "/answers/" + id, acme.key, map[string]string{"question": "How do I roll back a deployment?"}, nil}).want(t, 204)
	processing := a.do(call{"GET", "/answers/" + id, acme.key, nil, nil}).want(t, 200)
	if processing.text(t, "state") != "processing" || processing.Header.Get("Retry-After") != "2" {
		t.Errorf("before the work: %s", processing.body)
	}
	a.drain()
	answer := a.do(call{"GET", "/answers/" + id, acme.key, nil, map[string]string{"Prefer": "wait=20"}}).want(t, 200)
	if answer.text(t, "state") != "complete" || !strings.Contains(answer.text(t, "result.answer"), "deployctl undo") {
		t.Fatalf("answer: %s", answer.body)
	}
	if answer.text(t, "answer") != answer.text(t, "result.answer") {
		t.Error("the flat and the nested answer differ")
	}
	var got struct {
		Result struct {
			References []struct{ HTMLURL, Title string }
		}
		References []struct{ HTMLURL, Title string }
	}
	answer.json(t, &got)
	if len(got.Result.References) != 1 || got.Result.References[0].HTMLURL != "https://wiki.test/runbook" || len(got.References) != 1 {
		t.Errorf("references: %+v", got)
	}
	if answer.Header.Get("Preference-Applied") != "wait=20" || answer.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers: %v", answer.Header)
	}
}

func TestNothingFoundIsCompleteWithoutReferences(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	acme := a.newTenant("acme")
	const id = "0190d2a0-0000-7000-8000-000000000002"
	a.do(call{"PUT", "/answers/" + id, acme.key, map[string]string{"question": "Who painted the ceiling?"}, nil}).want(t, 204)
	a.drain()
	answer := a.do(call{"GET", "/answers/" + id, acme.key, nil, nil}).want(t, 200)
	if answer.text(t, "state") != "complete" || answer.text(t, "answer") == "" {
		t.Fatalf("answer: %s", answer.body)
	}
	if !strings.Contains(string(answer.body), `"references":[]`) {
		t.Errorf("no empty references: %s", answer.body)
	}
}
