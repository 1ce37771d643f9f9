package deployed

import "slices"

// The variables that functions read. app.Config says what each holds.
const (
	Service          = "DOCENT_SERVICE"
	TablePrefix      = "DOCENT_TABLE_PREFIX"
	Tables           = "DOCENT_TABLES"
	Bucket           = "DOCENT_BUCKET"
	BlobPrefix       = "DOCENT_BLOB_PREFIX"
	QuestionsQueue   = "DOCENT_QUESTIONS_QUEUE_URL"
	DocumentsQueue   = "DOCENT_DOCUMENTS_QUEUE_URL"
	SyncsQueue       = "DOCENT_SYNCS_QUEUE_URL"
	RebuildsQueue    = "DOCENT_REBUILDS_QUEUE_URL"
	EmbeddingsQueue  = "DOCENT_EMBEDDINGS_QUEUE_URL"
	DeliveriesQueue  = "DOCENT_DELIVERIES_QUEUE_URL"
	ExtractionsQueue = "DOCENT_EXTRACTIONS_QUEUE_URL"
	BaseURL          = "DOCENT_BASE_URL"
	AWSEndpoint      = "DOCENT_AWS_ENDPOINT"
	LogLevel         = "DOCENT_LOG_LEVEL"
	TeamRate         = "DOCENT_TEAM_RATE"
	Transfer         = "DOCENT_RESPONSE_TRANSFER"
	SecretsKey       = "DOCENT_SECRETS_KEY"
	ModelProvider    = "DOCENT_MODEL_PROVIDER"
	Model            = "DOCENT_MODEL"
	ModelURL         = "DOCENT_MODEL_URL"
	ModelKey         = "DOCENT_MODEL_KEY_PARAMETER"

	EmbeddingProvider = "DOCENT_EMBEDDING_PROVIDER"
	EmbeddingModel    = "DOCENT_EMBEDDING_MODEL"
	EmbeddingURL      = "DOCENT_EMBEDDING_URL"
	EmbeddingSize     = "DOCENT_EMBEDDING_SIZE"
	EmbeddingKey      = "DOCENT_EMBEDDING_KEY_PARAMETER"

	Region       = "AWS_REGION"
	KeyID        = "AWS_ACCESS_KEY_ID"
	Secret       = "AWS_SECRET_ACCESS_KEY"
	SessionToken = "AWS_SESSION_TOKEN"
	Memory       = "AWS_LAMBDA_FUNCTION_MEMORY_SIZE" // MB
)

// Variable is one that functions read.
type Variable struct {
	Name      string
	Required  bool     // no function starts without it
	Runtime   bool     // Lambda sets it, never the stack
	Functions []string // the functions that read it; nil: all
}

// ReadBy reports whether the function of that name reads the variable.
func (v Variable) ReadBy(function string) bool {
	return v.Functions == nil || slices.Contains(v.Functions, function)
}

// Functions that embed texts, and those that must know the model by which others do.
var (
	embedding = []string{"answering", "answers", "context", "embedding"}
	vectors   = append([]string{"documents", "indexing", "sweeping"}, embedding...)
)

// Environment lists every variable. Of Tables and TablePrefix one is needed: Tables
// where the names of the tables are made by the stack.
var Environment = []Variable{
	{Name: Service},
	{Name: TablePrefix},
	{Name: Tables},
	{Name: Bucket, Required: true},
	{Name: BlobPrefix},
	{Name: QuestionsQueue, Required: true},
	{Name: DocumentsQueue, Required: true},
	{Name: SyncsQueue, Required: true},
	{Name: DeliveriesQueue, Required: true},
	{Name: RebuildsQueue, Functions: []string{"indexing", "sweeping"}},
	{Name: EmbeddingsQueue, Functions: []string{"embedding", "indexing", "sweeping"}},
	{Name: ExtractionsQueue, Functions: []string{"documents", "extracting", "sweeping", "syncing"}},
	{Name: BaseURL, Required: true},
	{Name: AWSEndpoint},
	{Name: LogLevel},
	{Name: TeamRate, Functions: []string{"admin", "answers", "collections", "context", "dashboard", "documents", "scim", "securityevents", "usage"}},
	{Name: Transfer, Functions: []string{"answers", "context"}},
	{Name: SecretsKey, Functions: []string{"admin", "dashboard", "delivering", "syncing"}},
	{Name: ModelProvider, Functions: []string{"answering", "answers", "context"}},
	{Name: Model, Functions: []string{"answering", "answers", "context"}},
	{Name: ModelURL, Functions: []string{"answering", "answers", "context"}},
	{Name: ModelKey, Functions: []string{"answering", "answers", "context"}},
	{Name: EmbeddingProvider, Functions: vectors},
	{Name: EmbeddingModel, Functions: vectors},
	{Name: EmbeddingURL, Functions: vectors},
	{Name: EmbeddingSize, Functions: vectors},
	{Name: EmbeddingKey, Functions: embedding},
	{Name: Region, Required: true, Runtime: true},
	{Name: KeyID, Required: true, Runtime: true},
	{Name: Secret, Required: true, Runtime: true},
	{Name: SessionToken, Runtime: true},
	{Name: Memory, Runtime: true},
}
