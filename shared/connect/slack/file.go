package slack

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"docent/shared/connect/rest"
	"docent/shared/filter"
	"docent/shared/source"
)

// File is a file of a message.
type File struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	MediaType string `json:"mimetype"`
	Bytes     int64  `json:"size"`
	Mode      string `json:"mode"`
	Download  string `json:"url_private_download"`
	Access    string `json:"file_access"`
}

const hosted = "hosted" // the mode of a file that was uploaded; that of a deleted one is tombstone

// askFirst is the access of a file of which a message has no more than the id, as of files of other workspaces.
const askFirst = "check_file_info"

type fileReply struct {
	outcome
	File File `json:"file"`
}

// completeFiles asks Slack for the files of messages that come with no more than an id. What it does not get is noted in page. Its error
// may be about one file; then it has tried the others.
func (r *reading) completeFiles(ctx context.Context, messages []Message, page *source.SyncPage) error {
	var first error
	for _, m := range messages {
		for n, f := range m.Files {
			if f.Access != askFirst || f.ID == "" {
				continue
			}
			uri := fileURI(r.channel, m.TS, f.ID)
			full, why, err := r.fileInfo(ctx, uri, f)
			switch {
			case source.IsOfOne(err):
				first = cmp.Or(first, err)
			case err != nil:
				return err
			case why == notReturned:
				page.Failed = append(page.Failed, source.FailedAgain(uri, why))
			case why != "":
				page.Skipped = append(page.Skipped, source.SkippedItem{URI: uri, Why: why})
			}
			m.Files[n] = full
		}
	}
	return first
}

const notReturned = "Slack does not return the file"

// fileInfo returns all that Slack says of f, which is at uri, or f and the reason why it says nothing.
func (r *reading) fileInfo(ctx context.Context, uri string, f File) (_ File, why string, err error) {
	if known, ok := r.files[f.ID]; ok { // the first message of a thread is on each page of it
		return known, "", nil
	}
	var reply fileReply
	failed, err := r.before.Try(ctx, uri, func(ctx context.Context) (err error) {
		reply, err = call[fileReply](ctx, r, "files.info?file="+url.QueryEscape(f.ID))
		switch {
		case isCode(err, "file_deleted"):
			reply.File, err = File{ID: f.ID, Mode: tombstone}, nil
		case isCode(err, "file_not_found"):
			why, err = "Slack does not show it to the app", nil
		case isCode(err, "missing_scope"):
			why, err = "the app lacks the scope files:read", nil
		case err == nil && reply.File.ID != f.ID:
			err = incomplete("another file than the one that was asked for")
		}
		return err
	})
	switch {
	case err != nil || why != "":
		return f, why, err
	case failed:
		return f, notReturned, nil
	}
	r.files[f.ID] = reply.File
	return reply.File, "", nil
}

// fileItems returns the files of m that are read, as items of a channel id.
func (r *reading) fileItems(m Message, project string) (items []source.Item) {
	at, ok := messageTime(m.TS)
	if !ok {
		return nil
	}
	for _, f := range m.Files {
		mediaType, read := source.FileType(f.Name, f.MediaType)
		if !read || f.Mode != hosted || f.ID == "" {
			continue
		}
		items = append(items, source.Item{URI: fileURI(r.channel, m.TS, f.ID), Title: source.ClipTitle(f.Name + " (#" + project + ")"), SourceType: "message",
			Author: m.author(), Project: project, CreatedAt: at, UpdatedAt: at, Metadata: filter.Metadata{"type": filter.Text("attachment")},
			File: &source.File{MediaType: mediaType, Bytes: f.Bytes, Read: func(ctx context.Context) ([]byte, error) { return r.download(ctx, f.Download) }}})
	}
	return items
}

// messageOf returns the message with the file of uri, or none.
func (r *reading) messageOf(ctx context.Context, uri string) ([]Message, error) {
	at, _, found := strings.Cut(strings.TrimPrefix(uri, messageURI(r.channel, "")), fileQuery)
	if digits := len(at) - len("000000"); found && digits > 0 {
		at = at[:digits] + "." + at[digits:]
	}
	if _, ok := messageTime(at); !ok {
		return nil, nil // not a uri of this channel
	}
	// Of a reply, Slack returns that alone.
	reply, err := call[historyReply](ctx, r, "conversations.replies?"+url.Values{"channel": {r.channel}, "ts": {at}, "oldest": {at}, "latest": {at}, "inclusive": {"true"},
		"limit": {strconv.Itoa(perPage)}}.Encode())
	if isCode(err, "thread_not_found") || isCode(err, "message_not_found") {
		return nil, nil
	}
	return slices.DeleteFunc(reply.Messages, func(m Message) bool { return m.TS != at }), err
}

// download returns the file at link, which must be one of Slack's own: the token is sent to it.
func (r *reading) download(ctx context.Context, link string) ([]byte, error) {
	path, own := strings.CutPrefix(link, r.Files)
	if !own || strings.Contains(path, "..") {
		return nil, &source.FileError{Why: "Slack sent an invalid address of it"}
	}
	api := &rest.API{Provider: "Slack", Base: r.Files, HTTP: r.HTTP, Now: r.Now, Pause: r.Pause, Header: http.Header{"Authorization": {"Bearer " + r.token}},
		Refusal: func(e *rest.StatusError) *source.SyncError {
			if e.Status != http.StatusUnauthorized {
				return nil
			}
			return &source.SyncError{Code: source.Unauthorized, Detail: "The bot token may not download this."} // the API accepts it
		}}
	return api.Download(ctx, path)
}

// deleted returns the uri of m if it was deleted, and those of its files that were.
func (m Message) deleted(channel string) (uris []string) {
	if m.Subtype == tombstone {
		uris = append(uris, messageURI(channel, m.TS))
	}
	for _, f := range m.Files {
		if f.Mode == tombstone && f.ID != "" {
			uris = append(uris, fileURI(channel, m.TS, f.ID))
		}
	}
	return uris
}

// fileURI returns the uri of a file: the permalink of its message, which shows the file. A fragment with the page of a PDF
// can follow.
func fileURI(channel, ts, file string) string {
	return messageURI(channel, ts) + fileQuery + file
}

const fileQuery = "?file="
