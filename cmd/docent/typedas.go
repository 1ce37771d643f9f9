package main

import (
	"errors"
	"strconv"
	"strings"

	"docent/client"
	"docent/shared/apierr"
)

// typedAs maps, for each command, the places of a request that the API names in errors, as JSON pointers, to the argument or flag from which
// the command fills them, or to what it is of a file. A pointer also covers everything below it. The flags of data sources map their settings themselves (explained).
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

// inTypedWords returns the text of err, of command, with what the person typed instead of the API's names for it, as far as they are known.
// The codes and the request id stay.
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

// typedWord returns the argument or flag of command to which pointer leads, such as <url> 2 for the second one, or "" if none is known.
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
