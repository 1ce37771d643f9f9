package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"docent/client"
	"docent/shared/apierr"
)

// explain returns err as text for a person: the detail of a refusal, and what to do about a refused key or a
// used-up quota.
func explain(err error, now time.Time) string {
	var refused *client.Error
	if errors.As(err, &refused) {
		switch refused.Status {
		case http.StatusUnauthorized:
			return err.Error() + "\nCheck --key or DOCENT_API_KEY."
		case http.StatusTooManyRequests:
			if hint := resets(refused, now); hint != "" {
				return err.Error() + "\n" + hint
			}
		}
		return err.Error()
	}
	var rule *apierr.Error
	if errors.As(err, &rule) && rule.Kind != apierr.Internal {
		known := []string{rule.Code}
		for _, f := range rule.Fields {
			known = append(known, f.Pointer)
		}
		return fmt.Sprintf("%s (%s)", rule.Detail, strings.Join(known, ", "))
	}
	return err.Error()
}

// resets says when a used-up quota resets, or returns "" if the server did not say, or refused for the requests per second.
func resets(e *client.Error, now time.Time) string {
	at, in := e.ResetsAt, e.RetryAfter
	switch {
	case at.IsZero() && in == 0, e.Code == apierr.CodeRateExceeded:
		return ""
	case at.IsZero():
		at = now.Add(in)
	default:
		in = at.Sub(now)
	}
	if in <= 0 {
		return "The daily quota has just been reset; try again."
	}
	in = in.Round(time.Minute)
	return fmt.Sprintf("The daily quota resets at %s, in %d h %d min.",
		at.UTC().Format("2006-01-02 15:04 UTC"), int(in.Hours()), int(in.Minutes())%60)
}
