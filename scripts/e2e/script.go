package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
)

// Bounds of a script.
const (
	requestTimeout = 60 * time.Second
	pollEvery      = 250 * time.Millisecond
	maxReply       = 16 << 20
	shown          = 2000 // bytes of a reply in a report
)

// reply is the reply to the last request of a script.
type reply struct {
	request string
	status  int
	header  http.Header
	body    []byte
}

func (r *reply) String() string {
	text := r.body
	if len(text) > shown {
		text = append(bytes.Clone(text[:shown]), "…"...)
	}
	return fmt.Sprintf("%s: %d %s", r.request, r.status, text)
}

// player implements the commands of scripts. README.md describes each.
type player struct {
	target  Target
	client  *http.Client
	patient time.Duration // bound of until
}

// lastReply is the key of a script's last reply.
type lastReply struct{}

func (p *player) commands() map[string]func(*testscript.TestScript, bool, []string) {
	set := map[string]func(*testscript.TestScript, bool, []string){
		"status": p.status, "is": p.is, "like": p.like, "has": p.has, "header": p.header, "save": p.save,
		"saveheader": p.saveHeader, "uuid": p.uuid, "until": p.until, "fill": p.fill, "pack": p.pack, "sign": p.sign, "fault": p.fault,
		"idp": p.idp, "assert": p.assert,
	}
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		set[method] = func(ts *testscript.TestScript, neg bool, args []string) {
			usage(ts, !neg && len(args) > 0, method+" PATH [as=KEY] [NAME:VALUE]... [BODY]")
			r, err := p.send(ts, method, args)
			ts.Check(err)
			*last(ts) = *r
		}
	}
	return set
}

func last(ts *testscript.TestScript) *reply { return ts.Value(lastReply{}).(*reply) }

func usage(ts *testscript.TestScript, ok bool, text string) {
	if !ok {
		ts.Fatalf("usage: %s", text)
	}
}

// send sends the request in args. It replaces ${NAME} in every argument, quoted or not.
func (p *player) send(ts *testscript.TestScript, method string, args []string) (*reply, error) {
	key, body, header := ts.Getenv("TEAM"), []byte(nil), http.Header{}
	for _, arg := range args[1:] {
		name, value, pair := strings.Cut(arg, ":")
		file, isFile := strings.CutPrefix(arg, "@")
		as, isKey := strings.CutPrefix(arg, "as=")
		form, isForm := strings.CutPrefix(arg, "form=")
		switch {
		case isKey:
			key = os.Expand(as, ts.Getenv)
		case isForm:
			body = []byte(expand(ts, form))
			header.Set("Content-Type", "application/x-www-form-urlencoded")
		case isFile:
			body = []byte(expand(ts, ts.ReadFile(file)))
		case strings.HasPrefix(arg, "{"), strings.HasPrefix(arg, "["), strings.HasPrefix(arg, "<"):
			body = []byte(expand(ts, arg))
		case pair:
			header.Add(name, strings.TrimSpace(expand(ts, value)))
		default:
			return nil, fmt.Errorf("%q is neither as=KEY, nor form=TEXT, nor NAME:VALUE, nor JSON, nor @FILE", arg)
		}
	}
	if body != nil && header.Get("Content-Type") == "" {
		header.Set("Content-Type", "application/json")
	}
	if key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	if strings.EqualFold(header.Get("Content-Encoding"), "gzip") {
		var err error
		if body, err = packed(body); err != nil {
			return nil, err
		}
	}
	path := strings.TrimPrefix(expand(ts, args[0]), p.target.Base)
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, p.target.At+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = header
	response, err := p.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxReply))
	if err != nil {
		return nil, fmt.Errorf("read the reply: %w", err)
	}
	return &reply{method + " " + path, response.StatusCode, response.Header, text}, nil
}

var variable = regexp.MustCompile(`\$\{[A-Z][A-Z0-9_]*\}`)

// expand replaces ${NAME} and nothing else that looks like a variable: JSON has members such as $ref.
func expand(ts *testscript.TestScript, text string) string {
	return variable.ReplaceAllStringFunc(text, func(name string) string { return ts.Getenv(name[2 : len(name)-1]) })
}

func (p *player) status(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "status CODE")
	if r := last(ts); strconv.Itoa(r.status) != args[0] {
		ts.Fatalf("want status %s of %s", args[0], r)
	}
}

func (p *player) is(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 2, "[!] is PATH VALUE")
	if got := gjson.GetBytes(last(ts).body, expand(ts, args[0])).String(); (got == expand(ts, args[1])) == neg {
		ts.Fatalf("%s is %q, which was not expected, in %s", args[0], got, last(ts))
	}
}

func (p *player) like(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 2, "[!] like PATH REGEXP")
	got := gjson.GetBytes(last(ts).body, expand(ts, args[0])).String()
	if match(ts, args[1], got) == neg {
		ts.Fatalf("%s is %q, which was not expected, in %s", args[0], got, last(ts))
	}
}

func (p *player) has(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 1, "[!] has TEXT")
	if bytes.Contains(last(ts).body, []byte(expand(ts, args[0]))) == neg {
		ts.Fatalf("%q: not as expected in %s", args[0], last(ts))
	}
}

func (p *player) header(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 2, "[!] header NAME REGEXP")
	values := last(ts).header.Values(args[0])
	if (len(values) > 0 && match(ts, args[1], strings.Join(values, ", "))) == neg {
		ts.Fatalf("header %s is %q of %s", args[0], values, last(ts))
	}
}

func match(ts *testscript.TestScript, pattern, text string) bool {
	re, err := regexp.Compile(expand(ts, pattern))
	ts.Check(err)
	return re.MatchString(text)
}

func (p *player) save(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "save NAME PATH")
	got := gjson.GetBytes(last(ts).body, args[1])
	if !got.Exists() || got.String() == "" {
		ts.Fatalf("there is no %s in %s", args[1], last(ts))
	}
	ts.Setenv(args[0], got.String())
}

// saveHeader saves the first group of a pattern in a header.
func (p *player) saveHeader(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 3, "saveheader NAME HEADER REGEXP")
	re, err := regexp.Compile(args[2])
	ts.Check(err)
	found := re.FindStringSubmatch(strings.Join(last(ts).header.Values(args[1]), ", "))
	if len(found) != 2 {
		ts.Fatalf("header %s is %q", args[1], last(ts).header.Values(args[1]))
	}
	ts.Setenv(args[0], found[1])
}

func (p *player) uuid(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "uuid NAME")
	ts.Setenv(args[0], uuid.NewString())
}

// until repeats a GET or POST until the reply matches.
func (p *player) until(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) >= 4, "until PATH REGEXP METHOD URL [as=KEY] [NAME:VALUE]... [BODY]")
	for end := time.Now().Add(p.patient); ; {
		r, err := p.send(ts, args[2], args[3:])
		ts.Check(err)
		*last(ts) = *r
		got := gjson.GetBytes(r.body, expand(ts, args[0])).String()
		if args[0] == "status" {
			got = strconv.Itoa(r.status)
		}
		if match(ts, args[1], got) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("after %s %s is still %q, not %q, in %s", p.patient, args[0], got, args[1], r)
		}
		time.Sleep(pollEvery)
	}
}

// fill writes a file of a given size that repeats a text.
func (p *player) fill(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 3, "fill NAME BYTES TEXT")
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := strings.Repeat(args[2], n/len(args[2])+1)[:n]
	ts.Setenv(args[0], text)
}

// pack sets a variable to the base64 of the gzip of another variable's text.
func (p *player) pack(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "pack NAME FROM")
	text, err := packed([]byte(ts.Getenv(args[1])))
	ts.Check(err)
	ts.Setenv(args[0], base64.StdEncoding.EncodeToString(text))
}

func packed(text []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// sign sets a variable to the hex HMAC-SHA-256 of a file or a text under a secret.
func (p *player) sign(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 3, "sign NAME SECRET TEXT|@FILE")
	text := args[2]
	if file, ok := strings.CutPrefix(text, "@"); ok {
		text = ts.ReadFile(file)
	}
	mac := hmac.New(sha256.New, []byte(expand(ts, args[1])))
	mac.Write([]byte(expand(ts, text)))
	ts.Setenv(args[0], hex.EncodeToString(mac.Sum(nil)))
}

// fault breaks or repairs a part of the target, if the target supports it.
func (p *player) fault(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "fault tables|queues|bucket|none")
	if p.target.Fault == nil {
		ts.Fatalf("nothing of this target can be broken")
	}
	ts.Check(p.target.Fault(args[0]))
}
