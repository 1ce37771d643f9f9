package httpapi

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"docent/shared/apierr"
)

// Bounds of a request body.
const (
	MaxBody  = 10 << 20 // bytes, as received and unpacked alike
	maxDepth = 64       // nesting of JSON
)

func tooLarge() *apierr.Error {
	return apierr.New(apierr.TooLarge, apierr.CodeTooLarge,
		"A request may carry 10 MB, unpacked. Send fewer bytes.")
}

func unsupportedMedia() *apierr.Error {
	return apierr.New(apierr.Unsupported, apierr.CodeUnsupportedMedia,
		"Send application/json (or application/merge-patch+json with PATCH), plain or with Content-Encoding: gzip.")
}

// form is what the body of an operation is.
type form int

const (
	jsonText  form = iota // one JSON text
	jsonLines             // JSON Lines, which the operation reads itself
	untouched             // what a signature is over: nothing is refused or unpacked before that is checked
)

func formOf(pattern string) form {
	switch {
	case isSigned(pattern):
		return untouched
	case pattern == "POST /data-sources/{dataSourceId}/items":
		return jsonLines
	default:
		return jsonText
	}
}

// readBody reads the body of r whole and puts it back, unpacked and checked as its
// form wants. It never inflates past MaxBody.
func readBody(r *http.Request, l *lease, f form) error {
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch:
	default:
		r.Body = http.NoBody
		return nil
	}
	if err := checkMediaType(r, f); err != nil {
		return err
	}
	if r.ContentLength > MaxBody {
		return tooLarge()
	}
	body, err := readUpTo(leased{r.Body, l})
	if err != nil {
		return err
	}
	coding := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding")))
	if f == untouched {
		coding = ""
	}
	switch coding {
	case "", "identity":
	case "gzip", "x-gzip":
		if body, err = inflate(body, l); err != nil {
			return err
		}
	default:
		requestFrom(r.Context()).badCoding = true
		return unsupportedMedia()
	}
	requestFrom(r.Context()).bodyless = len(body) == 0
	if f == jsonText {
		if err := checkJSON(body); err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Del("Content-Encoding")
	r.ContentLength = int64(len(body))
	r.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

func checkMediaType(r *http.Request, f form) error {
	given := r.Header.Get("Content-Type")
	if given == "" || f == untouched {
		return nil
	}
	media, params, err := mime.ParseMediaType(given)
	if err != nil {
		return unsupportedMedia()
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return unsupportedMedia()
	}
	if f == jsonLines {
		if media == "application/x-ndjson" || media == "application/jsonl" {
			return nil
		}
		return apierr.New(apierr.Unsupported, apierr.CodeUnsupportedMedia,
			"Send application/x-ndjson, plain or with Content-Encoding: gzip.")
	}
	if media == "application/json" || media == "application/merge-patch+json" && r.Method == http.MethodPatch {
		return nil
	}
	return unsupportedMedia()
}

// readUpTo reads a body of at most MaxBody bytes. It holds no more than has
// arrived, whatever length was announced.
func readUpTo(from io.Reader) ([]byte, error) {
	var buffer bytes.Buffer
	n, err := buffer.ReadFrom(io.LimitReader(from, MaxBody+1))
	if n > MaxBody {
		return nil, tooLarge()
	}
	var refused *apierr.Error
	if errors.As(err, &refused) {
		return nil, refused
	}
	if err != nil {
		return nil, apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The request body did not arrive whole.").Because(err)
	}
	return buffer.Bytes(), nil
}

// inflate unpacks a gzip body (RFC 1952) of at most MaxBody bytes.
func inflate(packed []byte, l *lease) ([]byte, error) {
	damaged := apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The request body is not a whole gzip stream.")
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, damaged
	}
	body, err := readUpTo(leased{reader, l})
	var e *apierr.Error
	if errors.As(err, &e) && e.Kind != apierr.Invalid {
		return nil, e
	}
	if err != nil {
		return nil, damaged
	}
	return body, nil
}

// checkJSON bounds the nesting of a JSON text before it is parsed and refuses
// what is not UTF-8 (RFC 8259 section 8.1), which a decoder would quietly replace.
func checkJSON(body []byte) error {
	if !utf8.Valid(body) {
		return apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The request body is not UTF-8.")
	}
	depth, inString, escaped := 0, false, false
	for _, b := range body {
		switch {
		case escaped:
			escaped = false
		case inString && b == '\\':
			escaped = true
		case b == '"':
			inString = !inString
		case inString:
		case b == '{' || b == '[':
			if depth++; depth > maxDepth {
				return apierr.New(apierr.Invalid, apierr.CodeInvalidRequest,
					"The request body nests deeper than %d levels.", maxDepth)
			}
		case b == '}' || b == ']':
			depth--
		}
	}
	return nil
}
