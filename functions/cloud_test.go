package functions_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/uuid"

	"docent/shared/app"
	"docent/shared/blob"
	"docent/shared/blob/s3"
	"docent/shared/deployed"
	"docent/shared/embed"
	"docent/shared/embed/embedtest"
	"docent/shared/extract"
	"docent/shared/extract/readers/officetest"
	"docent/shared/logtest"
	"docent/shared/pending"
	"docent/shared/queue"
	"docent/shared/queue/sqs"
	"docent/shared/table"
	"docent/shared/table/dynamo"
	"docent/shared/team"
	"docent/testkit/lambdarun"
	"docent/testkit/moto"
)

// cloud is one installation of Docent: functions behind a gateway and behind queues, on a protocol server that they
// reach through a tap. The protocol server's transactions are not safe under concurrency, so everything happens one
// at a time.
type cloud struct {
	t         *testing.T
	tap       *tap
	config    app.Config // without the tap
	database  *dynamodb.Client
	store     *dynamo.Store
	objects   blob.Store
	questions *sqs.Queue
	documents *sqs.Queue
	syncs     *sqs.Queue
	rebuilds  *sqs.Queue
	files     *sqs.Queue        // the queue of extractions
	vectors   *sqs.Queue        // the queue of embeddings
	embedder  *embedtest.Server // of the embedding model
	env       map[string]string
	functions map[string]*lambdarun.Function
	gateway   *lambdarun.Gateway
	once      bool // do repeats nothing
	log       *logtest.Buffer
	team, key string
	admin     string // personal key of the team's admin
}

func newCloud(t *testing.T) *cloud {
	t.Helper()
	endpoint := moto.Start(t)
	ctx := t.Context()
	settings := moto.Config(endpoint)
	mark := strings.ToLower(rand.Text()[:10])
	c := &cloud{t: t, tap: newTap(t, endpoint), database: dynamodb.NewFromConfig(settings), log: &logtest.Buffer{},
		functions: map[string]*lambdarun.Function{}}
	c.config = app.Config{Service: "docent", TablePrefix: mark + "-", Bucket: "docent-" + mark, BaseURL: "https://docent.test/v1", AWSEndpoint: endpoint,
		Region: "us-east-1", Credentials: app.Credentials{KeyID: "test", Secret: "test"}, LogLevel: slog.LevelWarn}
	c.store = dynamo.New(c.database, dynamo.Options{Prefix: c.config.TablePrefix})
	if err := c.store.CreateTables(ctx); err != nil {
		t.Fatal(err)
	}
	objects := awss3.NewFromConfig(settings, func(o *awss3.Options) { o.UsePathStyle = true })
	if _, err := objects.CreateBucket(ctx, &awss3.CreateBucketInput{Bucket: &c.config.Bucket}); err != nil {
		t.Fatal(err)
	}
	c.objects = s3.New(objects, c.config.Bucket, "")
	messages := awssqs.NewFromConfig(settings)
	newQueue := func(name string) string {
		out, err := messages.CreateQueue(ctx, &awssqs.CreateQueueInput{QueueName: aws.String(mark + "-" + name),
			Attributes: map[string]string{"VisibilityTimeout": "600"}})
		if err != nil {
			t.Fatal(err)
		}
		return *out.QueueUrl
	}
	c.config.QuestionsQueue, c.config.DocumentsQueue = newQueue("questions"), newQueue("documents")
	c.config.SyncsQueue, c.config.RebuildsQueue, c.config.EmbeddingsQueue = newQueue("syncs"), newQueue("rebuilds"), newQueue("embeddings")
	c.embedder = embedtest.Serve(t, embedtest.New(embed.Model{Name: "words", Size: 64}))
	c.config.Embedding = app.Embedding{Provider: app.EmbeddingOfOpenAI, Model: "words", URL: c.embedder.OpenAI(), Size: 64}
	c.questions, c.documents = sqs.New(messages, c.config.QuestionsQueue), sqs.New(messages, c.config.DocumentsQueue)
	c.config.DeliveriesQueue, c.config.ExtractionsQueue = newQueue("deliveries"), newQueue("extractions")
	c.files = sqs.New(messages, c.config.ExtractionsQueue)
	c.syncs, c.rebuilds = sqs.New(messages, c.config.SyncsQueue), sqs.New(messages, c.config.RebuildsQueue)
	c.vectors = sqs.New(messages, c.config.EmbeddingsQueue)
	c.env = map[string]string{
		"DOCENT_TABLE_PREFIX": c.config.TablePrefix, "DOCENT_BUCKET": c.config.Bucket, "DOCENT_BASE_URL": c.config.BaseURL,
		"DOCENT_QUESTIONS_QUEUE_URL": c.config.QuestionsQueue, "DOCENT_DOCUMENTS_QUEUE_URL": c.config.DocumentsQueue,
		"DOCENT_DELIVERIES_QUEUE_URL": c.config.DeliveriesQueue, "DOCENT_EXTRACTIONS_QUEUE_URL": c.config.ExtractionsQueue,
		"DOCENT_SYNCS_QUEUE_URL": c.config.SyncsQueue, "DOCENT_REBUILDS_QUEUE_URL": c.config.RebuildsQueue,
		"DOCENT_EMBEDDINGS_QUEUE_URL": c.config.EmbeddingsQueue, "DOCENT_EMBEDDING_MODEL": "words", "DOCENT_EMBEDDING_SIZE": "64",
		"DOCENT_EMBEDDING_URL": c.config.Embedding.URL,
		"DOCENT_AWS_ENDPOINT":  c.tap.URL, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
	}
	key, err := kms.NewFromConfig(settings).CreateKey(ctx, &kms.CreateKeyInput{})
	if err != nil {
		t.Fatal(err)
	}
	c.env[deployed.SecretsKey] = *key.KeyMetadata.Arn
	c.gateway = &lambdarun.Gateway{Functions: map[string]lambdarun.Invoker{}}
	for _, f := range deployed.Functions {
		c.serve(f)
	}
	c.team, c.key, c.admin = c.newTeam("acme")
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the functions printed:\n%s", c.log)
		}
	})
	return c
}

// serve starts a function and routes its paths to it.
func (c *cloud) serve(f deployed.Function) {
	c.t.Helper()
	c.route(f, c.start(f.Name).Invoke)
}

// route makes the gateway call invoke for the paths of f.
func (c *cloud) route(f deployed.Function, invoke lambdarun.Invoker) {
	for _, root := range f.Roots {
		c.gateway.Functions[root] = invoke
	}
	if f.CatchAll {
		c.gateway.Functions[""] = invoke
	}
}

// start starts another instance of a function.
func (c *cloud) start(name string) *lambdarun.Function {
	c.t.Helper()
	f, err := lambdarun.Start(context.Background(), binary(c.t, name), lambdarun.Options{Name: name, Env: c.env, Log: c.log})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(f.Close)
	c.functions[name] = f
	return f
}

func (c *cloud) newTeam(name string) (id, key, personal string) {
	c.t.Helper()
	teams := &team.Service{Table: c.store, Now: time.Now, NewID: uuid.NewString}
	made, admin, err := teams.CreateTeam(c.t.Context(), name, "admin@"+name+".test")
	if err != nil {
		c.t.Fatal(err)
	}
	_, key, err = teams.CreateKey(c.t.Context(), made.ID, team.NewKey{Kind: team.KindTeam, Name: "team"})
	if err != nil {
		c.t.Fatal(err)
	}
	_, personal, err = teams.CreateKey(c.t.Context(), made.ID, team.NewKey{Kind: team.KindPersonal, Name: "admin", UserID: admin.ID})
	if err != nil {
		c.t.Fatal(err)
	}
	return made.ID, key, personal
}

// as returns c with another key.
func (c *cloud) as(key string) *cloud {
	other := *c
	other.key = key
	return &other
}

// reply is the reply that a client receives.
type reply struct {
	status int
	header http.Header
	body   string
}

// do sends a request through the gateway. As clients do, it repeats a request other than POST twice at most while the
// service is unavailable: on a busy machine the emulator may not answer in time.
func (c *cloud) do(method, path string, body any, header ...string) reply {
	c.t.Helper()
	for repeats := 2; ; repeats-- {
		r := c.through(c.gateway, method, path, body, header...)
		if r.status != 503 || method == "POST" || repeats == 0 || c.once {
			return r
		}
		c.t.Logf("%s %s is repeated after %s", method, path, r.body)
	}
}

// through sends a request through a gateway; header are names and values in turn.
func (c *cloud) through(gateway http.Handler, method, path string, body any, header ...string) reply {
	c.t.Helper()
	var text []byte
	switch b := body.(type) {
	case nil:
	case string:
		text = []byte(b)
	default:
		var err error
		if text, err = json.Marshal(b); err != nil {
			c.t.Fatal(err)
		}
	}
	r := httptest.NewRequest(method, "/v1"+path, bytes.NewReader(text))
	r.Header.Set("Authorization", "Bearer "+c.key)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i+1] != "" {
			r.Header.Set(header[i], header[i+1])
		}
	}
	w := httptest.NewRecorder()
	gateway.ServeHTTP(w, r)
	return reply{w.Code, w.Header(), w.Body.String()}
}

// want fails the test unless the reply has the status and contains the texts.
func (c *cloud) want(r reply, status int, texts ...string) reply {
	c.t.Helper()
	for _, text := range texts {
		if !strings.Contains(r.body, text) {
			c.t.Fatalf("reply %d %s, want %q in it", r.status, r.body, text)
		}
	}
	if r.status != status {
		c.t.Fatalf("reply %d %s, want %d", r.status, r.body, status)
	}
	return r
}

func (c *cloud) id(r reply) string {
	c.t.Helper()
	var body struct{ ID string }
	if err := json.Unmarshal([]byte(r.body), &body); err != nil || body.ID == "" {
		c.t.Fatalf("reply %d %s has no id: %v", r.status, r.body, err)
	}
	return body.ID
}

func (c *cloud) newCollection(name string) string {
	c.t.Helper()
	return c.id(c.want(c.create(name, ""), 201))
}

// create creates a collection, and only one for the same repeat if that is not empty.
func (c *cloud) create(name, repeat string) reply {
	c.t.Helper()
	return c.do("POST", "/collections", map[string]string{"name": name, "description": "About " + name}, "Idempotency-Key", repeat)
}

func (c *cloud) put(collection, page, text string) reply {
	c.t.Helper()
	return c.do("PUT", "/documents", map[string]string{"collectionId": collection, "uri": "https://wiki.test/" + page,
		"title": page, "body": text})
}

// putFile puts a Word file with a paragraph per line of text.
func (c *cloud) putFile(collection, page, text string) reply {
	c.t.Helper()
	var body strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(&body, "<w:p><w:r><w:t>%s</w:t></w:r></w:p>", html.EscapeString(line))
	}
	return c.do("PUT", "/documents", map[string]string{"collectionId": collection, "uri": "https://wiki.test/" + page, "title": page,
		"mediaType": extract.DOCX, "body": base64.StdEncoding.EncodeToString(officetest.Docx(c.t, body.String(), nil))})
}

// keepsOriginals checks how many original files are stored.
func (c *cloud) keepsOriginals(want int) {
	c.t.Helper()
	var names []string
	for b, err := range c.objects.List(c.t.Context(), "originals/") {
		if err != nil {
			c.t.Fatal(err)
		}
		names = append(names, b.Name)
	}
	if len(names) != want {
		c.t.Errorf("%d original files, want %d: %v", len(names), want, names)
	}
}

func (c *cloud) ask(id, question string) reply {
	c.t.Helper()
	return c.do("PUT", "/answers/"+id, map[string]string{"question": question})
}

// deliver sends one batch of each queue to its worker, or only to the worker named, and returns how many messages there
// were and how many failed.
func (c *cloud) deliver(only ...string) (received, failed int) {
	c.t.Helper()
	for _, d := range []struct {
		q     queue.Queue
		name  string
		limit int
	}{{c.files, "extracting", 1}, {c.documents, "indexing", 10}, {c.vectors, "embedding", 10}, {c.questions, "answering", 1}} {
		if len(only) > 0 && !slices.Contains(only, d.name) {
			continue
		}
		delivery, err := lambdarun.Deliver(c.t.Context(), d.q, c.functions[d.name].Invoke, d.limit)
		if err != nil {
			c.t.Fatal(err)
		}
		if delivery.Err != nil && !errors.Is(delivery.Err, lambdarun.ErrExited) {
			c.t.Fatalf("%s: %v", d.name, delivery.Err)
		}
		received += delivery.Received
		failed += delivery.Failed
	}
	return received, failed
}

// drain delivers until the queues are empty; no message may fail.
func (c *cloud) drain() {
	c.t.Helper()
	for {
		received, failed := c.deliver()
		if failed > 0 {
			c.t.Fatalf("%d messages failed", failed)
		}
		if received == 0 {
			return
		}
	}
}

// settle sweeps, some minutes later each time, and delivers until nothing is pending.
func (c *cloud) settle() {
	c.t.Helper()
	c.drain()
	for minutes := 2; c.pending() > 0; minutes *= 2 {
		if minutes > 32 { // less than a question may be pending
			c.t.Fatalf("%d pieces of work stay pending", c.pending())
		}
		later := c.config
		later.Now = func() time.Time { return time.Now().Add(time.Duration(minutes) * time.Minute) }
		c.endReads()
		c.sweep(later)
		c.drain()
	}
}

// endReads lets the time pass in which a killed function may still be reading a file.
func (c *cloud) endReads() {
	c.t.Helper()
	for _, partition := range pending.Partitions(table.Documents) {
		for item, err := range table.All(c.t.Context(), c.store, table.Query{Table: table.Documents, Partition: partition}) {
			if err == nil && item.Numbers["until"] > 0 {
				_, err = c.store.Add(c.t.Context(), table.Add{Key: item.Key, Numbers: map[string]int64{"until": 0}, If: table.Exists()})
			}
			if err != nil {
				c.t.Fatal(err)
			}
		}
	}
}

// sweep runs the sweeper of config in this process.
func (c *cloud) sweep(config app.Config) {
	c.t.Helper()
	if err := app.Sweeping(config)(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
}

// pending counts the pieces of unfinished work.
func (c *cloud) pending() (n int) {
	c.t.Helper()
	for _, kind := range []pending.Kind{pending.AnswerQuestion, pending.IndexDocument} {
		for _, partition := range pending.Partitions(kind.Table()) {
			q := table.Query{Table: kind.Table(), Partition: partition}
			for _, err := range table.All(c.t.Context(), c.store, q) {
				if err != nil {
					c.t.Fatal(err)
				}
				n++
			}
		}
	}
	return n
}

// items reads all stored items of a table, without the storage model.
func (c *cloud) items(name string) (texts []string) {
	c.t.Helper()
	pages := dynamodb.NewScanPaginator(c.database, &dynamodb.ScanInput{TableName: aws.String(c.config.TablePrefix + name)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(c.t.Context())
		if err != nil {
			c.t.Fatal(err)
		}
		for _, item := range page.Items {
			text, err := json.Marshal(item)
			if err != nil {
				c.t.Fatal(err)
			}
			texts = append(texts, string(text))
		}
	}
	return texts
}

// answer asks a new question and returns its final answer.
func (c *cloud) answer(question string) reply {
	c.t.Helper()
	id := uuid.NewString()
	c.want(c.ask(id, question), 204)
	c.drain()
	r := c.do("GET", "/answers/"+id, nil)
	if strings.Contains(r.body, `"state":"processing"`) { // a queue may have a message and return none
		c.settle()
		r = c.do("GET", "/answers/"+id, nil)
	}
	return c.want(r, 200, `"state":"complete"`)
}
