package app

import (
	"errors"
	"fmt"
	"log/slog"
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
	var errs []error
	required := func(name string) string {
		value := getenv(name)
		if value == "" {
			errs = append(errs, fmt.Errorf("%s is not set", name))
		}
		return value
	}
	address := func(name, value string) string {
		if u, err := url.Parse(value); value != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
			errs = append(errs, fmt.Errorf("%s is not an http or https URL", name))
		}
		return strings.TrimRight(value, "/")
	}
	c := Config{
		Service:          getenv(deployed.Service),
		TablePrefix:      getenv(deployed.TablePrefix),
		Bucket:           required(deployed.Bucket),
		BlobPrefix:       getenv(deployed.BlobPrefix),
		QuestionsQueue:   address(deployed.QuestionsQueue, required(deployed.QuestionsQueue)),
		DocumentsQueue:   address(deployed.DocumentsQueue, required(deployed.DocumentsQueue)),
		SyncsQueue:       address(deployed.SyncsQueue, required(deployed.SyncsQueue)),
		DeliveriesQueue:  address(deployed.DeliveriesQueue, required(deployed.DeliveriesQueue)),
		EmbeddingsQueue:  address(deployed.EmbeddingsQueue, getenv(deployed.EmbeddingsQueue)),
		ExtractionsQueue: address(deployed.ExtractionsQueue, getenv(deployed.ExtractionsQueue)),
		RebuildsQueue:    address(deployed.RebuildsQueue, getenv(deployed.RebuildsQueue)),
		BaseURL:          address(deployed.BaseURL, required(deployed.BaseURL)),
		AWSEndpoint:      address(deployed.AWSEndpoint, getenv(deployed.AWSEndpoint)),
		Region:           required(deployed.Region),
		Credentials: Credentials{KeyID: required(deployed.KeyID), Secret: required(deployed.Secret),
			SessionToken: getenv(deployed.SessionToken)},
		SecretsKey:        getenv(deployed.SecretsKey),
		Model:             getenv(deployed.Model),
		ModelURL:          address(deployed.ModelURL, getenv(deployed.ModelURL)),
		ModelKeyParameter: getenv(deployed.ModelKey),
	}
	var err error
	if c.ModelProvider, err = ProviderOf(getenv(deployed.ModelProvider), c.Model, c.ModelURL, modelVariable); err != nil {
		errs = append(errs, err)
	} else if c.ModelKeyParameter != "" && c.ModelProvider != ModelOfOpenAI {
		errs = append(errs, errors.New("DOCENT_MODEL_KEY_PARAMETER is for a model of openai"))
	}
	c.Embedding = Embedding{Provider: getenv(deployed.EmbeddingProvider), Model: getenv(deployed.EmbeddingModel),
		URL: address(deployed.EmbeddingURL, getenv(deployed.EmbeddingURL)), KeyParameter: getenv(deployed.EmbeddingKey)}
	if size := getenv(deployed.EmbeddingSize); size != "" {
		if c.Embedding.Size, err = strconv.Atoi(size); err != nil {
			c.Embedding.Size = -1 // no size
		}
	}
	if c.Embedding, err = c.Embedding.Resolved(modelVariable); err != nil {
		errs = append(errs, err)
	} else if c.Embedding.Provider == EmbeddingLocal && c.Embedding.Model != "" {
		errs = append(errs, errors.New("DOCENT_EMBEDDING_MODEL is for a model of bedrock or openai"))
	}
	if c.Tables, err = tableNames(getenv(deployed.Tables)); err != nil {
		errs = append(errs, err)
	} else if c.Tables == nil && c.TablePrefix == "" {
		errs = append(errs, errors.New("neither DOCENT_TABLES nor DOCENT_TABLE_PREFIX is set"))
	}
	if c.Service == "" {
		c.Service = "docent"
	}
	switch getenv(deployed.Transfer) {
	case "", "buffered":
	case "stream":
		c.Streams = true
	default:
		errs = append(errs, errors.New("DOCENT_RESPONSE_TRANSFER is neither stream nor buffered"))
	}
	if limit := getenv(deployed.TeamRate); limit != "" {
		if c.TeamRate, err = strconv.Atoi(limit); err != nil || c.TeamRate < 0 || c.TeamRate > rate.MaxPerSecond {
			errs = append(errs, fmt.Errorf("DOCENT_TEAM_RATE is not a number from 0 to %d", rate.MaxPerSecond))
		}
	}
	if memory := getenv(deployed.Memory); memory != "" {
		if c.Memory, err = strconv.Atoi(memory); err != nil || c.Memory <= 0 {
			errs = append(errs, errors.New("AWS_LAMBDA_FUNCTION_MEMORY_SIZE is not a number of MB"))
		}
	}
	if level := getenv(deployed.LogLevel); level != "" {
		if err := c.LogLevel.UnmarshalText([]byte(level)); err != nil {
			errs = append(errs, errors.New("DOCENT_LOG_LEVEL is not debug, info, warn or error"))
		}
	}
	if len(errs) > 0 {
		return Config{}, fmt.Errorf("read the configuration: %w", errors.Join(errs...))
	}
	return c, nil
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
			return nil, fmt.Errorf("DOCENT_TABLES does not name the table %s", name)
		}
	}
	if len(names) != len(table.Names) {
		return nil, errors.New("DOCENT_TABLES names an unknown table, or one table twice")
	}
	return names, nil
}
