package github

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// query sends a GraphQL query about the repository, up to most times, and decodes its data into v. Its errors are those of get. If ofOne is
// set, the query is about one pull request: what GitHub fails to return of single records, each time, is null. Of a larger query that is
// an error, because GitHub may return them if it is asked for less.
func (s *session) query(ctx context.Context, query string, about map[string]any, most int, ofOne bool, v any) error {
	about["owner"], about["name"], _ = strings.Cut(s.repository, "/")
	body, err := json.Marshal(map[string]any{"query": query, "variables": about})
	if err != nil {
		return err
	}
	attempt := 0
	return s.retry(ctx, most, func() error {
		attempt++
		ctx, cancel := context.WithTimeout(ctx, requestTime)
		defer cancel()
		q, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(s.base, "v3/")+"graphql", bytes.NewReader(body))
		if err != nil {
			return err
		}
		q.Header.Set("Content-Type", "application/json")
		reply, err := s.do(q, jsonType)
		if err != nil {
			return err
		}
		defer reply.Body.Close()
		var out struct {
			Data   json.RawMessage
			Errors []queryError
		}
		if err := json.NewDecoder(reply.Body).Decode(&out); err != nil {
			return err
		}
		if n := slices.IndexFunc(out.Errors, func(e queryError) bool { return !e.isOfOneRecord() }); n >= 0 {
			first := out.Errors[n]
			return &statusError{status: statusOf(first.Type, first.Message, reply.Header), header: reply.Header, message: first.Message}
		}
		if len(out.Errors) > 0 && (!ofOne || attempt < most) {
			return &statusError{status: http.StatusBadGateway, header: reply.Header, message: out.Errors[0].Message}
		}
		return json.Unmarshal(out.Data, v)
	})
}

type queryError struct {
	Type, Message string
	Path          []any // names of members and indexes of lists
}

// isOfOneRecord reports whether e is about one record of a list, which is null in the data. What the token may not read concerns all, and so
// does a query that needs too much: which records are null then says nothing about them.
func (e queryError) isOfOneRecord() bool {
	if e.Type == "RESOURCE_LIMITS_EXCEEDED" {
		return false
	}
	inList := slices.ContainsFunc(e.Path, func(step any) bool { _, isIndex := step.(float64); return isIndex })
	return inList && slices.Contains([]int{http.StatusNotFound, http.StatusBadGateway}, statusOf(e.Type, e.Message, nil))
}

// statusOf returns the status with which REST says what a GraphQL error says. That of a secondary rate limit may have no type.
func statusOf(kind, message string, header http.Header) int {
	switch kind {
	case "NOT_FOUND":
		return http.StatusNotFound
	case "FORBIDDEN", "INSUFFICIENT_SCOPES":
		return http.StatusForbidden
	case "RATE_LIMITED", "RATE_LIMIT":
		return http.StatusTooManyRequests
	case "INVALID_CURSOR_ARGUMENTS":
		return http.StatusUnprocessableEntity
	}
	if header.Get("Retry-After") != "" || header.Get("X-RateLimit-Remaining") == "0" || strings.Contains(strings.ToLower(message), "rate limit") {
		return http.StatusTooManyRequests
	}
	return http.StatusBadGateway // such as a query that took too long
}
