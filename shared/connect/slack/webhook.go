package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"docent/shared/source"
)

// maxAge bounds the difference between a request's timestamp and now.
const maxAge = 5 * time.Minute

// verify reports whether Slack signed the request with the app's signing secret.
func verify(d source.Delivery, secrets source.Secrets, now time.Time) bool {
	timestamp := d.Header(timestampHeader)
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	digest, ok := strings.CutPrefix(d.Header(signatureHeader), "v0=")
	return source.ValidSignature(secrets[signingSecret], digest, []byte("v0:"+timestamp+":"), d.Body) &&
		ok && err == nil && now.Sub(time.Unix(seconds, 0)).Abs() <= maxAge
}

// readEvent returns the change of a message, or the reply to Slack's check of the URL.
func readEvent(ctx context.Context, d source.Delivery) (source.Event, error) {
	var e event
	if err := source.DecodeDelivery(ctx, d.Body, &e); err != nil {
		return source.Event{}, err
	}
	switch {
	case e.Type == "url_verification":
		reply, err := json.Marshal(map[string]string{"challenge": e.Challenge})
		return source.Event{Reply: reply}, err
	case e.Type != "event_callback" || e.Event.Type != "message":
		return source.Event{}, nil
	}
	out := e.Event.change()
	out.ID, out.Concerns, out.Part, out.Stores = e.EventID, e.Event.concerns, e.Event.Channel, isPublic
	return out, nil
}

// isPublic reports whether a channel with a checkpoint was public when it was read last. An event says what it was when the event
// happened, and may be late: without a sync that has read the channel nobody knows.
func isPublic(at []byte) bool {
	var p checkpoint
	return at != nil && source.DecodeCheckpoint(at, &p) == nil && !p.Private
}

type event struct {
	Type      string     `json:"type"`
	Challenge string     `json:"challenge"`
	EventID   string     `json:"event_id"`
	Event     innerEvent `json:"event"`
}

type innerEvent struct {
	Message
	Type      string   `json:"type"`
	Channel   string   `json:"channel"`
	Kind      string   `json:"channel_type"`
	EventTS   string   `json:"event_ts"`
	DeletedTS string   `json:"deleted_ts"`
	Previous  Message  `json:"previous_message"` // of message_deleted, and of message_changed
	Changed   *Message `json:"message"`          // of message_changed
}

// Message is a message in events and in exports.
type Message struct {
	Subtype  string `json:"subtype"`
	User     string `json:"user"`
	Username string `json:"username"`
	Text     string `json:"text"`
	TS       string `json:"ts"`
	Files    []File `json:"files"`
	BotID    string `json:"bot_id"` // of the app that posted it
	// What apps post besides the text, or without one.
	Blocks      json.RawMessage `json:"blocks"`
	Attachments json.RawMessage `json:"attachments"`
	// Of a thread, in the history of its channel.
	ReplyCount  int    `json:"reply_count"`
	LatestReply string `json:"latest_reply"`
	Edited      *struct {
		TS string `json:"ts"`
	} `json:"edited"`
}

// silent matches the subtypes of messages without content, such as joins.
var silent = regexp.MustCompile(`^(channel_|group_|pinned_|bot_add|bot_remove|reminder_|tombstone$)`)

// tombstone is the subtype of a message that was deleted, but still has replies.
const tombstone = "tombstone"

// concerns reports whether a source with these settings has the channel. Without chosen
// channels it has all public ones.
func (e innerEvent) concerns(s source.Settings) bool {
	chosen := s.List(channels)
	return slices.Contains(chosen, e.Channel) || len(chosen) == 0 && e.isPublic()
}

func (e innerEvent) isPublic() bool { return e.Kind == "" || e.Kind == "channel" }

func (e innerEvent) change() source.Event {
	switch {
	case !e.isPublic(): // a sync reads it, with who may read it
		return source.Event{Sync: e.Kind == "group"}
	case e.Channel == "" || silent.MatchString(e.Subtype):
		return source.Event{}
	case e.Subtype == "message_deleted":
		return e.deletion(e.DeletedTS)
	case e.Subtype == "message_changed" && e.Changed != nil && e.Changed.Subtype == tombstone:
		return e.deletion(e.Changed.TS)
	case e.Subtype == "message_changed" && e.Changed != nil:
		change := e.Changed.change(e.Channel)
		if at, ok := messageTime(e.EventTS); ok {
			change.Removed, change.At = e.Changed.deleted(e.Channel), at
		}
		return change
	default:
		return e.Message.change(e.Channel)
	}
}

// deletion returns the removal of the message at a time, with its files.
func (e innerEvent) deletion(ts string) source.Event {
	at, ok := messageTime(e.EventTS)
	if !ok {
		return source.Event{}
	}
	removed := []string{messageURI(e.Channel, ts)}
	for _, f := range e.Previous.Files {
		removed = append(removed, fileURI(e.Channel, ts, f.ID))
	}
	return source.Event{Removed: removed, At: at}
}

func (m Message) change(channel string) source.Event {
	item, ok := m.Item(channel, channel)
	if !ok {
		return source.Event{}
	}
	return source.Event{Item: &item}
}

// Item returns m as an item of a channel id, or false if it has no content or time.
func (m Message) Item(channel, project string) (source.Item, bool) {
	at, ok := messageTime(m.TS)
	text := strings.TrimSpace(markdown(m.text()))
	if !ok || text == "" || silent.MatchString(m.Subtype) {
		return source.Item{}, false
	}
	changed := at
	if m.Edited != nil {
		if t, ok := messageTime(m.Edited.TS); ok {
			changed = t
		}
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(text, fence+"\n"), "\n")
	return source.Item{URI: messageURI(channel, m.TS), Title: source.ClipTitle(first), Body: text, SourceType: "message",
		Author: m.author(), Project: project, CreatedAt: at, UpdatedAt: changed}, true
}

func (m Message) author() string { return cmp.Or(m.User, m.Username) }

// archives is where the permalinks of messages are.
const archives = "https://slack.com/archives/"

// messageURI returns the uri of a message, in the form of its permalink.
func messageURI(channel, ts string) string {
	return archives + channel + "/p" + strings.ReplaceAll(ts, ".", "")
}

var timestampForm = regexp.MustCompile(`^(\d{9,11})\.(\d{6})$`)

// messageTime parses a time such as 1401383885.000061.
func messageTime(ts string) (time.Time, bool) {
	m := timestampForm.FindStringSubmatch(ts)
	if m == nil {
		return time.Time{}, false
	}
	seconds, _ := strconv.ParseInt(m[1], 10, 64)
	micros, _ := strconv.ParseInt(m[2], 10, 64)
	return time.Unix(seconds, micros*1000).UTC(), true
}

var markForm = regexp.MustCompile(`<([^<>|]+)(?:\|([^<>]*))?>`)

// fence is before and after a block of code.
const fence = "```"

// unescape has the characters that Slack escapes.
var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// markdown converts Slack's blocks of code, links, mentions and escapes to Markdown. Slack's fences may be anywhere on a line, those of
// Markdown have lines of their own.
func markdown(text string) string {
	var b strings.Builder
	for {
		before, rest, opened := strings.Cut(text, fence)
		code, after, closed := strings.Cut(rest, fence)
		if !opened || !closed {
			b.WriteString(markForm.ReplaceAllStringFunc(text, markOf))
			return unescape.Replace(b.String())
		}
		b.WriteString(markForm.ReplaceAllStringFunc(before, markOf))
		if before != "" && !strings.HasSuffix(before, "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(fence + "\n" + strings.Trim(markForm.ReplaceAllStringFunc(code, shownOf), "\n") + "\n" + fence + "\n")
		text = strings.TrimPrefix(after, "\n")
	}
}

// markOf returns a link or a mention as Markdown.
func markOf(mark string) string {
	m := markForm.FindStringSubmatch(mark)
	target, label := m[1], m[2]
	switch {
	case strings.HasPrefix(target, "!date^"):
		return label
	case strings.HasPrefix(target, "!"): // such as <!here> and <!subteam^S1|@design>
		return "@" + strings.TrimLeft(cmp.Or(label, strings.TrimPrefix(target[1:], "subteam^")), "@")
	case strings.HasPrefix(target, "@"), strings.HasPrefix(target, "#"):
		if label != "" {
			return target[:1] + strings.TrimLeft(label, "@#")
		}
		return target
	case label != "":
		return "[" + label + "](" + target + ")"
	default:
		return target
	}
}

// shownOf returns a link or a mention in code, where Markdown has none. Slack makes a link of each name of a host.
func shownOf(mark string) string {
	if m := markForm.FindStringSubmatch(mark); m[2] != "" && !strings.ContainsAny(m[1][:1], "@#!") {
		return m[2]
	}
	return markOf(mark)
}
