package app

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"docent/shared/deployed"
	"docent/shared/rate"
	"docent/shared/table"
)

// Config is the configuration of a function on AWS, from the variables of
// deployed.Environment. Every function reads all of them; its policy decides which
// resources it may use.
type Config struct {
	Service     string // DOCENT_SERVICE: names this installation in metrics; empty: "docent"
	TablePrefix string // DOCENT_TABLE_PREFIX: prefix of the name of every table; not used with Tables
	// Tables has the name of each table in DynamoDB; DOCENT_TABLES: "collections=…,documents=…", all of them.
	Tables          map[string]string
	Bucket          string // DOCENT_BUCKET: keeps the search segments
	BlobPrefix      string // DOCENT_BLOB_PREFIX: prefix of the key of every object; may be empty
	QuestionsQueue  string // DOCENT_QUESTIONS_QUEUE_URL
	DocumentsQueue  string // DOCENT_DOCUMENTS_QUEUE_URL
	SyncsQueue      string // DOCENT_SYNCS_QUEUE_URL: of data sources to read
	EmbeddingsQueue string // DOCENT_EMBEDDINGS_QUEUE_URL: of documents and parts of the index that wait for vectors; empty: this function does not use the queue
	DeliveriesQueue string // DOCENT_DELIVERIES_QUEUE_URL: of notices for webhook endpoints
	// DOCENT_EXTRACTIONS_QUEUE_URL: of files whose text is to be read; empty: this function does not use the queue.
	ExtractionsQueue string
	RebuildsQueue    string // DOCENT_REBUILDS_QUEUE_URL: of parts of the index to rebuild; empty: this function does not use the queue
	BaseURL          string // DOCENT_BASE_URL: of the API as clients reach it, without a slash at its end
	AWSEndpoint      string // DOCENT_AWS_ENDPOINT: of a local stand-in for AWS; empty: AWS itself
	Region           string // AWS_REGION, which Lambda sets
	Credentials      Credentials
	SecretsKey       string // DOCENT_SECRETS_KEY: id or ARN of the KMS key that encrypts the secrets of data sources; empty: they are refused
	ModelProvider    string // DOCENT_MODEL_PROVIDER: bedrock or openai; the default is the result of ProviderOf. Empty: answers are quoted
	Model            string // DOCENT_MODEL: the model's name there, with Bedrock its id, or the id or ARN of an inference profile
	ModelURL         string // DOCENT_MODEL_URL: of the model's server, before /chat/completions; with Bedrock another endpoint than AWS's own
	// DOCENT_MODEL_KEY_PARAMETER: name of the SecureString in AWS Systems Manager that holds the key of an
	// OpenAI-compatible server; empty: it needs none.
	ModelKeyParameter string
	Embedding         Embedding  // embeds passages and questions
	Streams           bool       // DOCENT_RESPONSE_TRANSFER: stream where the gateway passes on replies while they are written, or buffered; empty: buffered
	TeamRate          int        // DOCENT_TEAM_RATE: requests per second that a team may send; empty or 0: as many as it likes
	Memory            int        // AWS_LAMBDA_FUNCTION_MEMORY_SIZE: MB of the function; empty: not known
	LogLevel          slog.Level // DOCENT_LOG_LEVEL: debug, info, warn or error; empty: info, which metrics need

	// What is not read from the environment:
	Now      func() time.Time        // nil: time.Now
	Engines  *Engines                // used instead of AWS; nil: AWS
	Provider aws.CredentialsProvider // renews the credentials of a standing process; nil: Credentials, which a function has for life
	standing bool                    // the process waits for messages of the queues
	patience time.Duration           // waited for an answer of an emulator in addition to answerTimeout
}

// The providers of models.
const (
	ModelOfBedrock = "bedrock" // Amazon Bedrock
	ModelOfOpenAI  = "openai"  // any server that speaks OpenAI's Chat Completions
)

// ProviderOf returns the provider of a model, empty if none is configured. The default is
// openai if there is an address, and bedrock otherwise. The error names the missing setting
// in the words of name, which returns "--model" for "model", for example.
func ProviderOf(provider, model, address string, name func(string) string) (string, error) {
	switch {
	case provider == "" && model == "" && address == "":
		return "", nil
	case provider != "" && provider != ModelOfBedrock && provider != ModelOfOpenAI:
		return "", fmt.Errorf("%s is neither bedrock nor openai", name("model-provider"))
	case model == "":
		return "", fmt.Errorf("%s is not set", name("model"))
	case provider == ModelOfOpenAI && address == "":
		return "", fmt.Errorf("%s is not set", name("model-url"))
	case provider == "" && address != "":
		return ModelOfOpenAI, nil
	case provider == "":
		return ModelOfBedrock, nil
	}
	return provider, nil
}

// Credentials are the AWS credentials of a function. Lambda sets them for the life of a
// process.
type Credentials struct {
	KeyID        string // AWS_ACCESS_KEY_ID
	Secret       string // AWS_SECRET_ACCESS_KEY
	SessionToken string // AWS_SESSION_TOKEN; empty for a user's long-lived key
}

// String hides the secret from logs.
func (c Credentials) String() string { return c.KeyID }

// GoString is String.
func (c Credentials) GoString() string { return c.String() }

// ConfigFromEnv reads the configuration. It is the only reader of the
// environment. The error names every variable that is missing or malformed.
func ConfigFromEnv(getenv func(string) string) (Config, error) {
	env := environment{getenv: getenv}
	c := Config{
		Service:          cmp.Or(getenv(deployed.Service), "docent"),
		TablePrefix:      getenv(deployed.TablePrefix),
		Bucket:           env.required(deployed.Bucket),
		BlobPrefix:       getenv(deployed.BlobPrefix),
		QuestionsQueue:   env.requiredURL(deployed.QuestionsQueue),
		DocumentsQueue:   env.requiredURL(deployed.DocumentsQueue),
		SyncsQueue:       env.requiredURL(deployed.SyncsQueue),
		DeliveriesQueue:  env.requiredURL(deployed.DeliveriesQueue),
		EmbeddingsQueue:  env.url(deployed.EmbeddingsQueue),
		ExtractionsQueue: env.url(deployed.ExtractionsQueue),
		RebuildsQueue:    env.url(deployed.RebuildsQueue),
		BaseURL:          env.requiredURL(deployed.BaseURL),
		AWSEndpoint:      env.url(deployed.AWSEndpoint),
		Region:           env.required(deployed.Region),
		Credentials: Credentials{KeyID: env.required(deployed.KeyID), Secret: env.required(deployed.Secret),
			SessionToken: getenv(deployed.SessionToken)},
		SecretsKey:        getenv(deployed.SecretsKey),
		Model:             getenv(deployed.Model),
		ModelURL:          env.url(deployed.ModelURL),
		ModelKeyParameter: getenv(deployed.ModelKey),
		Embedding:         env.embedding(),
		Tables:            env.tables(),
		Streams:           env.streams(),
		TeamRate:          env.number(deployed.TeamRate, 0, rate.MaxPerSecond, fmt.Sprintf("a number from 0 to %d", rate.MaxPerSecond)),
		Memory:            env.number(deployed.Memory, 1, math.MaxInt, "a number of MB"),
	}
	var err error
	if c.ModelProvider, err = ProviderOf(getenv(deployed.ModelProvider), c.Model, c.ModelURL, modelVariable); err != nil {
		env.refuse(err)
	} else if c.ModelKeyParameter != "" && c.ModelProvider != ModelOfOpenAI {
		env.refuse(fmt.Errorf("%s is for a model of openai", deployed.ModelKey))
	}
	if level := getenv(deployed.LogLevel); level != "" && c.LogLevel.UnmarshalText([]byte(level)) != nil {
		env.refuse(fmt.Errorf("%s is not debug, info, warn or error", deployed.LogLevel))
	}
	if len(env.errs) > 0 {
		return Config{}, fmt.Errorf("read the configuration: %w", errors.Join(env.errs...))
	}
	return c, nil
}

// environment reads variables, and collects what is wrong with them.
type environment struct {
	getenv func(string) string
	errs   []error
}

func (e *environment) refuse(err error) { e.errs = append(e.errs, err) }

func (e *environment) required(name string) string {
	value := e.getenv(name)
	if value == "" {
		e.refuse(fmt.Errorf("%s is not set", name))
	}
	return value
}

// url reads an http or https URL, without a slash at its end; empty if the variable is not set.
func (e *environment) url(name string) string {
	value := e.getenv(name)
	if u, err := url.Parse(value); value != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		e.refuse(fmt.Errorf("%s is not an http or https URL", name))
	}
	return strings.TrimRight(value, "/")
}

func (e *environment) requiredURL(name string) string {
	e.required(name)
	return e.url(name)
}

// number reads a number from lowest to highest; 0 if the variable is not set. An error says that it is not a number such as want describes.
func (e *environment) number(name string, lowest, highest int, want string) int {
	value := e.getenv(name)
	if value == "" {
		return 0
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < lowest || n > highest {
		e.refuse(fmt.Errorf("%s is not %s", name, want))
	}
	return n
}

func (e *environment) embedding() Embedding {
	given := Embedding{Provider: e.getenv(deployed.EmbeddingProvider), Model: e.getenv(deployed.EmbeddingModel),
		URL: e.url(deployed.EmbeddingURL), KeyParameter: e.getenv(deployed.EmbeddingKey)}
	if size := e.getenv(deployed.EmbeddingSize); size != "" {
		var err error
		if given.Size, err = strconv.Atoi(size); err != nil {
			given.Size = -1 // which Resolved refuses
		}
	}
	resolved, err := given.Resolved(modelVariable)
	if err != nil {
		e.refuse(err)
	} else if resolved.Provider == EmbeddingLocal && resolved.Model != "" {
		e.refuse(fmt.Errorf("%s is for a model of bedrock or openai", deployed.EmbeddingModel))
	}
	return resolved
}

func (e *environment) tables() map[string]string {
	names, err := tableNames(e.getenv(deployed.Tables))
	if err != nil {
		e.refuse(err)
	} else if names == nil && e.getenv(deployed.TablePrefix) == "" {
		e.refuse(fmt.Errorf("neither %s nor %s is set", deployed.Tables, deployed.TablePrefix))
	}
	return names
}

// streams reports whether API Gateway passes the parts of a reply on as they are written.
func (e *environment) streams() bool {
	switch e.getenv(deployed.Transfer) {
	case "", "buffered":
	case "stream":
		return true
	default:
		e.refuse(fmt.Errorf("%s is neither stream nor buffered", deployed.Transfer))
	}
	return false
}

// modelVariable returns the environment variable of a setting of a model.
func modelVariable(setting string) string {
	return "DOCENT_" + strings.ToUpper(strings.ReplaceAll(setting, "-", "_"))
}

// tableNames reads the names of the tables, nil if list is empty.
func tableNames(list string) (map[string]string, error) {
	if list == "" {
		return nil, nil
	}
	names := map[string]string{}
	for pair := range strings.SplitSeq(list, ",") {
		ours, theirs, _ := strings.Cut(strings.TrimSpace(pair), "=")
		names[ours] = theirs
	}
	for _, name := range table.Names {
		if names[name] == "" {
			return nil, fmt.Errorf("%s does not name the table %s", deployed.Tables, name)
		}
	}
	if len(names) != len(table.Names) {
		return nil, errors.New("DOCENT_TABLES names an unknown table, or one table twice")
	}
	return names, nil
}
