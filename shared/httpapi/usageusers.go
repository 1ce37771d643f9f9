package httpapi

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"docent/shared/usage"
)

type usageUser struct {
	UserID        string   `json:"userId"`
	UserName      *string  `json:"userName" nullable:"true" doc:"Null when the user is gone."`
	Questions     int64    `json:"questions"`
	ContextCalls  int64    `json:"contextCalls"`
	ActiveDays    int      `json:"activeDays"`
	FirstActiveAt string   `json:"firstActiveAt" format:"date-time"`
	LastActiveAt  string   `json:"lastActiveAt" format:"date-time"`
	Features      []string `json:"features"`
}

func (u usageUser) row(userName string) []cell {
	return []cell{{"userId", u.UserID}, {"userName", userName}, {"questions", u.Questions}, {"contextCalls", u.ContextCalls},
		{"activeDays", u.ActiveDays}, {"firstActiveAt", u.FirstActiveAt}, {"lastActiveAt", u.LastActiveAt}, {"features", u.Features}}
}

type usageUsersPage struct {
	Users      []usageUser `json:"users"`
	NextCursor *string     `json:"nextCursor" nullable:"true"`
	HasMore    bool        `json:"hasMore"`
}

func (h *usageReports) users(ctx context.Context, in *struct{ UsageSpan }) (*tableOutput, error) {
	p, only, err := viewer(ctx)
	if err != nil {
		return nil, err
	}
	now := h.Now().UTC()
	start, end, err := in.times(now, time.UTC)
	if err != nil {
		return nil, err
	}
	list, after := "usage/users?"+in.Start+"\x1f"+in.End, ""
	if in.After != "" {
		if after, err = decodeCursor(p.TeamID, list, in.After); err != nil {
			return nil, err
		}
	}
	if err := h.Usage.Settle(ctx, p.TeamID); err != nil {
		return nil, fmt.Errorf("wait for usage that is not counted yet: %w", err)
	}
	users, more, err := h.Usage.Users(ctx, p.TeamID, now, usage.UserQuery{Start: start, End: end, UserID: only, After: after, Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(users))
	for i, u := range users {
		ids[i] = u.UserID
	}
	records, err := h.Teams.Profiles(ctx, p.TeamID, ids)
	if err != nil {
		return nil, err
	}
	page := usageUsersPage{Users: []usageUser{}, HasMore: more}
	var rows [][]cell
	for _, u := range users {
		shown := usageUser{u.UserID, nil, u.Questions, u.ContextCalls, u.ActiveDays, formatTime(u.FirstActiveAt), formatTime(u.LastActiveAt), u.Features}
		record, known := records[u.UserID]
		if known {
			shown.UserName = &record.UserName
		}
		page.Users = append(page.Users, shown)
		rows = append(rows, shown.row(record.UserName))
	}
	link := ""
	if more {
		next := encodeCursor(p.TeamID, list, users[len(users)-1].UserID)
		page.NextCursor = &next
		query := url.Values{"limit": {strconv.Itoa(in.Limit)}, "after": {next}, "start": {in.Start}}
		if in.End != "" {
			query.Set("end", in.End)
		}
		link = fmt.Sprintf("<%s/usage/users?%s>; rel=\"next\"", h.BaseURL, query.Encode())
	}
	out, err := tableOf(in.Accept, page, usageUser{}.row(""), rows)
	if err != nil {
		return nil, err
	}
	out.Link = link
	return out, nil
}
