package app

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"

	"docent/shared/app/parts/agents"
	"docent/shared/app/parts/identity"
	"docent/shared/app/parts/saml"
	"docent/shared/blob/s3"
	"docent/shared/clocktest"
	"docent/shared/embed"
	"docent/shared/embed/embedtest"
	"docent/shared/httpapi"
	"docent/shared/logtest"
	"docent/shared/queue"
	"docent/shared/queue/sqs"
	"docent/shared/source"
	"docent/shared/storedtest"
	"docent/shared/table"
	"docent/shared/table/dynamo"
	"docent/testkit/moto"
)

// installation is a whole Docent whose stored data comes from a fixture or becomes
// one.
type installation struct {
	*services
	t       *testing.T
	local   *Local // nil on AWS
	clock   *clocktest.Clock
	handler http.Handler
	queues  map[string]queue.Queue // by the names of storedQueues
	sweep   func(ctx context.Context) error
	stored  func() fs.FS // ends the installation and returns what it has stored
}

const storedURL = "https://docent.test/v1"

// storedQueues are the queues in the order in which their work is done.
var storedQueues = []string{"documents", "embeddings", "questions", "syncs", "rebuilds", "deliveries", "extractions"}

// storedAt opens a copy of what a fixture holds; without files it is a new installation.
func storedAt(t *testing.T, engine string, files fs.FS, now time.Time) *installation {
	t.Helper()
	if engine == storedtest.AWS {
		return storedOnAWS(t, files, now)
	}
	return storedInFolder(t, files, now)
}

func storedInFolder(t *testing.T, files fs.FS, now time.Time) *installation {
	t.Helper()
	folder := t.TempDir()
	if files != nil {
		if err := os.CopyFS(folder, files); err != nil {
			t.Fatal(err)
		}
	}
	return storedInPlace(t, folder, clocktest.New(now), nil)
}

// storedInPlace opens a data directory, and changes it. Without a vault, it is the directory's own.
func storedInPlace(t *testing.T, folder string, clock *clocktest.Clock, vault Vault) *installation {
	t.Helper()
	in := &installation{t: t, clock: clock}
	log := slog.New(slog.DiscardHandler)
	l, err := OpenLocal(t.Context(), folder, LocalOptions{Log: log, Now: in.clock.Now, NoSync: true,
		Parts: Parts{Vault: vault, Tools: agents.Tools, ParseSAML: saml.Parse, SignOn: identity.Providers(), Connect: storedConnections, Embedder: storedEmbedder()}})
	if err != nil {
		t.Fatal(err)
	}
	closeOnce := sync.OnceFunc(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(closeOnce)
	in.services, in.local, in.handler = l.services, l, l.Handler(storedURL)
	in.queues = map[string]queue.Queue{"documents": l.documentQueue, "questions": l.questionQueue, "syncs": l.syncQueue, "rebuilds": l.rebuildQueue, "embeddings": l.embedQueue, "deliveries": l.hookQueue, "extractions": l.extractQueue}
	in.sweep = func(ctx context.Context) error {
		_, err := l.sweeper.Sweep(ctx)
		_, clean := l.index.Clean(ctx)
		_, expired := l.store.Sweep(ctx)
		return errors.Join(err, clean, expired, l.daily.run(ctx))
	}
	in.stored = func() fs.FS {
		closeOnce()
		return os.DirFS(folder)
	}
	return in
}

// storedEmbedder returns the model of the vectors in a fixture.
func storedEmbedder() embed.Engine { return embedtest.New(embed.Model{Name: "words", Size: 64}) }

// vaultKey replaces the key in KMS. The output of KMS is stored as it is.
var vaultKey = bytes.Repeat([]byte{7}, 32)

func storedOnAWS(t *testing.T, files fs.FS, now time.Time) *installation {
	t.Helper()
	clock := clocktest.New(now)
	m := newMoto(t, clock.Now)
	if files != nil {
		m.cloud(t).load(files)
	}
	vault, err := source.NewSealer(vaultKey)
	if err != nil {
		t.Fatal(err)
	}
	return m.installation(t, clock, vault)
}

// installation opens what is stored at m.
func (m *motoHome) installation(t *testing.T, clock *clocktest.Clock, vault Vault) *installation {
	t.Helper()
	in := &installation{t: t, clock: clock, queues: m.queues, stored: m.cloud(t).save}
	c := m.Config
	c.Now = clock.Now
	logged := &logtest.Buffer{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the functions printed:\n%s", logged)
		}
	})
	f := joinOnAWS(c, Parts{Vault: vault, Tools: agents.Tools, ParseSAML: saml.Parse, SignOn: identity.Providers(), Connect: storedConnections, Embedder: storedEmbedder()}, newFunctionLog(logged, slog.LevelError))
	in.services = f.services
	in.handler = root(httpapi.New(f.surface(storedURL, 0, nil), httpapi.Areas()...))
	in.sweep = f.sweeps()
	return in
}

func (m *motoHome) cloud(t *testing.T) *storedCloud {
	return &storedCloud{t: t, database: m.database, prefix: m.TablePrefix, queues: m.queues, blobs: m.blobs}
}

// motoHome is a new installation on the protocol server.
type motoHome struct {
	Config
	database *dynamodb.Client
	blobs    *s3.Store
	queues   map[string]queue.Queue // by the names of storedQueues
}

func newMoto(t *testing.T, now func() time.Time) *motoHome {
	t.Helper()
	return newMotoAt(t, moto.OneAtATime(t, moto.Start(t)), now)
}

// newMotoAt is newMoto at an endpoint in front of the server.
func newMotoAt(t *testing.T, endpoint string, now func() time.Time) *motoHome {
	t.Helper()
	settings := moto.Config(endpoint)
	mark := "stored-" + strings.ToLower(rand.Text()[:10])
	m := &motoHome{Config: Config{Service: "docent", TablePrefix: mark + "-", Bucket: mark, BaseURL: storedURL, AWSEndpoint: *settings.BaseEndpoint,
		Region: settings.Region, Credentials: Credentials{KeyID: "test", Secret: "test"}, Now: now, patience: time.Minute}}
	m.database = dynamodb.NewFromConfig(settings)
	if err := dynamo.New(m.database, dynamo.Options{Prefix: m.TablePrefix}).CreateTables(t.Context()); err != nil {
		t.Fatal(err)
	}
	objects := awss3.NewFromConfig(settings, func(o *awss3.Options) { o.UsePathStyle = true })
	if _, err := objects.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: &m.Bucket}); err != nil {
		t.Fatal(err)
	}
	m.blobs = s3.New(objects, m.Bucket, "")
	messages := awssqs.NewFromConfig(settings)
	dead, err := messages.CreateQueue(t.Context(), &awssqs.CreateQueueInput{QueueName: aws.String(mark + "-dead")})
	if err != nil {
		t.Fatal(err)
	}
	ends := map[string]string{"RedrivePolicy": fmt.Sprintf(`{"deadLetterTargetArn":"arn:aws:sqs:%s:123456789012:%s","maxReceiveCount":"%d"}`, m.Region, path.Base(*dead.QueueUrl), queue.MaxReceives)}
	m.queues = map[string]queue.Queue{}
	for name, address := range map[string]*string{"questions": &m.QuestionsQueue, "documents": &m.DocumentsQueue, "syncs": &m.SyncsQueue, "rebuilds": &m.RebuildsQueue, "embeddings": &m.EmbeddingsQueue, "deliveries": &m.DeliveriesQueue, "extractions": &m.ExtractionsQueue} {
		out, err := messages.CreateQueue(t.Context(), &awssqs.CreateQueueInput{QueueName: aws.String(mark + "-" + name), Attributes: ends})
		if err != nil {
			t.Fatal(err)
		}
		*address = *out.QueueUrl
		m.queues[name] = sqs.New(messages, *address)
	}
	return m
}

// storedCloud moves the data of an installation on AWS from and to a fixture.
type storedCloud struct {
	t        *testing.T
	database *dynamodb.Client
	prefix   string
	queues   map[string]queue.Queue
	blobs    *s3.Store
}

// batchWrite is the maximum number of items of one BatchWriteItem.
const batchWrite = 25

func (c *storedCloud) load(files fs.FS) {
	c.t.Helper()
	for _, name := range table.Names {
		var requests []types.WriteRequest
		for _, line := range storedtest.Lines(c.t, files, "tables/"+name) {
			var attributes map[string]storedtest.Attribute
			if err := json.Unmarshal(line, &attributes); err != nil {
				c.t.Fatal(err)
			}
			requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: toDynamo(attributes)}})
		}
		for len(requests) > 0 {
			n := min(batchWrite, len(requests))
			_, err := c.database.BatchWriteItem(c.t.Context(), &dynamodb.BatchWriteItemInput{
				RequestItems: map[string][]types.WriteRequest{c.prefix + name: requests[:n]}})
			if err != nil {
				c.t.Fatal(err)
			}
			requests = requests[n:]
		}
	}
	for name, q := range c.queues {
		if _, err := fs.Stat(files, "queues/"+name+".jsonl"); errors.Is(err, fs.ErrNotExist) {
			continue // a queue that is younger than the fixture
		}
		for _, line := range storedtest.Lines(c.t, files, "queues/"+name) {
			if err := q.Send(c.t.Context(), queue.Outgoing{Body: line}); err != nil {
				c.t.Fatal(err)
			}
		}
	}
	err := fs.WalkDir(files, "blobs", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return c.blobs.Put(c.t.Context(), strings.TrimPrefix(name, "blobs/"), content)
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

// save reads all stored data. This removes the messages from the queues.
func (c *storedCloud) save() fs.FS {
	c.t.Helper()
	ctx, files := c.t.Context(), fstest.MapFS{}
	for _, name := range table.Names {
		var lines bytes.Buffer
		pages := dynamodb.NewScanPaginator(c.database, &dynamodb.ScanInput{TableName: aws.String(c.prefix + name)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				c.t.Fatal(err)
			}
			for _, item := range page.Items {
				line, err := json.Marshal(fromDynamo(c.t, item))
				if err != nil {
					c.t.Fatal(err)
				}
				lines.Write(append(line, '\n'))
			}
		}
		files["tables/"+name+".jsonl"] = &fstest.MapFile{Data: lines.Bytes()}
	}
	for name, q := range c.queues {
		bodies, err := waiting(ctx, q)
		if err != nil {
			c.t.Fatal(err)
		}
		files["queues/"+name+".jsonl"] = &fstest.MapFile{Data: []byte(strings.Join(append(bodies, ""), "\n"))}
	}
	for b, err := range c.blobs.List(ctx, "") {
		if err != nil {
			c.t.Fatal(err)
		}
		content, err := c.blobs.Get(ctx, b.Name)
		if err != nil {
			c.t.Fatal(err)
		}
		files["blobs/"+b.Name] = &fstest.MapFile{Data: content}
	}
	return files
}

func toDynamo(attributes map[string]storedtest.Attribute) map[string]types.AttributeValue {
	out := map[string]types.AttributeValue{}
	for name, a := range attributes {
		switch {
		case a.S != nil:
			out[name] = &types.AttributeValueMemberS{Value: *a.S}
		case a.N != nil:
			out[name] = &types.AttributeValueMemberN{Value: *a.N}
		default:
			out[name] = &types.AttributeValueMemberB{Value: a.B}
		}
	}
	return out
}

func fromDynamo(t *testing.T, item map[string]types.AttributeValue) map[string]storedtest.Attribute {
	t.Helper()
	out := map[string]storedtest.Attribute{}
	for name, value := range item {
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			out[name] = storedtest.Attribute{S: &v.Value}
		case *types.AttributeValueMemberN:
			out[name] = storedtest.Attribute{N: &v.Value}
		case *types.AttributeValueMemberB:
			out[name] = storedtest.Attribute{B: v.Value}
		default:
			t.Fatalf("attribute %s is a %T", name, value)
		}
	}
	return out
}

// work does all work that is waiting or pending and due, as the workers would.
func (in *installation) work() {
	in.t.Helper()
	ctx := in.t.Context()
	if err := in.sweep(ctx); err != nil {
		in.t.Fatal(err)
	}
	handlers := map[string]queue.Handler{"documents": in.indexing.Batch, "questions": in.answering.Batch, "syncs": in.turn, "rebuilds": in.rebuilder(0, nil).Batch, "embeddings": in.embeds(0, nil), "deliveries": in.delivering.Batch, "extractions": in.extracting.Batch}
	for idle := 0; idle < len(storedQueues); {
		for _, name := range storedQueues {
			done, err := drainOnce(ctx, in.queues[name], handlers[name], queue.MaxBatch)
			if err != nil {
				in.t.Fatal(err)
			}
			if idle++; done > 0 {
				idle = 0
			}
		}
	}
}

// storedReply is a reply as a client reads it.
type storedReply struct {
	status int
	link   string
	body   []byte
}

func (r storedReply) value(t *testing.T) any {
	t.Helper()
	if len(r.body) == 0 {
		return nil
	}
	var value any
	if err := json.Unmarshal(r.body, &value); err != nil {
		t.Fatalf("%d %q: %v", r.status, r.body, err)
	}
	return value
}

// id returns the id of the resource that a reply describes.
func (r storedReply) id(t *testing.T) string {
	t.Helper()
	object, _ := r.value(t).(map[string]any)
	id, _ := object["id"].(string)
	if id == "" {
		t.Fatalf("no id in %s", r.body)
	}
	return id
}

// do makes a request with a key; an empty one sends none.
func (in *installation) do(key, method, path string, body []byte, header map[string]string) storedReply {
	return in.doAt(in.handler, key, method, path, body, header)
}

func (in *installation) doAt(h http.Handler, key, method, path string, body []byte, header map[string]string) storedReply {
	r := httptest.NewRequestWithContext(in.t.Context(), method, "/v1"+path, bytes.NewReader(body))
	if len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return storedReply{w.Code, w.Header().Get("Link"), w.Body.Bytes()}
}

// must is do with a body to encode, for a reply of the given status.
func (in *installation) must(status int, key, method, path string, body any, header ...string) storedReply {
	in.t.Helper()
	return in.mustAt(in.handler, status, key, method, path, body, header...)
}

func (in *installation) mustAt(h http.Handler, status int, key, method, path string, body any, header ...string) storedReply {
	in.t.Helper()
	var encoded []byte
	switch b := body.(type) {
	case nil:
	case []byte:
		encoded = b
	default:
		var err error
		if encoded, err = json.Marshal(b); err != nil {
			in.t.Fatal(err)
		}
	}
	given := map[string]string{}
	for i := 0; i < len(header); i += 2 {
		given[header[i]] = header[i+1]
	}
	r := in.doAt(h, key, method, path, encoded, given)
	if r.status != status {
		in.t.Fatalf("%s %s: %d, want %d: %s", method, path, r.status, status, r.body)
	}
	return r
}
