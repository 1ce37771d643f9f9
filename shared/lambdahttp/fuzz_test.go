package lambdahttp_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"docent/shared/lambdahttp"
)

// FuzzHandle gives events of any content to a handler that echoes: there is
// never an error or a panic, what the handler sees is a well-formed request, and
// what comes out can be sent.
func FuzzHandle(f *testing.F) {
	for _, event := range []string{
		`{"httpMethod":"GET","path":"/documents/100%"}`,
		`{"httpMethod":"GET","path":"/v1/documents/a%2Fb?c#d","headers":{"host":"x"}}`,
		`{"httpMethod":"PUT","path":"/documents","body":"YWJj","isBase64Encoded":true,"multiValueHeaders":{"X-GoLambdaProxy-A":["1"],"a b":["c\r\nd"]}}`,
		`{"httpMethod":"G T","path":"//../..","multiValueQueryStringParameters":{"a=b":["&",""]}}`,
		`{"requestContext":{"domainName":"a b@c:d/e","identity":{"sourceIp":"::1"},"requestId":"r"}}`,
		`{"httpMethod":"GET","path":"/documents/a\u0000b?c#d%","multiValueHeaders":{"x-golambdaproxy-a ":[""]}}`,
		`{"httpMethod":"DELETE","path":"http://[::1/%zz","queryStringParameters":{"\u0000":"\ud800"}}`,
	} {
		f.Add([]byte(event))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var event events.APIGatewayProxyRequest
		if json.Unmarshal(text, &event) != nil {
			return
		}
		asked := false
		function := &lambdahttp.Function{Log: slog.New(slog.DiscardHandler), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = true
			if !strings.HasPrefix(r.URL.Path, "/") || r.Method == "" || r.URL.Fragment != "" {
				t.Errorf("request %s %q", r.Method, r.URL)
			}
			want := 0
			for _, values := range event.MultiValueQueryStringParameters {
				want += len(values)
			}
			got := 0
			for _, values := range r.URL.Query() {
				got += len(values)
			}
			if len(event.MultiValueQueryStringParameters) > 0 && got != want {
				t.Errorf("%d parameters of %d: %q", got, want, r.URL.RawQuery)
			}
			for name := range r.Header {
				if strings.HasPrefix(strings.ToLower(name), "x-golambdaproxy-") {
					t.Errorf("header %q is seen", name)
				}
			}
			_, _ = io.Copy(w, r.Body)
		})}
		response, err := function.Handle(t.Context(), event)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(response); err != nil || response.IsBase64Encoded {
			t.Errorf("response %+v: %v", response, err)
		}
		switch status := response.StatusCode; {
		case status == 200 && asked, (status == 400 || status == 404) && !asked, status == 500 && asked:
		default:
			t.Errorf("status %d, handler asked: %t", status, asked)
		}
	})
}
