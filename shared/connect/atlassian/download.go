package atlassian

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"docent/shared/fetch"
	"docent/shared/source"
)

// errElsewhere means that a download leads to a host that it may not be read from.
var errElsewhere = errors.New("a download leads to another host")

// Download returns the file at path, which is below s.Base. The Cloud redirects downloads to Atlassian's store of files,
// which does not get the credentials; other redirects to another host are not followed. A file that cannot be read is a
// *source.FileError, and other failures are those of Get.
func (s *Site) Download(ctx context.Context, what, path string) (file []byte, err error) {
	client := *s.HTTP
	client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if r.URL.Scheme != "https" || r.URL.Host != via[0].URL.Host && !s.stores(r.URL.Host) {
			return errElsewhere
		}
		return s.HTTP.CheckRedirect(r, via)
	}
	err = s.retried(ctx, what, func(ctx context.Context) error {
		reply, err := s.send(ctx, &client, path, "*/*")
		if err != nil {
			return err
		}
		defer reply.Body.Close()
		if strings.HasPrefix(reply.Header.Get("Content-Type"), "text/html") { // no file that is read is HTML
			return errWebPage
		}
		file, err = readAll(reply, source.MaxFile)
		return err
	})
	if why := s.fileError(err); why != nil {
		return nil, why
	}
	return file, err
}

func (s *Site) stores(host string) bool {
	switch {
	case !s.Cloud:
		return false
	case s.Stores != nil:
		return s.Stores(host)
	default:
		return strings.HasSuffix(strings.ToLower(host), ".atlassian.com")
	}
}

// fileError returns why a file cannot be read, or nil if err is about more than this file.
func (s *Site) fileError(err error) *source.FileError {
	switch {
	case errors.Is(err, errTooLarge):
		return &source.FileError{Why: fmt.Sprintf("it has more than %d MB", source.MaxFile>>20)}
	case errors.Is(err, errElsewhere), errors.Is(err, fetch.ErrBlocked):
		return &source.FileError{Why: "its download leads to an address that " + s.Product + " does not use for files"}
	case errors.Is(err, errWebPage):
		return &source.FileError{Why: s.Product + " sent a web page in its place"}
	case Invisible(err):
		return &source.FileError{Why: "it is missing, or the account of the token may not download it"}
	default:
		return nil
	}
}
