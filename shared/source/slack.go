package source

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// slackAge bounds how far the time of a Slack request may be off.
const slackAge = 5 * time.Minute

// SlackRequest is one request of Slack's Events API.
type SlackRequest struct {
	Signature string // of X-Slack-Signature
	Timestamp string // of X-Slack-Request-Timestamp
	Body      []byte // as it came, which is what is signed
	RequestID string
}

// TakeSlack takes a request: messages are brought up to date or removed. For the
// check of the URL it returns the challenge to reply with. Requests may come twice
// and in any order.
func (s *Service) TakeSlack(ctx context.Context, k Sender, r SlackRequest) (challenge string, err error) {
	seconds, bad := strconv.ParseInt(r.Timestamp, 10, 64)
	hexed, ok := strings.CutPrefix(r.Signature, "v0=")
	genuine := validSignature(k.secrets.SigningSecret, hexed, []byte("v0:"+r.Timestamp+":"), r.Body)
	if !genuine || !ok || bad != nil || s.Now().Sub(time.Unix(seconds, 0)).Abs() > slackAge {
		return "", k.Refusal()
	}
	var event slackEvent
	if err := decodeDelivery(ctx, r.Body, &event); err != nil {
		return "", err
	}
	if event.Type == "url_verification" {
		return event.Challenge, nil
	}
	if event.Type != "event_callback" || event.Event.Type != "message" {
		return "", nil
	}
	return "", s.takeOnce(ctx, k, event.EventID, func() error {
		return s.applyChange(ctx, k, r.RequestID, event.Event.change())
	})
}

type slackEvent struct {
	Type      string     `json:"type"`
	Challenge string     `json:"challenge"`
	EventID   string     `json:"event_id"`
	Event     slackInner `json:"event"`
}

type slackInner struct {
	SlackMessage
	Type      string        `json:"type"`
	Channel   string        `json:"channel"`
	EventTS   string        `json:"event_ts"`
	DeletedTS string        `json:"deleted_ts"`
	Message   *SlackMessage `json:"message"` // of message_changed
}

// SlackMessage is a message in events and in exports.
type SlackMessage struct {
	Subtype  string `json:"subtype"`
	User     string `json:"user"`
	Username string `json:"username"`
	Text     string `json:"text"`
	TS       string `json:"ts"`
	Edited   *struct {
		TS string `json:"ts"`
	} `json:"edited"`
}

// silent are the kinds of message that say nothing: joins, topics and the like.
var silent = regexp.MustCompile(`^(channel_|group_|pinned_|bot_add|bot_remove|reminder_)`)

func (e slackInner) change() change {
	switch {
	case e.Channel == "" || silent.MatchString(e.Subtype):
		return change{}
	case e.Subtype == "message_deleted":
		at, ok := slackTime(e.EventTS)
		if !ok {
			return change{}
		}
		return change{remove: slackURI(e.Channel, e.DeletedTS), at: at}
	case e.Subtype == "message_changed" && e.Message != nil:
		return e.Message.change(e.Channel)
	default:
		return e.SlackMessage.change(e.Channel)
	}
}

func (m SlackMessage) change(channel string) change {
	item, ok := m.Item(channel, channel)
	if !ok {
		return change{}
	}
	return change{item: &item}
}

// Item is the message as an item of a channel, by its id, that is shown as project;
// false for one that says nothing or has no time.
func (m SlackMessage) Item(channel, project string) (Item, bool) {
	at, ok := slackTime(m.TS)
	text := strings.TrimSpace(slackText(m.Text))
	if !ok || text == "" || silent.MatchString(m.Subtype) {
		return Item{}, false
	}
	changed := at
	if m.Edited != nil {
		if t, ok := slackTime(m.Edited.TS); ok {
			changed = t
		}
	}
	author := m.User
	if author == "" {
		author = m.Username
	}
	first, _, _ := strings.Cut(text, "\n")
	return Item{URI: slackURI(channel, m.TS), Title: clipTitle(first), Body: text, SourceType: "message",
		Author: author, Project: project, CreatedAt: at, UpdatedAt: changed}, true
}

// slackURI is the address of a message in the form of its permalink.
func slackURI(channel, ts string) string {
	return "https://slack.com/archives/" + channel + "/p" + strings.ReplaceAll(ts, ".", "")
}

var slackStamp = regexp.MustCompile(`^(\d{9,11})\.(\d{6})$`)

// slackTime reads a time such as 1401383885.000061.
func slackTime(ts string) (time.Time, bool) {
	m := slackStamp.FindStringSubmatch(ts)
	if m == nil {
		return time.Time{}, false
	}
	seconds, _ := strconv.ParseInt(m[1], 10, 64)
	micros, _ := strconv.ParseInt(m[2], 10, 64)
	return time.Unix(seconds, micros*1000).UTC(), true
}

var slackMark = regexp.MustCompile(`<([^<>|]+)(?:\|([^<>]*))?>`)

// slackText turns Slack's marks into Markdown: links, mentions and escapes.
func slackText(text string) string {
	text = slackMark.ReplaceAllStringFunc(text, func(mark string) string {
		m := slackMark.FindStringSubmatch(mark)
		target, label := m[1], m[2]
		switch {
		case strings.HasPrefix(target, "@"), strings.HasPrefix(target, "#"), strings.HasPrefix(target, "!"):
			if label != "" {
				return target[:1] + strings.TrimLeft(label, "@#")
			}
			return target
		case label != "":
			return "[" + label + "](" + target + ")"
		default:
			return target
		}
	})
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(text)
}

// clipTitle is text as a title: one line, cut where it is too long, never empty.
func clipTitle(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	const most = 200
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most-1]) + "…"
	}
	if text == "" {
		return "Untitled"
	}
	return text
}
