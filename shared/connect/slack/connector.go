package slack

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"hash/fnv"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"docent/shared/access"
	"docent/shared/connect/rest"
	"docent/shared/source"
)

// Bounds of a sync.
const (
	perPage    = 200                // messages that are asked for; Slack may return fewer
	window     = 3 * 24 * time.Hour // of latest messages that every sync reads again
	maxReaders = 200                // names in a rule
)

// accessUnknown is the code of the notice that some members of a private channel cannot
// be named.
const accessUnknown = "access-unknown"

// Connector reads channels. It is safe for concurrent use.
type Connector struct {
	HTTP  *http.Client // reaches no private address
	Now   func() time.Time
	Pause func(ctx context.Context, d time.Duration) error // before a retry
	Base  string                                           // URL of the API, with a slash at the end
	Files string                                           // URL below which files are, with a slash at the end

	mu    sync.Mutex
	users map[[sha256.Size]byte]directory // by the hash of the token
}

// directory has the users of a workspace, by id.
type directory struct {
	names, emails map[string]string
	nobody        map[string]bool // deactivated ones and bots, who may be listed as members of a channel and read nothing
	read          time.Time
}

// directoryLife is how long the users of a workspace are not asked for again.
const directoryLife = 10 * time.Minute

// Retries marks the connector as a source.Retrier.
func (c *Connector) Retries() {}

// Parts returns one part per chosen channel. If none is chosen, Slack lists the channels.
func (c *Connector) Parts(s source.Settings) []string {
	if chosen := s.List(channels); len(chosen) > 0 {
		return chosen
	}
	return []string{source.PartList}
}

// PartContains reports whether uri is a message of the channel, or a file of one.
func (c *Connector) PartContains(_ source.Settings, part, uri string) bool {
	if part == source.PartList {
		return strings.HasPrefix(uri, archives)
	}
	return strings.HasPrefix(uri, messageURI(part, ""))
}

// IsDeleted returns false: deletions are found by exact full scans alone, of channels whose whole history Slack shows.
func (c *Connector) IsDeleted(context.Context, source.Access, string, string) (bool, error) {
	return false, nil
}

// checkpoint is the checkpoint of a channel.
type checkpoint struct {
	Since   string   `json:"since,omitempty"`   // changes after this time are read; empty: all
	Newest  string   `json:"newest,omitempty"`  // the Since of the next sync
	Cursor  string   `json:"cursor,omitempty"`  // of the next page of the history
	Threads []thread `json:"threads,omitempty"` // to read before that page
	Begun   bool     `json:"begun,omitempty"`   // a page of the history was read
	Retried bool     `json:"retried,omitempty"` // Retry was set by the running reading
	Retry   []string `json:"retry,omitempty"`   // uris of files that failed before and are still to be tried again
	Limited bool     `json:"limited,omitempty"` // Slack hides a part of the history
	Name    string   `json:"name,omitempty"`
	Private bool     `json:"private"`           // present, so that it replaces what Slack says now
	Readers uint64   `json:"readers,omitempty"` // hash of the members of a private channel
}

// again returns the checkpoint p for reading the list that it is in from the start: the replies of a thread, or the history.
func (p checkpoint) again() checkpoint {
	if len(p.Threads) > 0 {
		p.Threads = slices.Clone(p.Threads)
		p.Threads[0].Cursor = ""
		return p
	}
	p.Cursor, p.Begun, p.Newest = "", false, ""
	return p
}

// thread is a thread whose replies are to be read.
type thread struct {
	TS     string `json:"ts"`
	Cursor string `json:"cursor,omitempty"`
}

// reading reads one channel.
type reading struct {
	*Connector
	api     *rest.API
	token   string
	channel string
	chosen  bool // by the settings; otherwise it was listed
	before  source.Access
	known   directory       // names is nil until it is read
	files   map[string]File // by id, of those that were asked for
	rule    *access.Names   // of a private channel
	notice  *source.SyncError
}

func (c *Connector) open(a source.Access, channel string) *reading {
	return &reading{Connector: c, token: a.Secrets[botToken], channel: channel, before: a, files: map[string]File{}, chosen: len(a.Settings.List(channels)) > 0, api: &rest.API{Provider: "Slack", Base: c.Base, HTTP: c.HTTP, Now: c.Now, Pause: c.Pause,
		Header: http.Header{"Authorization": {"Bearer " + a.Secrets[botToken]}}}}
}

// Read yields the pages of a channel. Each page is one request, so that a limit of one
// request a minute interrupts a sync but never repeats it.
func (c *Connector) Read(ctx context.Context, a source.Access, part string, at []byte) iter.Seq2[source.SyncPage, error] {
	return source.Pages(func(page func(source.SyncPage) bool) error {
		r := c.open(a, part)
		if part == source.PartList {
			return r.list(ctx, at, page)
		}
		about, err := r.join(ctx)
		if err != nil && !r.chosen {
			return r.pass(about, err, at, page)
		}
		if err != nil && about.isClosed() {
			return fmt.Errorf("%w: %w", source.ErrPartGone, err) // its members are not known any more
		}
		if err != nil {
			return r.goneOr(err)
		}
		p := checkpoint{Name: about.Name, Private: !about.isOpen()}
		if err := source.DecodeCheckpoint(at, &p); err != nil {
			return err
		}
		if p.Private && about.isOpen() {
			return source.ErrFullScanNeeded // what was read has a rule
		}
		if !about.isOpen() {
			before := p.Readers
			changed, err := r.readReaders(ctx, &p)
			if err != nil {
				return r.goneOr(err)
			}
			if changed && (at != nil || a.Before != nil) { // what is stored has another rule, or none
				q := p
				q.Readers = before // so that an interruption repeats it, also of a version that does not know SyncPage.Readers
				if !page(source.SyncPage{Readers: r.rule, Checkpoint: source.EncodeCheckpoint(q), Notice: r.notice}) {
					return source.ErrStopped
				}
			}
		}
		return r.goneOr(r.read(ctx, p, page))
	})
}

// read yields the pages from p on: of the files that failed before, and of the history, newest first, each followed by the
// threads on it.
func (r *reading) read(ctx context.Context, p checkpoint, yield func(source.SyncPage) bool) error {
	if p.Since != "" && !p.Begun && !p.Retried { // a full scan reads them anyway
		p.Retried, p.Retry = true, slices.Clone(r.before.Failed)
	}
	for resumed := true; ; resumed = false {
		var messages []Message
		var err error
		page := source.SyncPage{Notice: r.notice}
		again := "" // the uri of a file
		switch {
		case len(p.Retry) > 0:
			again, p.Retry = p.Retry[0], p.Retry[1:]
			var leftOut bool
			if leftOut, err = r.before.Try(ctx, again, func(ctx context.Context) error {
				messages, err = r.messageOf(ctx, again)
				return err
			}); leftOut {
				page.Failed = append(page.Failed, source.FailedAgain(again, "Slack does not return its message"))
			}
		case len(p.Threads) > 0:
			messages, err = r.replies(ctx, &p)
		default:
			messages, err = r.history(ctx, &p)
		}
		if resumed && isCode(err, "invalid_cursor") { // it has expired
			p = p.again()
			continue
		}
		if err != nil {
			return err
		}
		if err := r.completeFiles(ctx, messages, &page); err != nil {
			return err
		}
		for _, m := range messages {
			page.Removed = append(page.Removed, m.deleted(r.channel)...)
		}
		if page.Items, err = r.items(ctx, p, messages); err != nil {
			return err
		}
		if again != "" && len(page.Failed) == 0 && !slices.ContainsFunc(page.Items, func(i source.Item) bool { return i.URI == again }) && !slices.Contains(page.Removed, again) {
			page.Unread = append(page.Unread, again) // the next full scan removes it
		}
		if page.Last = len(p.Threads) == 0 && p.Cursor == "" && p.Begun; page.Last {
			page.Exact = p.Since == "" && !p.Limited
			p = checkpoint{Since: cmp.Or(p.Newest, p.Since, "0"), Name: p.Name, Private: p.Private, Readers: p.Readers}
		}
		page.Checkpoint = source.EncodeCheckpoint(p)
		if !yield(page) {
			return source.ErrStopped
		}
		if page.Last {
			return nil
		}
	}
}

// history reads a page of the channel's messages and notes their threads in p.
func (r *reading) history(ctx context.Context, p *checkpoint) ([]Message, error) {
	q := url.Values{"channel": {r.channel}, "limit": {strconv.Itoa(perPage)}}
	since, changes := messageTime(p.Since)
	if changes {
		q.Set("oldest", fmt.Sprintf("%d.000000", since.Add(-window).Unix()))
	}
	if p.Cursor != "" {
		q.Set("cursor", p.Cursor)
	}
	reply, err := call[historyReply](ctx, r, "conversations.history?"+q.Encode())
	if err == nil {
		err = reply.check(p.Cursor)
	}
	if err != nil {
		return nil, err
	}
	for _, m := range reply.Messages {
		latest := cmp.Or(m.LatestReply, m.TS) // times have the same length
		if m.ReplyCount > 0 && (!changes || latest > p.Since) {
			p.Threads = append(p.Threads, thread{TS: m.TS})
		}
		if !p.Begun { // replies to what is on the first page may be older than what later pages have
			p.Newest = max(p.Newest, m.TS, latest)
		}
	}
	p.Cursor, p.Begun, p.Limited = reply.Metadata.Cursor, true, p.Limited || reply.Limited
	return reply.Messages, nil
}

// replies reads a page of the first thread of p.
func (r *reading) replies(ctx context.Context, p *checkpoint) ([]Message, error) {
	first := p.Threads[0]
	q := url.Values{"channel": {r.channel}, "ts": {first.TS}, "limit": {strconv.Itoa(perPage)}}
	if p.Since > first.TS {
		q.Set("oldest", p.Since)
	}
	if first.Cursor != "" {
		q.Set("cursor", first.Cursor)
	}
	reply, err := call[historyReply](ctx, r, "conversations.replies?"+q.Encode())
	if err == nil {
		err = reply.check(first.Cursor)
	}
	if err != nil && !isCode(err, "thread_not_found") { // deleted in the meantime
		return nil, err
	}
	p.Threads = slices.Clone(p.Threads)
	if p.Threads[0].Cursor = reply.Metadata.Cursor; reply.Metadata.Cursor == "" {
		p.Threads = p.Threads[1:]
	}
	return reply.Messages, nil
}

// items returns messages and their files as items, with the names of users.
func (r *reading) items(ctx context.Context, p checkpoint, messages []Message) ([]source.Item, error) {
	if len(messages) > 0 {
		if err := r.readUsers(ctx); err != nil {
			return nil, err
		}
	}
	items := make([]source.Item, 0, len(messages))
	for _, m := range messages {
		m = m.named(r.known.names)
		if i, ok := m.Item(r.channel, p.Name); ok {
			items = append(items, i)
		}
		items = append(items, r.fileItems(m, p.Name)...)
	}
	if p.Private {
		for i := range items {
			items[i].Access = r.rule
		}
	}
	return items, nil
}

// readReaders sets the rule of a private channel: its members, by their email addresses. It reports whether they have changed since the
// checkpoint p, which then has the new ones.
func (r *reading) readReaders(ctx context.Context, p *checkpoint) (changed bool, err error) {
	if err := r.readUsers(ctx); err != nil {
		return false, err
	}
	rule, unknown := &access.Names{Users: []string{}, Groups: []string{}}, 0
	for cursor := ""; ; {
		reply, err := call[membersReply](ctx, r, "conversations.members?"+url.Values{"channel": {r.channel}, "limit": {"1000"}, "cursor": {cursor}}.Encode())
		if err != nil {
			return false, err
		}
		for _, id := range reply.Members {
			if r.known.nobody[id] {
				continue
			}
			if email := r.known.emails[id]; email != "" {
				rule.Users = append(rule.Users, email)
			} else {
				unknown++
			}
		}
		if err := reply.advances(cursor); err != nil {
			return false, err
		}
		if cursor = reply.Metadata.Cursor; cursor == "" {
			break
		}
	}
	slices.Sort(rule.Users)
	rule.Users = slices.Compact(rule.Users)
	if more := len(rule.Users) - maxReaders; more > 0 {
		rule.Users, unknown = rule.Users[:maxReaders], unknown+more
	}
	if unknown > 0 {
		r.notice = &source.SyncError{Code: accessUnknown, Detail: fmt.Sprintf("%d members of the private channel %s cannot be named, so they do not read it here. "+
			"The app needs the scope users:read.email, and a rule has at most %d names.", unknown, p.Name, maxReaders)}
	}
	sum := fnv.New64a()
	for _, email := range rule.Users {
		_, _ = sum.Write([]byte(email + "\n"))
	}
	changed = !p.Private || sum.Sum64() != p.Readers
	r.rule, p.Private, p.Readers = rule, true, sum.Sum64()
	return changed, nil
}
