package apitest

import (
	"io"
	"net/http"
)

type answer struct {
	question string
	polls    int
}

func (s *Server) ask(w http.ResponseWriter, r *http.Request) {
	var in struct{ Question string }
	if !decode(w, r, &in) {
		return
	}
	id := r.PathValue("id")
	if old, ok := s.answers[id]; ok && old.question != in.Question {
		Problem(w, 409, "answer-conflict", "This question id is taken.")
		return
	}
	if s.answers[id] == nil {
		s.answers[id] = &answer{question: in.Question}
	}
	if s.Events != "" && r.Header.Get("Accept") == "text/event-stream" {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, s.Events)
		return
	}
	w.WriteHeader(204)
}

func (s *Server) poll(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	a, ok := s.answers[id]
	if !ok {
		Problem(w, 404, "not-found", "There is no such answer.")
		return
	}
	out := map[string]any{"questionId": id, "question": a.question, "state": "processing"}
	a.polls++
	switch {
	case a.polls <= s.Polls:
		w.Header().Set("Retry-After", "2")
		w.Header().Set("Preference-Applied", r.Header.Get("Prefer"))
	case s.Failed:
		out["state"] = "failed"
		out["error"] = map[string]string{"code": "timeout", "detail": "The answer took too long."}
	default:
		refs := []map[string]string{
			{"htmlUrl": "https://wiki.example/undo", "title": "Undo\x1b[2J"},
			{"htmlUrl": "https://wiki.example/untitled"},
		}
		out["state"], out["answer"], out["references"] = "complete", "Run **undo**.", refs
		out["result"] = map[string]any{"answer": "Run **undo**.", "references": refs}
	}
	reply(w, 200, out)
}
