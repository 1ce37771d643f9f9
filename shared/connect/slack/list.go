package slack

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"docent/shared/source"
)

// perList is how many channels are asked for; Slack recommends at most 200.
const perList = 200

// notJoined is the code of the notice that a public channel cannot be read.
const notJoined = "not-joined"

// listCheckpoint is the checkpoint of the list of channels. Each sync reads all of it.
type listCheckpoint struct {
	Cursor string `json:"cursor,omitempty"` // of the next page
}

// channels reads a page of the public channels.
func (r *reading) channels(ctx context.Context, cursor string) (channelsReply, error) {
	return call[channelsReply](ctx, r, "conversations.list?"+url.Values{"types": {"public_channel"}, "limit": {strconv.Itoa(perList)}, "cursor": {cursor}}.Encode())
}

// list yields the pages of the list of public channels.
func (r *reading) list(ctx context.Context, at []byte, yield func(source.SyncPage) bool) error {
	var p listCheckpoint
	if err := source.DecodeCheckpoint(at, &p); err != nil {
		return err
	}
	for {
		reply, err := r.channels(ctx, p.Cursor)
		if p.Cursor != "" && isCode(err, "invalid_cursor") {
			return source.ErrFullScanNeeded // it has expired
		}
		if err == nil {
			err = reply.advances(p.Cursor)
		}
		if err != nil {
			return err
		}
		page := source.SyncPage{}
		for _, c := range reply.Channels {
			if c.readable() {
				page.Parts = append(page.Parts, c.ID)
			}
		}
		p.Cursor = reply.Metadata.Cursor
		page.Last = p.Cursor == ""
		page.Checkpoint = source.EncodeCheckpoint(p)
		if !yield(page) || page.Last {
			return nil
		}
	}
}

// readable reports whether the app can read a listed channel. An archived one cannot be joined.
func (c about) readable() bool {
	return channelForm.MatchString(c.ID) && c.isOpen() && (c.Member || !c.Archived)
}

// pass ends the reading of a listed channel that join refused with err. What Slack no longer
// shows to everyone is gone. What was read of an archived one stays, because Slack shows it
// still; so it does with a channel that the app may not join, and the source says so.
func (r *reading) pass(c about, err error, at []byte, yield func(source.SyncPage) bool) error {
	var failed *source.SyncError
	page := source.SyncPage{Last: true, Checkpoint: at}
	switch {
	case c.isClosed():
		return source.ErrPartGone
	case c.Archived:
	case c.ID != "" && errors.As(err, &failed) && (failed.Code == source.Refused || isCode(err, "not_in_channel")):
		page.Notice = &source.SyncError{Code: notJoined, Detail: "The public channel " + c.Name + " is not read. " + failed.Detail}
	default:
		return r.goneOr(err)
	}
	if at == nil {
		page.Checkpoint = source.EncodeCheckpoint(checkpoint{Name: c.Name})
	}
	yield(page)
	return nil
}

// goneOr returns source.ErrPartGone for an error that says that a channel was deleted
// or is private, so that nobody may read it here without knowing its members. It returns
// other errors as they are.
func (r *reading) goneOr(err error) error {
	var e *refusal
	if !errors.As(err, &e) || e.code != "channel_not_found" && !e.needsOnlyGroups() {
		return err
	}
	if r.chosen {
		return fmt.Errorf("%w: %w", source.ErrPartGone, err)
	}
	return source.ErrPartGone
}

// needsOnlyGroups reports whether Slack asks only for scopes of private channels, which means that the channel is
// private. If the app has no scope of any kind of channel, Slack names all of them; then the kind of the channel is
// unknown.
func (e *refusal) needsOnlyGroups() bool {
	return e.code == "missing_scope" && strings.Contains(e.needed, "groups:") && !strings.Contains(e.needed, "channels:")
}
