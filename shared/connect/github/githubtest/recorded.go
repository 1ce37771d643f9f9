package githubtest

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Recorded adds records of GitHub's lists, which the server sends byte for byte,
// unknown fields included, but with its own URL in place of GitHub's.
func (s *Server) Recorded(issues, comments, reviews []json.RawMessage) (func(r *Repository), error) {
	var add Repository
	for _, text := range issues {
		i := Issue{recorded: s.here(text)}
		if err := json.Unmarshal(i.recorded, (*plainIssue)(&i)); err != nil {
			return nil, fmt.Errorf("recorded issue: %w", err)
		}
		add.Issues = append(add.Issues, i)
	}
	for _, list := range []struct {
		texts []json.RawMessage
		into  *[]Comment
	}{{comments, &add.Comments}, {reviews, &add.Reviews}} {
		for _, text := range list.texts {
			c := Comment{recorded: s.here(text)}
			if err := json.Unmarshal(c.recorded, (*plainComment)(&c)); err != nil {
				return nil, fmt.Errorf("recorded comment: %w", err)
			}
			*list.into = append(*list.into, c)
		}
	}
	return func(r *Repository) {
		r.Issues = append(r.Issues, add.Issues...)
		r.Comments = append(r.Comments, add.Comments...)
		r.Reviews = append(r.Reviews, add.Reviews...)
	}, nil
}

func (s *Server) here(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte("https://api.github.com/"), []byte(s.API()+"/"))
	return bytes.ReplaceAll(text, []byte("https://github.com/"), []byte(s.URL+"/"))
}

// These types have no MarshalJSON.
type (
	plainIssue   Issue
	plainComment Comment
)

// MarshalJSON returns the recorded text, if there is one.
func (i Issue) MarshalJSON() ([]byte, error) {
	if i.recorded != nil {
		return i.recorded, nil
	}
	return json.Marshal(plainIssue(i))
}

// MarshalJSON returns the recorded text, if there is one.
func (c Comment) MarshalJSON() ([]byte, error) {
	if c.recorded != nil {
		return c.recorded, nil
	}
	return json.Marshal(plainComment(c))
}
