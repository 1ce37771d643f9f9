package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"docent/shared/apierr"
	"docent/shared/jsoninput"
	"docent/shared/memory"
)

// MaxBody is the maximum size of a request body, as received and decompressed.
const MaxBody = 10 << 20

// Bounds of the JSON in a body, far above the needs of every operation.
var (
	textLimits = jsoninput.Limits{Depth: 64, Values: 10_000, Members: 1000, Literal: 100}
	// chatLimits allow a long conversation: a chat program sends all of it with every question.
	chatLimits = jsoninput.Limits{Depth: 64, Values: 100_000, Members: 1000, Literal: 100}
	// lineLimits are the limits of all lines of an import together.
	lineLimits = jsoninput.Limits{Values: 200_000, Lines: true}
)

func tooLarge() *apierr.Error {
	return apierr.New(apierr.TooLarge, apierr.CodeTooLarge,
		"A request must not exceed 10 MB uncompressed.")
}

func unsupportedMedia() *apierr.Error {
	return apierr.New(apierr.Unsupported, apierr.CodeUnsupportedMedia,
		"Send application/json (or application/merge-patch+json with PATCH), plain or with Content-Encoding: gzip.")
}

// bodyFormat is the format of an operation's body.
type bodyFormat int

const (
	jsonText  bodyFormat = iota // one JSON text
	jsonChat                    // one JSON text, a conversation
	jsonLines                   // JSON Lines, which the operation reads itself
	untouched                   // signed: nothing is refused or decompressed before the signature is checked
)

func bodyFormatOf(pattern string) bodyFormat {
	switch {
	case isSigned(pattern):
		return untouched
	case pattern == "POST /chat/completions", pattern == "POST /responses":
		return jsonChat
	case pattern == "POST /data-sources/{dataSourceId}/items":
		return jsonLines
	default:
		return jsonText
	}
}

// limits returns a walker for the JSON of a body, nil if it is not checked yet.
func (f bodyFormat) limits() *jsoninput.Walker {
	switch f {
	case jsonText:
		return jsoninput.New(textLimits)
	case jsonChat:
		return jsoninput.New(chatLimits)
	case jsonLines:
		return jsoninput.New(lineLimits)
	default:
		return nil
	}
}

// hasBody reports whether the body of a request with that method is read.
func hasBody(method string) bool {
	return method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
}

// received is a body as it was sent.
type received struct {
	bytes   []byte
	gzipped bool
	walker  *jsoninput.Walker // of JSON that is not compressed; nil: it is not checked
}

// Content codings of a body.
const (
	plainCoding = "identity"
	gzipCoding  = "gzip"
)

// codingOf returns the content coding of the body of r, plainCoding and gzipCoding by these names.
func codingOf(r *http.Request) string {
	switch coding := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))); coding {
	case "":
		return plainCoding
	case "x-gzip": // RFC 9110 section 8.4.1.3
		return gzipCoding
	default:
		return coding
	}
}

// receiveBody reads the complete body of r as sent. JSON is checked while it arrives.
func receiveBody(r *http.Request, in *intake, f bodyFormat) (received, error) {
	var body received
	if !hasBody(r.Method) {
		return body, nil
	}
	if err := checkMediaType(r, f); err != nil {
		return body, err
	}
	coding := codingOf(r)
	if f == untouched {
		coding = plainCoding
	}
	switch coding {
	case plainCoding:
	case gzipCoding:
		body.gzipped = true
	default:
		requestFrom(r.Context()).badCoding = true
		if r.ContentLength > MaxBody {
			return body, tooLarge()
		}
		return body, unsupportedMedia()
	}
	if body.walker = f.limits(); body.walker != nil && !body.gzipped {
		in.checks = body.walker
	}
	var err error
	body.bytes, err = in.whole(r.Context(), MaxBody)
	return body, err
}

// openBody decompresses and checks the received body, charges the memory for decoding
// it to the work of r, and makes it the body of r.
func openBody(r *http.Request, body received, f bodyFormat) error {
	if !hasBody(r.Method) {
		r.Body = http.NoBody
		return nil
	}
	if body.gzipped {
		var checks io.Writer
		if body.walker != nil {
			checks = body.walker
		}
		var err error
		if body.bytes, err = inflate(r.Context(), body.bytes, checks); err != nil {
			return err
		}
	}
	if f == jsonLines { // its first line alone would be rejected
		body.bytes = bytes.TrimPrefix(body.bytes, byteOrderMark)
	}
	requestFrom(r.Context()).bodyless = len(body.bytes) == 0
	if body.walker != nil {
		cost := int64(len(body.bytes))*costPerByte + int64(body.walker.Values())*costPerValue
		if err := memory.Reserve(r.Context(), cost); err != nil {
			return err
		}
	}
	if f == jsonText || f == jsonChat {
		if !utf8.Valid(body.bytes) { // a decoder would replace it silently (RFC 8259 section 8.1)
			return apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The request body is not UTF-8.")
		}
		if jsoninput.HasLoneSurrogate(body.bytes) {
			return apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The request body %s.", jsoninput.LoneSurrogate)
		}
		if fault := jsoninput.RepeatedName(body.bytes); fault != "" {
			return apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The request body %s.", fault)
		}
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Del("Content-Encoding")
	r.ContentLength = int64(len(body.bytes))
	r.Body = io.NopCloser(bytes.NewReader(body.bytes))
	return nil
}

func checkMediaType(r *http.Request, f bodyFormat) error {
	given := r.Header.Get("Content-Type")
	if given == "" || f == untouched {
		return nil
	}
	media, params, err := mime.ParseMediaType(given)
	if err != nil {
		return unsupportedMedia()
	}
	switch {
	case f == jsonLines && media != "application/x-ndjson" && media != "application/jsonl":
		return apierr.New(apierr.Unsupported, apierr.CodeUnsupportedMedia,
			"Send application/x-ndjson, plain or with Content-Encoding: gzip.")
	case f != jsonLines && media != "application/json" && (media != "application/merge-patch+json" || r.Method != http.MethodPatch):
		return unsupportedMedia()
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return apierr.New(apierr.Unsupported, apierr.CodeUnsupportedMedia,
			"JSON is sent in UTF-8 (RFC 8259 section 8.1). Leave charset out of Content-Type, or send charset=utf-8.")
	}
	return nil
}

// byteOrderMark begins a file of text of some programs, such as PowerShell.
var byteOrderMark = []byte("\ufeff")

// maxRatio is the maximum ratio of deflate.
const maxRatio = 1032

func damaged() *apierr.Error {
	return apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The request body is not a complete gzip stream.")
}

// inflate decompresses a gzip body (RFC 1952) to at most MaxBody bytes, and writes it to
// checks on the way.
func inflate(ctx context.Context, packed []byte, checks io.Writer) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, damaged()
	}
	return inflateFrom(ctx, reader, packed, checks)
}

// sureSize is how many bytes are decompressed before memory for the size in the trailer is
// allocated. Most bad JSON is refused before that.
const sureSize = 1 << 20

// inflateFrom reads all of from, which decompresses packed. The first part is free; before more is
// decompressed, the maximum size is reserved.
func inflateFrom(ctx context.Context, from io.Reader, packed []byte, checks io.Writer) ([]byte, error) {
	if checks == nil {
		checks = io.Discard
	}
	most := min(int64(len(packed))*maxRatio, MaxBody) + 1 // to see that it is too large, or has ended
	body, ended, err := readPart(from, make([]byte, 0, min(most, freePart)), checks)
	if err != nil || ended {
		return body, err
	}
	if err := memory.Reserve(ctx, most); err != nil {
		return nil, err
	}
	for !ended {
		if int64(len(body)) > MaxBody {
			return nil, tooLarge()
		}
		size := 2 * int64(len(body))
		if len(body) >= sureSize {
			size = max(size, trailerSize(packed)+1)
		}
		grown := make([]byte, len(body), max(min(size, most), int64(len(body))+1))
		copy(grown, body)
		if body, ended, err = readPart(from, grown, checks); err != nil {
			return nil, err
		}
	}
	if int64(len(body)) > MaxBody {
		return nil, tooLarge()
	}
	memory.Return(ctx, most-int64(cap(body)))
	return body, nil
}

// trailerSize returns the size that the trailer of packed names (RFC 1952, section 2.3.1), which may be
// wrong.
func trailerSize(packed []byte) int64 {
	const length = 4
	if len(packed) < length {
		return 0
	}
	return int64(binary.LittleEndian.Uint32(packed[len(packed)-length:]))
}

// readPart reads until part has its capacity or the stream has ended.
func readPart(from io.Reader, part []byte, checks io.Writer) (read []byte, ended bool, err error) {
	begin := len(part)
	for err == nil && len(part) < cap(part) {
		var n int
		n, err = from.Read(part[len(part):cap(part)])
		part = part[:len(part)+n]
	}
	if _, exceeded := checks.Write(part[begin:]); exceeded != nil {
		return nil, false, exceedsLimit(exceeded)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, damaged()
	}
	return part, err != nil, nil
}

// exceedsLimit returns the error for JSON that exceeds its bounds.
func exceedsLimit(err error) error {
	return apierr.New(apierr.Invalid, apierr.CodeInvalidRequest, "The request body %s.", err)
}
