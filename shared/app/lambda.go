package app

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"time"

	"docent/shared/httpapi"
)

// HTTP returns the handler of areas on AWS. Like the other constructors of
// functions it is called once, by main: the process's log goes to standard
// output as JSON lines from then on.
func HTTP(ctx context.Context, c Config, areas ...httpapi.Area) (http.Handler, error) {
	f, err := openFunctions(ctx, c)
	if err != nil {
		return nil, err
	}
	return f.http(areas...), nil
}

// Answering returns the worker of the questions queue on AWS.
func Answering(ctx context.Context, c Config) (Batches, error) {
	f, err := openFunctions(ctx, c)
	if err != nil {
		return nil, err
	}
	return f.answersQuestions(), nil
}

// Indexing returns the worker of the documents queue on AWS.
func Indexing(ctx context.Context, c Config) (Batches, error) {
	f, err := openFunctions(ctx, c)
	if err != nil {
		return nil, err
	}
	return f.indexesDocuments(), nil
}

// Sweeping returns what is to run every minute on AWS.
func Sweeping(ctx context.Context, c Config) (Schedule, error) {
	f, err := openFunctions(ctx, c)
	if err != nil {
		return nil, err
	}
	return f.sweeps(), nil
}

func openFunctions(ctx context.Context, c Config) (*functions, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	e, err := openAWS(ctx, c)
	if err != nil {
		return nil, err
	}
	log := newFunctionLog(os.Stdout, c.LogLevel)
	slog.SetDefault(log)
	return &functions{services: newServices(e, log, c.Now, pausePoll), log: log, now: c.Now,
		baseURL: c.BaseURL, service: c.Service}, nil
}
