package httpapi

import (
	"context"
	"errors"
	"fmt"

	"docent/shared/collection"
	"docent/shared/quota"
	"docent/shared/table"
)

type quotaState struct {
	Name        string  `json:"name" enum:"answers-day,pat-day,collections"`
	Scope       string  `json:"scope" enum:"team,apiKey"`
	Limit       int64   `json:"limit"`
	Used        int64   `json:"used"`
	Remaining   int64   `json:"remaining"`
	WindowStart *string `json:"windowStart" nullable:"true" format:"date-time"`
	ResetsAt    *string `json:"resetsAt" nullable:"true" format:"date-time"`
	TimeZone    *string `json:"timeZone" nullable:"true"`
}

type quotasOutput struct {
	Body struct {
		Quotas []quotaState `json:"quotas"`
	}
}

func dayQuota(s quota.State, scope string) quotaState {
	start, reset, zone := formatTime(s.Window.Start), formatTime(s.Window.Reset), "America/Los_Angeles"
	return quotaState{s.Name, scope, s.Limit, min(s.Used, s.Limit), s.Remaining(), &start, &reset, &zone}
}

func (h *usageReports) quotas(ctx context.Context, _ *struct{}) (*quotasOutput, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	day := quota.Day(requestFrom(ctx).arrived)
	answers, err := h.Teams.Table.Get(ctx, quota.AnswersKey(p.TeamID, day))
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return nil, fmt.Errorf("read quota: %w", err)
	}
	collections, err := h.Collections.All(ctx, p.TeamID)
	if err != nil {
		return nil, err
	}
	out := &quotasOutput{}
	out.Body.Quotas = append(out.Body.Quotas, dayQuota(quota.Answers(day, quota.Used(answers)), "team"))
	for _, s := range requestFrom(ctx).quotas {
		if s.Name == quota.PATDay {
			out.Body.Quotas = append(out.Body.Quotas, dayQuota(s, "apiKey"))
		}
	}
	n := int64(len(collections))
	out.Body.Quotas = append(out.Body.Quotas, quotaState{Name: "collections", Scope: "team", Limit: collection.MaxPerTeam,
		Used: n, Remaining: max(collection.MaxPerTeam-n, 0)})
	return out, nil
}
