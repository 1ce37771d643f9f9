package app

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"regexp"
	"slices"
	"strings"

	"docent/shared/blob"
	"docent/shared/deployed"
	"docent/shared/queue"
	"docent/shared/table"
)

// reviewedStack describes the stack, with what each function may do. A test of infra compares it with the template.
const reviewedStack = "../../infra/testdata/stack.txt"

// granted is what the stack allows one function. Its stores refuse the rest, as AWS does.
type granted struct {
	function string
	may      []grant
}

// grant allows actions on the resources whose names match.
type grant struct {
	on      *regexp.Regexp
	actions []string
}

// The parts of a description that match several texts.
var (
	wholeActions = strings.NewReplacer("read and write items", "read write", "read items", "read")
	anyText      = strings.NewReplacer(`\*`, `.*`)
)

// grants reads what the stack allows each function. Resources are TableDocuments, DocumentsQueue, Segments/originals/* and SecretsKey.
func grants() (map[string]*granted, error) {
	text, err := os.ReadFile(reviewedStack)
	if err != nil {
		return nil, err
	}
	_, who, _ := strings.Cut(string(text), "\nWho may do what\n")
	all, function := map[string]*granted{}, ""
	for line := range strings.Lines(who) {
		rest, deeper := strings.CutPrefix(line, "    ${")
		if !deeper {
			function = strings.TrimSpace(line)
			continue
		}
		name, actions, _ := strings.Cut(strings.TrimSpace(rest), ": ")
		name = strings.Replace(name, "}", "", 1)
		g := all[function]
		if g == nil {
			g = &granted{function: function}
			all[function] = g
		}
		pattern := "^" + anyText.Replace(regexp.QuoteMeta(name)) + "$"
		g.may = append(g.may, grant{regexp.MustCompile(pattern), strings.Fields(wholeActions.Replace(actions))})
	}
	for _, f := range deployed.Functions {
		if all[f.Name] == nil || len(all[f.Name].may) < 3 {
			return nil, fmt.Errorf("%s grants the function %s next to nothing", reviewedStack, f.Name)
		}
	}
	return all, nil
}

func (g *granted) check(action, name string) error {
	for _, may := range g.may {
		if may.on.MatchString(name) && slices.Contains(may.actions, action) {
			return nil
		}
	}
	return fmt.Errorf("AccessDeniedException: the function %s may not %s %s: see functions in infra", g.function, action, name)
}

// engines returns the engines of the function. They refuse what the stack does not allow it, and have only the queues that it knows.
func (g *granted) engines(e engines) engines {
	e.table = grantedTable{e.table, g}
	if e.blobs != nil {
		e.blobs = grantedBlobs{e.blobs, g}
	}
	if open := e.openObject; open != nil {
		e.openObject = func(ctx context.Context, name string) (io.ReadCloser, int64, error) {
			if err := g.check("s3:GetObject", "Segments/"+name); err != nil {
				return nil, 0, err
			}
			return open(ctx, name)
		}
	}
	if receive := e.receive; receive != nil {
		e.receive = func(ctx context.Context, name string, from io.Reader) error {
			if err := g.check("s3:PutObject", "Segments/"+name); err != nil {
				return err
			}
			return receive(ctx, name, from)
		}
	}
	for _, q := range []struct {
		queue          *queue.Queue
		name, variable string
	}{
		{&e.questions, "QuestionsQueue", deployed.QuestionsQueue}, {&e.documents, "DocumentsQueue", deployed.DocumentsQueue},
		{&e.syncs, "SyncsQueue", deployed.SyncsQueue}, {&e.rebuilds, "RebuildsQueue", deployed.RebuildsQueue},
		{&e.embeddings, "EmbeddingsQueue", deployed.EmbeddingsQueue}, {&e.deliveries, "DeliveriesQueue", deployed.DeliveriesQueue},
		{&e.extractions, "ExtractionsQueue", deployed.ExtractionsQueue},
	} {
		told := slices.ContainsFunc(deployed.Environment, func(v deployed.Variable) bool { return v.Name == q.variable && v.ReadBy(g.function) })
		switch {
		case *q.queue == nil || !told:
			*q.queue = nil
		default:
			*q.queue = grantedQueue{*q.queue, g, q.name}
		}
	}
	return e
}

type grantedTable struct {
	table.Store
	*granted
}

func (g grantedTable) check(action, name string) error {
	return g.granted.check(action, "Table"+strings.ToUpper(name[:1])+name[1:])
}

func (g grantedTable) Get(ctx context.Context, k table.Key, opts ...table.ReadOption) (table.Item, error) {
	if err := g.check("read", k.Table); err != nil {
		return table.Item{}, err
	}
	return g.Store.Get(ctx, k, opts...)
}

func (g grantedTable) BatchGet(ctx context.Context, keys []table.Key, opts ...table.ReadOption) ([]table.Item, error) {
	for _, k := range keys {
		if err := g.check("read", k.Table); err != nil {
			return nil, err
		}
	}
	return g.Store.BatchGet(ctx, keys, opts...)
}

func (g grantedTable) Query(ctx context.Context, q table.Query) (table.Page, error) {
	if err := g.check("read", q.Table); err != nil {
		return table.Page{}, err
	}
	return g.Store.Query(ctx, q)
}

func (g grantedTable) Add(ctx context.Context, a table.Add) (table.Item, error) {
	if err := g.check("write", a.Key.Table); err != nil {
		return table.Item{}, err
	}
	return g.Store.Add(ctx, a)
}

func (g grantedTable) Write(ctx context.Context, ops ...table.Op) error {
	for _, op := range ops {
		action := "write"
		if _, only := op.(table.Check); only {
			action = "read"
		}
		if err := g.check(action, table.KeyOf(op).Table); err != nil {
			return err
		}
	}
	return g.Store.Write(ctx, ops...)
}

// grantedBlobs is the bucket. Whoever gets an object must be allowed to list it, because S3 tells others that a missing one is forbidden.
type grantedBlobs struct {
	blob.Store
	*granted
}

func (g grantedBlobs) get(name string) error {
	if err := g.check("s3:GetObject", "Segments/"+name); err != nil {
		return err
	}
	return g.check("s3:ListBucket", "Segments")
}

func (g grantedBlobs) Put(ctx context.Context, name string, data []byte) error {
	if err := g.check("s3:PutObject", "Segments/"+name); err != nil {
		return err
	}
	return g.Store.Put(ctx, name, data)
}

func (g grantedBlobs) Get(ctx context.Context, name string) ([]byte, error) {
	if err := g.get(name); err != nil {
		return nil, err
	}
	return g.Store.Get(ctx, name)
}

func (g grantedBlobs) GetRange(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if err := g.get(name); err != nil {
		return nil, err
	}
	return g.Store.GetRange(ctx, name, offset, length)
}

func (g grantedBlobs) List(ctx context.Context, prefix string) iter.Seq2[blob.Info, error] {
	return g.ListAfter(ctx, prefix, "")
}

func (g grantedBlobs) ListAfter(ctx context.Context, prefix, after string) iter.Seq2[blob.Info, error] {
	if err := g.check("s3:ListBucket", "Segments"); err != nil {
		return func(yield func(blob.Info, error) bool) { yield(blob.Info{}, err) }
	}
	return g.Store.ListAfter(ctx, prefix, after)
}

func (g grantedBlobs) Delete(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := g.check("s3:DeleteObject", "Segments/"+name); err != nil {
			return err
		}
	}
	return g.Store.Delete(ctx, names...)
}

// grantedQueue is a queue to send to. Functions never receive: Lambda hands them their messages.
type grantedQueue struct {
	queue.Queue
	*granted
	name string
}

func (g grantedQueue) Send(ctx context.Context, messages ...queue.Outgoing) error {
	if err := g.check("sqs:SendMessage", g.name); err != nil {
		return err
	}
	return g.Queue.Send(ctx, messages...)
}

// grantedVault is the key of secrets.
type grantedVault struct {
	Vault
	*granted
}

func (g grantedVault) Seal(ctx context.Context, secrets []byte, about string) ([]byte, error) {
	if err := g.check("kms:Encrypt", "SecretsKey"); err != nil {
		return nil, err
	}
	return g.Vault.Seal(ctx, secrets, about)
}

func (g grantedVault) Open(ctx context.Context, sealed []byte, about string) ([]byte, error) {
	if err := g.check("kms:Decrypt", "SecretsKey"); err != nil {
		return nil, err
	}
	return g.Vault.Open(ctx, sealed, about)
}
