package main

import (
	"errors"
	"strconv"
	"strings"

	"docent/client"
	"docent/shared/apierr"
)

// typedAs has, for each command, the arguments and flags that fill a request, by the JSON pointers by which the API's errors name its parts.
// A pointer also covers everything below it. docent put fills most parts from a file, so it has words for them. Settings of data sources are
// not here: providerFlags.explained names their flags.
var typedAs = map[string]map[string]string{
	"docent ask":           {"/question": "<question>", "/filter": "--filter"},
	"docent search":        {"/query": "<query>", "/filter": "--filter", "/instruction": "--instruction", "/limit": "--limit"},
	"docent research":      {"/query": "<query>", "/filter": "--filter", "/instruction": "--instruction", "/effort": "--effort"},
	"docent get":           {"/urls": "<url>"},
	"docent put":           {"/name": "--collection-name", "/description": "--description", "/uri": "its URI", "/title": "its title", "/metadata": "its metadata", "/access": "its access"},
	"docent eval":          {"/dataSourceIds": "--collection"},
	"docent source add":    {"/provider": "<provider>", "/name": "--name"},
	"docent source set":    {"/name": "--name"},
	"docent usage":         {"/query/start": "--start", "/query/end": "--end", "/query/timeZone": "--time-zone", "/query/groupBy": "--group-by", "/query/feature": "--feature"},
	"docent events follow": {"/query/since": "--since", "/query/format": "--format"},
	"docent team create":   {"/name": "--name", "/userName": "--admin"},
	"docent team saml set": {"/url": "<file>"},
	"docent scim setup":    {"/name": "--name"},
	"docent key create":    {"/name": "--name", "/actFor": "--act-for", "/dataSourceIds": "--data-source", "/scopes": "--scope", "/expiresAt": "--expires"},
}

// inTypedWords returns the text of the error of a command. Where typedAs knows what the person typed, it replaces the API's names. The codes
// and the request id stay.
func inTypedWords(err error, command string) string {
	var detail string
	var fields []client.FieldError
	var refused *client.Error
	var rule *apierr.Error
	switch {
	case errors.As(err, &refused):
		detail, fields = refused.Detail, refused.Fields
	case errors.As(err, &rule):
		detail = rule.Detail
		for _, f := range rule.Fields {
			fields = append(fields, client.FieldError(f))
		}
	}
	plain := strings.Replace(detail, "The header Docent-User", "--as", 1)
	faults := make([]string, len(fields))
	known := false
	for i, f := range fields {
		word := typedWord(command, f.Pointer)
		known = known || word != ""
		if word == "" {
			word = f.Pointer
		}
		faults[i] = strings.TrimPrefix(word+": ", ": ") + strings.TrimSuffix(f.Detail, ".")
	}
	if known {
		plain = strings.Join(faults, "; ")
	}
	if rule != nil && refused == nil {
		return plain + " (" + rule.Code + ")"
	}
	return strings.Replace(err.Error(), detail, plain, 1)
}

// typedWord returns the argument or flag that fills the part of a request at pointer, such as <url> 2 for the second URL, or "" if none is known.
func typedWord(command, pointer string) string {
	for at := pointer; at != ""; at = at[:strings.LastIndex(at, "/")] {
		word, ok := typedAs[command][at]
		if !ok {
			continue
		}
		if n, err := strconv.Atoi(strings.TrimPrefix(pointer[len(at):], "/")); err == nil {
			word += " " + strconv.Itoa(n+1)
		}
		return word
	}
	return ""
}
