package main

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"docent/client"
	"docent/shared/apierr"
)

// explain returns the error of a command, such as "docent ask", as text for a person: the detail of a refusal, with the flags and arguments
// as they were typed, and what to do about a refused key, a used-up quota or a server that does not answer.
func explain(err error, now time.Time, command string) string {
	var refused *client.Error
	var rule *apierr.Error
	var none *client.NoReplyError
	switch {
	case errors.As(err, &refused):
		return inTypedWords(err, command) + advice(refused, now)
	case errors.As(err, &rule) && rule.Kind != apierr.Internal:
		return inTypedWords(err, command)
	case errors.Is(err, http.ErrSchemeMismatch):
		return err.Error() + "\nThe server does not speak https: begin --server or DOCENT_SERVER with http."
	case errors.As(err, &none):
		return err.Error() + "\nCheck that the server runs, and --server or DOCENT_SERVER."
	}
	return err.Error()
}

// advice returns a line on what to do about a refusal, or "".
func advice(e *client.Error, now time.Time) string {
	switch {
	case e.Status == http.StatusUnauthorized:
		return "\nCheck --key or DOCENT_API_KEY."
	case e.Code == "" && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed): // not of the API: a page, or another program
		return "\nCheck --server or DOCENT_SERVER: the address of the API, such as " + client.DefaultServer + "."
	case e.Status == http.StatusTooManyRequests && resets(e, now) != "":
		return "\n" + resets(e, now)
	case e.Code == apierr.CodeActingNotAllowed:
		return "\nLeave --as out, or use a team key that may act for people, which docent key create --act-for makes."
	}
	return ""
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
