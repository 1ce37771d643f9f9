package lambdarun

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// runtimeAPI is the HTTP interface of Lambda's custom runtimes, version 2018-06-01.
func (p *process) runtimeAPI() http.Handler {
	const root = "/2018-06-01/runtime/"
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+root+"invocation/next", p.handNext)
	mux.HandleFunc("POST "+root+"invocation/{id}/response", p.takeResponse)
	mux.HandleFunc("POST "+root+"invocation/{id}/error", p.takeError)
	mux.HandleFunc("POST "+root+"init/error", p.takeInitError)
	return mux
}

func (p *process) handNext(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	if !p.started {
		p.started = true
		close(p.polled)
	}
	p.mu.Unlock()
	select {
	case inv := <-p.next:
		p.mu.Lock()
		p.current = inv
		p.mu.Unlock()
		h := w.Header()
		h.Set("Lambda-Runtime-Aws-Request-Id", inv.id)
		h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(inv.deadline.UnixMilli(), 10))
		h.Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:"+region+":000000000000:function:"+p.name)
		h.Set("Lambda-Runtime-Trace-Id", "Root=1-"+strings.ReplaceAll(uuid.NewString(), "-", "")[:8]+"-"+
			strings.ReplaceAll(uuid.NewString(), "-", "")[:24]+";Sampled=0")
		h.Set("Content-Type", "application/json")
		_, _ = w.Write(inv.event)
	case <-r.Context().Done():
	case <-p.exited:
	}
}

// answered removes and returns the invocation that the process answers, or nil if it has none with that id.
func (p *process) answered(id string) *invocation {
	p.mu.Lock()
	defer p.mu.Unlock()
	inv := p.current
	if inv == nil || inv.id != id {
		return nil
	}
	p.current = nil
	return inv
}

// streamOf returns what receives the response to the invocation with that id while it is sent, or nil.
func (p *process) streamOf(id string) io.Writer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current == nil || p.current.id != id {
		return nil
	}
	return p.current.body
}

func (p *process) takeResponse(w http.ResponseWriter, r *http.Request) {
	var body []byte
	var err error
	if to := p.streamOf(r.PathValue("id")); to != nil {
		_, err = io.Copy(to, r.Body)
	} else {
		body, err = io.ReadAll(io.LimitReader(r.Body, MaxEvent+1))
	}
	if err != nil {
		return // the process has ended, which is reported elsewhere
	}
	inv := p.answered(r.PathValue("id"))
	switch kind := r.Trailer.Get("Lambda-Runtime-Function-Error-Type"); {
	case inv == nil:
		http.Error(w, `{"errorType":"InvalidRequestID"}`, http.StatusBadRequest)
		return
	case len(body) > MaxEvent:
		inv.result <- result{err: &FunctionError{"Function.ResponseSizeTooLarge", fmt.Sprintf("response over %d bytes", MaxEvent)}}
		http.Error(w, `{"errorType":"RequestEntityTooLarge"}`, http.StatusRequestEntityTooLarge)
		return
	case kind != "":
		inv.result <- result{err: &FunctionError{kind, "the response was cut off"}}
	default:
		inv.result <- result{response: body}
	}
	w.WriteHeader(http.StatusAccepted)
}

func (p *process) takeError(w http.ResponseWriter, r *http.Request) {
	reported := readError(r)
	inv := p.answered(r.PathValue("id"))
	if inv == nil {
		http.Error(w, `{"errorType":"InvalidRequestID"}`, http.StatusBadRequest)
		return
	}
	inv.result <- result{err: reported}
	w.WriteHeader(http.StatusAccepted)
}

func (p *process) takeInitError(w http.ResponseWriter, r *http.Request) {
	select {
	case p.failed <- readError(r):
	default: // only the first one counts
	}
	w.WriteHeader(http.StatusAccepted)
}

func readError(r *http.Request) *FunctionError {
	var e struct{ ErrorMessage, ErrorType string }
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxEvent))
	if err == nil {
		err = json.Unmarshal(body, &e)
	}
	if err != nil || e.ErrorType == "" {
		return &FunctionError{"Runtime.Unknown", string(body)}
	}
	return &FunctionError{e.ErrorType, e.ErrorMessage}
}
