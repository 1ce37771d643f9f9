package slack

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"net/url"
	"strings"
	"time"

	"docent/shared/connect/rest"
	"docent/shared/source"
)

// outcome is what every reply of the API has.
type outcome struct {
	OK       bool   `json:"ok"`
	Code     string `json:"error"`
	Needed   string `json:"needed"` // the scopes that are missing
	Metadata struct {
		Cursor string `json:"next_cursor"`
	} `json:"response_metadata"`
}

func (o outcome) result() outcome { return o }

type historyReply struct {
	outcome
	Messages []Message `json:"messages"`
	More     bool      `json:"has_more"`
	Limited  bool      `json:"is_limited"`
}

// check returns an error for a reply, after the cursor before, that is not the page that it should be: what a whole history lacks is removed.
func (h historyReply) check(before string) error {
	if h.Messages == nil || h.More && h.Metadata.Cursor == "" && !h.Limited {
		return incomplete("a list without all of its members")
	}
	return h.advances(before)
}

// advances returns an error if the page after o would be the one after before, which would never end.
func (o outcome) advances(before string) error {
	if before != "" && o.Metadata.Cursor == before {
		return incomplete("the same page twice")
	}
	return nil
}

func incomplete(what string) error {
	return &source.SyncError{Code: source.Unreadable, Detail: "Slack sent " + what + "."}
}

type membersReply struct {
	outcome
	Members []string `json:"members"`
}

type usersReply struct {
	outcome
	Members []user `json:"members"`
}

type channelsReply struct {
	outcome
	Channels []about `json:"channels"`
}

type channelReply struct {
	outcome
	Channel about `json:"channel"`
}

// about is what Slack says about a channel.
type about struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Private  *bool  `json:"is_private"` // nil: not told
	Member   bool   `json:"is_member"`
	Archived bool   `json:"is_archived"`
}

// isOpen reports whether everyone in the workspace may read the channel: only if Slack says so.
func (c about) isOpen() bool { return c.Private != nil && !*c.Private }

// isClosed reports whether Slack says that the channel is private.
func (c about) isClosed() bool { return c.Private != nil && *c.Private }

// refusal is a reply of Slack that is an error.
type refusal struct {
	code   string
	needed string // the scopes that are missing
}

func (e *refusal) Error() string { return "error " + e.code }

func isCode(err error, code string) bool {
	var e *refusal
	return errors.As(err, &e) && e.code == code
}

// call requests path. Its errors are *source.SyncError, or ctx's own.
func call[T interface{ result() outcome }](ctx context.Context, r *reading, path string) (T, error) {
	reply, _, err := rest.Get[T](ctx, r.api, path)
	if err != nil {
		return reply, err
	}
	return reply, r.failure(reply.result())
}

// failure returns the failure for a reply, nil if it is none.
func (r *reading) failure(o outcome) error {
	if o.OK {
		return nil
	}
	e := &source.SyncError{Code: source.Refused, Cause: &refusal{o.Code, o.Needed}, Detail: "Slack refused the request: " + plain(o.Code) + "."}
	switch o.Code {
	case "missing_scope":
		e.Code = source.Unauthorized
		e.Detail = "The app lacks the scope " + plain(o.Needed) + ". Add it under OAuth & Permissions and install the app again."
	case "invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "no_permission", "org_login_required", "not_allowed_token_type":
		e.Code, e.AllParts, e.Detail = source.Unauthorized, true, "Slack does not accept the bot token: "+plain(o.Code)+"."
	case "channel_not_found":
		e.Code, e.Detail = source.NotThere, "There is no such channel, or it is private and the app is not in it. Invite the app."
	case "not_in_channel":
		e.Code, e.Detail = source.Unauthorized, "The app is not in the channel. Invite it, or add the scope channels:join."
	case "is_archived":
		e.Code, e.Detail = source.Unauthorized, "The channel is archived and the app is not in it, so it cannot be read."
	case "ratelimited":
		until := r.api.Now().Add(time.Minute)
		e.Code, e.AllParts, e.RetryAt, e.Detail = source.RateLimited, true, until, "Slack allows no more requests before "+until.UTC().Format(time.RFC3339)+"."
	case "internal_error", "fatal_error", "service_unavailable", "request_timeout", "":
		e.Code, e.Detail = source.Unreadable, "Slack failed: "+plain(o.Code)+"."
	}
	return e
}

// plain returns a code or a list of scopes without anything else in it.
func plain(text string) string {
	text = strings.Map(func(c rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789_:.,-", c) {
			return c
		}
		return -1
	}, text)
	return text[:min(len(text), 200)]
}

// join returns what Slack says about the channel. It joins a public one, which a bot must
// be in to read it.
func (r *reading) join(ctx context.Context) (about, error) {
	reply, err := call[channelReply](ctx, r, "conversations.info?channel="+url.QueryEscape(r.channel))
	if err == nil && reply.Channel.ID == "" {
		err = incomplete("nothing about the channel")
	}
	if err != nil {
		return about{}, err
	}
	c := reply.Channel
	if c.Member {
		return c, nil
	}
	if c.Private == nil {
		return c, incomplete("a channel without whether it is private")
	}
	if c.isClosed() || c.Archived {
		code := "not_in_channel"
		if c.Archived {
			code = "is_archived"
		}
		return c, r.failure(outcome{Code: code})
	}
	joined, _, err := rest.Post[channelReply](ctx, r.api, "conversations.join", map[string]string{"channel": r.channel})
	if err == nil && joined.Code == "missing_scope" {
		joined.Code = "not_in_channel"
	}
	if err == nil {
		err = r.failure(joined.outcome)
	}
	return c, err
}

// readUsers reads the names and email addresses of the workspace's users, unless it was
// done lately.
func (r *reading) readUsers(ctx context.Context) error {
	if r.known.names != nil {
		return nil
	}
	token := sha256.Sum256([]byte(r.token))
	r.mu.Lock()
	known, ok := r.users[token]
	r.mu.Unlock()
	if now := r.Now(); ok && now.Sub(known.read) < directoryLife {
		r.known = known
		return nil
	}
	d := directory{map[string]string{}, map[string]string{}, map[string]bool{}, r.Now()}
	for cursor := ""; ; {
		reply, err := call[usersReply](ctx, r, "users.list?"+url.Values{"limit": {"1000"}, "cursor": {cursor}}.Encode())
		if err != nil {
			return err
		}
		for _, u := range reply.Members {
			d.names[u.ID], d.emails[u.ID] = u.name(), u.Profile.Email
			if u.Deleted || u.Bot {
				d.nobody[u.ID] = true
			}
		}
		if err := reply.advances(cursor); err != nil {
			return err
		}
		if cursor = reply.Metadata.Cursor; cursor == "" {
			break
		}
	}
	r.known = d
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.users == nil {
		r.users = map[[sha256.Size]byte]directory{}
	}
	maps.DeleteFunc(r.users, func(_ [sha256.Size]byte, old directory) bool { return d.read.Sub(old.read) >= directoryLife })
	r.users[token] = d
	return nil
}
