package vault_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/kms"

	"docent/shared/apierr"
	"docent/shared/app"
	"docent/shared/app/parts/vault"
	"docent/testkit/moto"
)

func configOf(endpoint, key string) app.Config {
	return app.Config{Region: "us-east-1", AWSEndpoint: endpoint, Credentials: app.Credentials{KeyID: "test", Secret: "test"}, SecretsKey: key}
}

// newKey makes a key on the protocol server.
func newKey(t *testing.T, endpoint string) string {
	t.Helper()
	out, err := kms.NewFromConfig(moto.Config(endpoint)).CreateKey(t.Context(), &kms.CreateKeyInput{})
	if err != nil {
		t.Fatal(err)
	}
	return *out.KeyMetadata.Arn
}

func TestSecretsOpenForWhatTheyWereSealedFor(t *testing.T) {
	t.Parallel()
	endpoint := moto.Start(t)
	v := vault.Open(configOf(endpoint, newKey(t, endpoint)))
	for _, secrets := range []string{`{"accessToken":"ghp_x"}`, strings.Repeat("s", vault.MaxSecrets)} {
		sealed, err := v.Seal(t.Context(), []byte(secrets), "team-1/source-1")
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(sealed, []byte(secrets)) {
			t.Error("the sealed form contains the secret")
		}
		if opened, err := v.Open(t.Context(), sealed, "team-1/source-1"); err != nil || string(opened) != secrets {
			t.Errorf("opened %q, %v", opened, err)
		}
		for _, other := range []string{"team-1/source-2", "team-2/source-1", ""} {
			if opened, err := v.Open(t.Context(), sealed, other); err == nil {
				t.Errorf("it opens for %q: %q", other, opened)
			}
		}
		if opened, err := v.Open(t.Context(), append([]byte{1}, sealed...), "team-1/source-1"); err == nil {
			t.Errorf("what is damaged opens: %q", opened)
		}
		if opened, err := vault.Open(configOf(endpoint, newKey(t, endpoint))).Open(t.Context(), sealed, "team-1/source-1"); err == nil {
			t.Errorf("another key opens it: %q", opened)
		}
	}
}

func TestSecretsThatKMSDoesNotTakeAreRefused(t *testing.T) {
	t.Parallel()
	v := vault.Open(configOf("http://127.0.0.1:1", "key"))
	_, err := v.Seal(t.Context(), make([]byte, vault.MaxSecrets+1), "a")
	var refused *apierr.Error
	if !errors.As(err, &refused) || refused.Kind != apierr.Invalid {
		t.Errorf("error %v", err)
	}
}

func TestWhatPassesIsToldFromWhatAnOperatorMends(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]struct {
		status  int
		passing bool
	}{
		"ThrottlingException":        {400, true},
		"KMSInternalException":       {500, true},
		"DependencyTimeoutException": {503, true},
		"KeyUnavailableException":    {500, true},
		"AccessDeniedException":      {400, false},
		"DisabledException":          {400, false},
		"NotFoundException":          {400, false},
		"InvalidCiphertextException": {400, false},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Amzn-Errortype", code)
				w.WriteHeader(want.status)
				_, _ = w.Write([]byte(`{"__type":"` + code + `"}`))
			}))
			t.Cleanup(server.Close)
			v := vault.Open(configOf(server.URL, "key"))
			_, sealing := v.Seal(t.Context(), []byte("s"), "a")
			_, opening := v.Open(t.Context(), []byte("s"), "a")
			for _, err := range []error{sealing, opening} {
				var known *apierr.Error
				if errors.As(err, &known) != want.passing || err == nil {
					t.Errorf("error %v", err)
				}
			}
		})
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	var known *apierr.Error
	if _, err := vault.Open(configOf(gone.URL, "key")).Seal(t.Context(), []byte("s"), "a"); !errors.As(err, &known) || known.Kind != apierr.Unavailable {
		t.Errorf("no server: %v", err)
	}
}

func TestNoKeyNoVault(t *testing.T) {
	t.Parallel()
	if v := vault.Open(configOf("", "")); v != nil {
		t.Errorf("%v", v)
	}
}
