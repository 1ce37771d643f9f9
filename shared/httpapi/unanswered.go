package httpapi

import (
	"context"
	"time"

	"docent/shared/answer"
	"docent/shared/team"
)

type unansweredInput struct {
	Days  int `query:"days" minimum:"1" maximum:"400" default:"30" doc:"How far back."`
	Limit int `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"Groups."`
}

type unansweredOutput struct {
	Body struct {
		Groups   []unansweredGroup `json:"groups" doc:"The largest first."`
		Complete bool              `json:"complete" doc:"All questions of these days were looked at."`
	}
}

type unansweredGroup struct {
	Question    string   `json:"question" doc:"The newest of the group."`
	Count       int      `json:"count"`
	NotFound    int      `json:"notFound" doc:"Questions for which nothing was found."`
	Failed      int      `json:"failed"`
	RatedDown   int      `json:"ratedDown"`
	LastAskedAt string   `json:"lastAskedAt" format:"date-time"`
	QuestionIDs []string `json:"questionIds" doc:"At most 10, newest first."`
	Comments    []string `json:"comments" doc:"Of readers who rated down; at most 10, newest first."`
}

func (h *usageReports) unanswered(ctx context.Context, in *unansweredInput) (*unansweredOutput, error) {
	p, only, err := viewer(ctx)
	if err != nil {
		return nil, err
	}
	asker := askerOf(p)
	if only == "" && p.Kind != team.KindTeam {
		asker.UserID = "" // an admin
	}
	gaps, all, err := h.Answers.Unanswered(ctx, p.TeamID, asker, h.Now().Add(-time.Duration(in.Days)*24*time.Hour))
	if err != nil {
		return nil, err
	}
	out := &unansweredOutput{}
	out.Body.Groups, out.Body.Complete = make([]unansweredGroup, 0, min(len(gaps), in.Limit)), all
	for _, g := range gaps[:min(len(gaps), in.Limit)] {
		out.Body.Groups = append(out.Body.Groups, groupOf(g))
	}
	return out, nil
}

func groupOf(g *answer.Gap) unansweredGroup {
	return unansweredGroup{Question: g.Question, Count: g.Count(), NotFound: g.NotFound, Failed: g.Failed, RatedDown: g.RatedDown,
		LastAskedAt: formatTime(g.LastAsked), QuestionIDs: g.IDs, Comments: append([]string{}, g.Comments...)}
}
