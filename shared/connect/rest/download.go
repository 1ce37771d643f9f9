package rest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"docent/shared/fetch"
	"docent/shared/source"
)

// Download requests path and returns the file that is the reply, of at most source.MaxFile bytes. A file that cannot be
// read is a *source.FileError: it is larger, missing, not allowed to a, on a host that a.Follow does not allow, or a web
// page, which providers send in place of a file to ask for a login. Header is not sent to other hosts.
func (a *API) Download(ctx context.Context, path string) (file []byte, err error) {
	var why string
	_, err = a.retried(ctx, func(ctx context.Context) (http.Header, error) {
		reply, err := a.send(ctx, http.MethodGet, path, anyType, nil)
		if why = a.unreadable(err); why != "" {
			return nil, nil //nolint:nilnil // another attempt would have the same result
		}
		if err != nil {
			return nil, err
		}
		defer reply.Body.Close()
		if isWebPage(reply.Header) {
			why = a.Provider + " sent a web page in its place, as it does if the token may not download files"
			return reply.Header, nil
		}
		if file, err = io.ReadAll(io.LimitReader(reply.Body, source.MaxFile+1)); err != nil {
			return nil, err
		}
		if len(file) > source.MaxFile {
			why = fmt.Sprintf("it has more than %d MB", source.MaxFile>>20)
		}
		return reply.Header, nil
	})
	if err == nil && why != "" {
		return nil, &source.FileError{Why: why}
	}
	return file, err
}

// unreadable says why err concerns one file only, or returns "".
func (a *API) unreadable(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, fetch.ErrBlocked), errors.Is(err, errElsewhere):
		return "its download leads to an address that is not public, or that " + a.Provider + " does not use for files"
	}
	if failed := a.failure(err); failed.AllParts || failed.Code != source.NotThere && failed.Code != source.Unauthorized {
		return ""
	}
	return "it is missing, or the token of " + a.Provider + " may not download it"
}
