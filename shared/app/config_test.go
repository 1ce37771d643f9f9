package app_test

import (
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"

	"docent/shared/app"
	"docent/shared/deployed"
	"docent/shared/table"
)

// environment holds a value for every variable.
var environment = map[string]string{
	"DOCENT_SERVICE":               "docent-beta",
	"DOCENT_TABLE_PREFIX":          "beta-",
	"DOCENT_TABLES":                strings.Join(tables("T-"), ", "),
	"DOCENT_BUCKET":                "segments",
	"DOCENT_BLOB_PREFIX":           "v1/",
	"DOCENT_QUESTIONS_QUEUE_URL":   "https://sqs.test/1/questions",
	"DOCENT_DOCUMENTS_QUEUE_URL":   "https://sqs.test/1/documents",
	"DOCENT_SYNCS_QUEUE_URL":       "https://sqs.test/1/syncs",
	"DOCENT_DELIVERIES_QUEUE_URL":  "https://sqs.test/1/deliveries",
	"DOCENT_REBUILDS_QUEUE_URL":    "https://sqs.test/1/rebuilds",
	"DOCENT_EXTRACTIONS_QUEUE_URL": "https://sqs.test/1/extractions",
	"DOCENT_EMBEDDINGS_QUEUE_URL":  "https://sqs.test/1/embeddings",
	"DOCENT_BASE_URL":              "https://docent.test/v1/",
	"DOCENT_AWS_ENDPOINT":          "http://127.0.0.1:4566/",
	"DOCENT_SECRETS_KEY":           "arn:aws:kms:eu-central-1:1:key/k",
	"DOCENT_MODEL_PROVIDER":        "openai",
	"DOCENT_MODEL":                 "llama3.3",
	"DOCENT_MODEL_URL":             "https://models.test/v1/",
	"DOCENT_MODEL_KEY_PARAMETER":   "/docent/model-key",
	"DOCENT_LOG_LEVEL":             "debug",
	"DOCENT_TEAM_RATE":             "100",
	"DOCENT_RESPONSE_TRANSFER":     "stream",

	"DOCENT_EMBEDDING_PROVIDER":      "openai",
	"DOCENT_EMBEDDING_MODEL":         "nomic-embed-text",
	"DOCENT_EMBEDDING_URL":           "https://models.test/v1/",
	"DOCENT_EMBEDDING_SIZE":          "768",
	"DOCENT_EMBEDDING_KEY_PARAMETER": "/docent/embedding-key",

	"AWS_REGION":            "eu-central-1",
	"AWS_ACCESS_KEY_ID":     "KEYID",
	"AWS_SECRET_ACCESS_KEY": "secret",
	"AWS_SESSION_TOKEN":     "session",

	"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1024",
}

// tables returns the names of all tables in the form of DOCENT_TABLES.
func tables(prefix string) (pairs []string) {
	for _, name := range table.Names {
		pairs = append(pairs, name+"="+prefix+name)
	}
	return pairs
}

func TestEveryFieldArrives(t *testing.T) {
	t.Parallel()
	read := map[string]bool{}
	c, err := app.ConfigFromEnv(func(name string) string {
		read[name] = true
		return environment[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, name := range table.Names {
		names[name] = "T-" + name
	}
	want := app.Config{Service: "docent-beta", TablePrefix: "beta-", Tables: names, Bucket: "segments", BlobPrefix: "v1/",
		QuestionsQueue: "https://sqs.test/1/questions", DocumentsQueue: "https://sqs.test/1/documents", SyncsQueue: "https://sqs.test/1/syncs", DeliveriesQueue: "https://sqs.test/1/deliveries",
		RebuildsQueue: "https://sqs.test/1/rebuilds", EmbeddingsQueue: "https://sqs.test/1/embeddings", ExtractionsQueue: "https://sqs.test/1/extractions",
		BaseURL: "https://docent.test/v1", AWSEndpoint: "http://127.0.0.1:4566", SecretsKey: "arn:aws:kms:eu-central-1:1:key/k",
		ModelProvider: app.ModelOfOpenAI, Model: "llama3.3", ModelURL: "https://models.test/v1", ModelKeyParameter: "/docent/model-key", LogLevel: slog.LevelDebug, TeamRate: 100, Streams: true, Memory: 1024,
		Embedding: app.Embedding{Provider: app.EmbeddingOfOpenAI, Model: "nomic-embed-text", URL: "https://models.test/v1", Size: 768, KeyParameter: "/docent/embedding-key"},
		Region:    "eu-central-1", Credentials: app.Credentials{KeyID: "KEYID", Secret: "secret", SessionToken: "session"}}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("%+v, want %+v", c, want)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(verb, c); strings.Contains(text, "secret") || strings.Contains(text, "session") {
			t.Errorf("printed with %s it shows its secrets: %s", verb, text)
		}
	}
	fields := reflect.ValueOf(c)
	for i := range fields.NumField() {
		if name := fields.Type().Field(i).Name; !slices.Contains([]string{"Now", "Engines", "Provider", "standing", "patience"}, name) && fields.Field(i).IsZero() {
			t.Errorf("%s is set by no variable of this test", name)
		}
	}
	if len(read) != len(environment) {
		t.Errorf("read %v, of which this test sets %d", read, len(environment))
	}
}

func TestTheListOfVariablesIsWhatIsRead(t *testing.T) {
	t.Parallel()
	var listed []string
	for _, v := range deployed.Environment {
		listed = append(listed, v.Name)
		if strings.HasPrefix(v.Name, "AWS_") != v.Runtime {
			t.Errorf("%s is set by Lambda: %t", v.Name, v.Runtime)
		}
	}
	var read []string
	_, err := app.ConfigFromEnv(func(name string) string {
		if !slices.Contains(read, name) {
			read = append(read, name)
		}
		return ""
	})
	slices.Sort(listed)
	slices.Sort(read)
	if !slices.Equal(listed, read) {
		t.Errorf("listed %v, read %v", listed, read)
	}
	for _, v := range deployed.Environment {
		if missing := strings.Contains(err.Error(), "\n"+v.Name+" is not set") || strings.Contains(err.Error(), ": "+v.Name+" is not set"); missing != v.Required {
			t.Errorf("%s is required: %t, listed so: %t", v.Name, missing, v.Required)
		}
	}
}

func TestOptionalFieldsHaveDefaults(t *testing.T) {
	t.Parallel()
	optional := []string{"DOCENT_SERVICE", "DOCENT_TABLES", "DOCENT_BLOB_PREFIX", "DOCENT_AWS_ENDPOINT", "DOCENT_LOG_LEVEL", "AWS_SESSION_TOKEN", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
		"DOCENT_MODEL_PROVIDER", "DOCENT_MODEL", "DOCENT_MODEL_URL", "DOCENT_MODEL_KEY_PARAMETER", "DOCENT_SECRETS_KEY", "DOCENT_EMBEDDINGS_QUEUE_URL", "DOCENT_EXTRACTIONS_QUEUE_URL",
		"DOCENT_EMBEDDING_PROVIDER", "DOCENT_EMBEDDING_MODEL", "DOCENT_EMBEDDING_URL", "DOCENT_EMBEDDING_SIZE", "DOCENT_EMBEDDING_KEY_PARAMETER"}
	c, err := app.ConfigFromEnv(func(name string) string {
		if slices.Contains(optional, name) {
			return ""
		}
		return environment[name]
	})
	if err != nil || c.Service != "docent" || c.BlobPrefix != "" || c.AWSEndpoint != "" || c.LogLevel != slog.LevelInfo || c.Tables != nil ||
		c.Credentials.SessionToken != "" || c.Memory != 0 || c.Embedding != (app.Embedding{Provider: app.EmbeddingLocal}) {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestAllFaultsAreReportedTogether(t *testing.T) {
	t.Parallel()
	_, err := app.ConfigFromEnv(func(name string) string {
		return map[string]string{"DOCENT_BASE_URL": "docent.test", "DOCENT_LOG_LEVEL": "loud",
			"DOCENT_AWS_ENDPOINT": "ftp://x"}[name]
	})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"DOCENT_BUCKET is not set", "AWS_REGION is not set", "AWS_ACCESS_KEY_ID is not set",
		"AWS_SECRET_ACCESS_KEY is not set", "DOCENT_QUESTIONS_QUEUE_URL is not set", "DOCENT_DOCUMENTS_QUEUE_URL is not set", "DOCENT_SYNCS_QUEUE_URL is not set",
		"DOCENT_BASE_URL is not an http", "DOCENT_AWS_ENDPOINT is not an http", "DOCENT_LOG_LEVEL is not debug",
		"neither DOCENT_TABLES nor DOCENT_TABLE_PREFIX is set"} {
		if strings.Count(err.Error(), want) != 1 {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}

func TestModelIsNamedWhole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, provider, model, url, key, provided, want string }{
		{name: "no provider and no address", model: "m", provided: "bedrock"},
		{name: "no provider and an address", model: "m", url: "https://models.test", provided: "openai"},
		{name: "Bedrock at another endpoint", provider: "bedrock", model: "m", url: "https://models.test", provided: "bedrock"},
		{name: "an address alone", url: "https://models.test", want: "DOCENT_MODEL is not set"},
		{name: "no model", provider: "bedrock", want: "DOCENT_MODEL is not set"},
		{name: "no server", provider: "openai", model: "m", want: "DOCENT_MODEL_URL is not set"},
		{name: "another provider", provider: "other", model: "m", want: "DOCENT_MODEL_PROVIDER is neither bedrock nor openai"},
		{name: "no address", provider: "bedrock", model: "m", url: "models.test", want: "DOCENT_MODEL_URL is not an http"},
		{name: "a key for Bedrock", model: "m", key: "/k", want: "DOCENT_MODEL_KEY_PARAMETER is for a model of openai"},
		{name: "a key without a model", key: "/k", want: "DOCENT_MODEL_KEY_PARAMETER is for a model of openai"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := app.ConfigFromEnv(func(name string) string {
				switch name {
				case "DOCENT_MODEL_KEY_PARAMETER":
					return c.key
				case "DOCENT_MODEL_PROVIDER":
					return c.provider
				case "DOCENT_MODEL":
					return c.model
				case "DOCENT_MODEL_URL":
					return c.url
				}
				return environment[name]
			})
			if got.ModelProvider != c.provided || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("provider %q, error %v, want %q", got.ModelProvider, err, c.want)
			}
		})
	}
}

func TestEmbeddingModelIsNamedWhole(t *testing.T) {
	t.Parallel()
	const url = "https://models.test"
	for _, c := range []struct{ name, provider, model, url, size, key, provided, want string }{
		{name: "nothing", provided: "local"},
		{name: "a folder", model: "/opt/model", want: "DOCENT_EMBEDDING_MODEL is for"},
		{name: "words alone", provider: "none", provided: "none"},
		{name: "Bedrock", provider: "bedrock", provided: "bedrock"},
		{name: "Bedrock at another endpoint", provider: "bedrock", model: "amazon.titan-embed-text-v2:0", url: url, size: "256", provided: "bedrock"},
		{name: "a server", model: "m", url: url, size: "768", provided: "openai"},
		{name: "a server with a key", provider: "openai", model: "m", url: url, size: "768", key: "/k", provided: "openai"},
		{name: "no server", provider: "openai", model: "m", size: "768", want: "DOCENT_EMBEDDING_URL is not set"},
		{name: "no model", url: url, size: "768", want: "DOCENT_EMBEDDING_MODEL is not set"},
		{name: "no size", url: url, model: "m", want: "DOCENT_EMBEDDING_SIZE is not set"},
		{name: "no number", url: url, model: "m", size: "many", want: "DOCENT_EMBEDDING_SIZE is not from 1 to 4096"},
		{name: "too large", url: url, model: "m", size: "4097", want: "DOCENT_EMBEDDING_SIZE is not from 1 to 4096"},
		{name: "no address", url: "models.test", model: "m", size: "768", want: "DOCENT_EMBEDDING_URL is not an http"},
		{name: "an address for the process", provider: "local", url: url, want: "DOCENT_EMBEDDING_URL is for"},
		{name: "a key for Bedrock", provider: "bedrock", key: "/k", want: "DOCENT_EMBEDDING_KEY_PARAMETER is for"},
		{name: "another provider", provider: "other", want: "DOCENT_EMBEDDING_PROVIDER is none of"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			given := map[string]string{"PROVIDER": c.provider, "MODEL": c.model, "URL": c.url, "SIZE": c.size, "KEY_PARAMETER": c.key}
			got, err := app.ConfigFromEnv(func(name string) string {
				if setting, ok := strings.CutPrefix(name, "DOCENT_EMBEDDING_"); ok {
					return given[setting]
				}
				return environment[name]
			})
			if got.Embedding.Provider != c.provided || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("provider %q, error %v, want %q", got.Embedding.Provider, err, c.want)
			}
		})
	}
}

func TestTableNamesMustBeWhole(t *testing.T) {
	t.Parallel()
	all := tables("T-")
	for name, list := range map[string]string{
		"one is missing":  strings.Join(all[1:], ","),
		"one is empty":    strings.Join(append(slices.Clone(all[1:]), table.Names[0]+"="), ","),
		"one too many":    strings.Join(append(slices.Clone(all), "other=T-other"), ","),
		"no list of them": "T-",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := app.ConfigFromEnv(func(name string) string {
				if name == "DOCENT_TABLES" {
					return list
				}
				return environment[name]
			})
			if err == nil || !strings.Contains(err.Error(), "DOCENT_TABLES") {
				t.Errorf("error %v", err)
			}
		})
	}
}
