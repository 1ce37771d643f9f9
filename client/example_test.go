package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/google/uuid"

	"docent/client"
)

// A first answer. The id is the caller's choice, so that asking again costs nothing.
func Example() {
	docent, err := client.New(client.DefaultServer, os.Getenv("DOCENT_API_KEY"))
	if err != nil {
		log.Fatal(err)
	}
	ctx, id := context.Background(), uuid.NewString()
	if err := docent.Ask(ctx, id, client.Question{Text: "How do I roll back a release?"}); err != nil {
		log.Fatal(err)
	}
	answer, err := docent.Await(ctx, id)
	if err != nil {
		log.Fatal(err)
	}
	if answer.State == client.StateFailed {
		log.Fatal(answer.Error.Detail)
	}
	fmt.Println(answer.Result.Answer)
	for _, r := range answer.Result.References {
		fmt.Println(r.Title, r.HTMLURL)
	}
}

// A server for the examples that follow.
func exampleServer() (*client.Client, func()) {
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /v1/answers/{id}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: text.delta\ndata: {\"text\":\"Run **undo**\"}\n\nevent: text.delta\ndata: {\"text\":\" within a day.\"}\n\n"+
			"event: answer.completed\ndata: {\"state\":\"complete\",\"result\":{\"answer\":\"Run **undo** within a day.\",\"references\":[{\"htmlUrl\":\"https://wiki.example/undo\"}]}}\n\n")
	})
	mux.HandleFunc("PUT /v1/documents", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"id":"d1"}`) })
	mux.HandleFunc("GET /v1/collections/{id}", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"status":404,"code":"not-found","detail":"There is no such collection.","requestId":"r1"}`)
	})
	server := httptest.NewServer(mux)
	docent, err := client.New(server.URL, "docent_team_example")
	if err != nil {
		log.Fatal(err)
	}
	return docent, server.Close
}

func ExampleClient_AskStreaming() {
	docent, stop := exampleServer()
	defer stop()
	answer, err := docent.AskStreaming(context.Background(), uuid.NewString(), client.Question{Text: "How do I roll back a release?"},
		func(text string, replace bool) {
			if replace { // the text before it is withdrawn
				fmt.Println()
			}
			fmt.Print(text)
		})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println()
	fmt.Println(answer.Result.References[0].HTMLURL)
	// Output:
	// Run **undo** within a day.
	// https://wiki.example/undo
}

func ExampleClient_PutDocument() {
	docent, stop := exampleServer()
	defer stop()
	put, err := docent.PutDocument(context.Background(), client.Document{
		CollectionID: "c1",
		URI:          "https://wiki.example/rollback", // a second document with this URI replaces this one
		Title:        "Rolling back",
		Body:         "To roll back a release, run `deployctl undo` within 24 hours.",
		Access:       &client.Access{Users: []string{}, Groups: []string{"Operators"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(put.ID)
	// Output: d1
}

func ExampleError() {
	docent, stop := exampleServer()
	defer stop()
	_, err := docent.Collection(context.Background(), "unknown")
	var refused *client.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Status, refused.Code, refused.RequestID)
	}
	// Output: 404 not-found r1
}

func ExampleVerifyWebhook() {
	secret := os.Getenv("DOCENT_WEBHOOK_SECRET")
	http.HandleFunc("POST /docent", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			return
		}
		err = client.VerifyWebhook(body, r.Header, secret, time.Now())
		switch {
		case errors.Is(err, client.ErrBadWebhook):
			w.WriteHeader(http.StatusBadRequest)
		case err != nil:
			w.WriteHeader(http.StatusInternalServerError)
		default:
			fmt.Println(r.Header.Get("webhook-id"))
		}
	})
}
