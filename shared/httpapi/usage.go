package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/apierr"
	"docent/shared/team"
	"docent/shared/usage"
)

// usageReports are the operations that report usage and quotas.
type usageReports struct{ Services }

func (h *usageReports) routes(api huma.API) {
	tags := []string{"Usage"}
	schemas := api.OpenAPI().Components.Schemas
	register(api, huma.Operation{OperationID: "getUsage", Method: http.MethodGet, Path: "/usage", Summary: "Report usage by time",
		Tags: tags, Errors: []int{400}, Responses: tableResponses(schemas.Schema(reflect.TypeFor[usagePage](), true, "Usage"))}, h.report)
	register(api, huma.Operation{OperationID: "listUsageUsers", Method: http.MethodGet, Path: "/usage/users", Summary: "Report usage by user",
		Tags: tags, Errors: []int{400}, Responses: tableResponses(schemas.Schema(reflect.TypeFor[usageUsersPage](), true, "UsageUsers"))}, h.users)
	register(api, huma.Operation{OperationID: "listUnanswered", Method: http.MethodGet, Path: "/usage/unanswered", Summary: "List questions that were not answered well",
		Tags: tags, Errors: []int{400}}, h.unanswered)
	register(api, huma.Operation{OperationID: "getQuotas", Method: http.MethodGet, Path: "/usage/quotas", Summary: "Report quotas", Tags: tags}, h.quotas)
}

// viewer returns the caller and the only user whose usage the caller may see, empty for all.
// A member sees only its own usage.
func viewer(ctx context.Context) (p team.Principal, only string, err error) {
	if p, err = caller(ctx); err != nil {
		return p, "", err
	}
	if p.Kind == team.KindTeam && !p.ActsFor {
		return p, "", team.RequireUnrestricted(p)
	}
	if p.Admin {
		return p, "", nil
	}
	return p, p.UserID, nil
}

// UsageSpan are the parameters of both reports. It is exported because huma
// reads embedded parameters only from exported types.
type UsageSpan struct {
	Accept string `header:"Accept"`
	Start  string `query:"start" required:"true" maxLength:"100" doc:"RFC 3339 time or date, inclusive, at most 400 days back."`
	End    string `query:"end" maxLength:"100" doc:"RFC 3339 time or date, exclusive; now when it is absent."`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"100" doc:"Buckets or users a page."`
	After  string `query:"after" maxLength:"1000" doc:"Cursor: the page after it."`
}

func (s UsageSpan) times(now time.Time, zone *time.Location) (start, end time.Time, err error) {
	end = now
	if start, err = usage.ParseTime("start", s.Start, zone); err != nil {
		return start, end, err
	}
	if s.End != "" {
		end, err = usage.ParseTime("end", s.End, zone)
	} else if !start.Before(now) {
		err = apierr.BadField("/query/start", "must be in the past if end is not given")
	}
	return start, end, err
}

// maxResults bounds a page of a report by what one reply of AWS Lambda can have, 6 MB: a day grouped by user and feature has thousands of
// results where a team has hundreds of users, and a month more than a reply, so that it goes on in the next page.
const maxResults = 5000

type usageInput struct {
	UsageSpan
	Granularity  string   `query:"granularity" default:"day" doc:"hour, day or month."`
	TimeZone     string   `query:"timeZone" default:"UTC" maxLength:"100" doc:"IANA name of a zone of whole hours."`
	GroupBy      []string `query:"groupBy,explode" maxItems:"10" doc:"At most two of feature, user, apiKey, client; or collection or dataSource, alone or with feature."`
	Feature      string   `query:"feature" maxLength:"100"`
	UserID       string   `query:"userId" maxLength:"100"`
	APIKeyID     string   `query:"apiKeyId" maxLength:"100"`
	CollectionID string   `query:"collectionId" maxLength:"100"`
}

type usageResult struct {
	Feature      *string       `json:"feature,omitempty"`
	UserID       **string      `json:"userId,omitempty" nullable:"true" doc:"Null: of no user."`
	APIKeyID     *string       `json:"apiKeyId,omitempty"`
	Client       *string       `json:"client,omitempty"`
	CollectionID *string       `json:"collectionId,omitempty"`
	DataSourceID *string       `json:"dataSourceId,omitempty"`
	ActiveUsers  *int          `json:"activeUsers,omitempty"`
	Metrics      usage.Metrics `json:"metrics"`
}

type usageBucket struct {
	Start   string        `json:"start" format:"date-time"`
	End     string        `json:"end" format:"date-time"`
	Results []usageResult `json:"results" doc:"Of 5,000 and more, a part: the next page begins with a bucket of the same time and the others."`
}

type usagePage struct {
	Granularity string        `json:"granularity"`
	TimeZone    string        `json:"timeZone"`
	DataThrough string        `json:"dataThrough" format:"date-time" doc:"When the counts were read; the open hour still grows."`
	Buckets     []usageBucket `json:"buckets"`
	NextCursor  *string       `json:"nextCursor" nullable:"true"`
	HasMore     bool          `json:"hasMore"`
}

// list returns the name of this report's list, which binds its cursors to it.
func (in *usageInput) list() string {
	return "usage?" + strings.Join(append([]string{in.Start, in.End, in.Granularity, in.TimeZone, in.Feature, in.UserID, in.APIKeyID, in.CollectionID}, in.GroupBy...), "\x1f")
}

func (h *usageReports) report(ctx context.Context, in *usageInput) (*tableOutput, error) {
	p, only, err := viewer(ctx)
	if err != nil {
		return nil, err
	}
	now := h.Now().UTC()
	q, err := in.query(p.TeamID, only, now)
	if err != nil {
		return nil, err
	}
	if err := h.Usage.Settle(ctx, p.TeamID); err != nil {
		return nil, fmt.Errorf("wait for usage that is not counted yet: %w", err)
	}
	buckets, more, err := h.Usage.Report(ctx, p.TeamID, now, q)
	if err != nil {
		return nil, err
	}
	page := usagePage{Granularity: in.Granularity, TimeZone: in.TimeZone, DataThrough: formatTime(now), HasMore: more, Buckets: []usageBucket{}}
	var rows [][]cell
	for _, b := range buckets {
		bucket := usageBucket{Start: formatTime(b.Start), End: formatTime(b.End), Results: []usageResult{}}
		for _, r := range b.Results {
			bucket.Results = append(bucket.Results, resultOf(r))
			rows = append(rows, resultRow(bucket, r))
		}
		page.Buckets = append(page.Buckets, bucket)
	}
	link := ""
	if more {
		next := encodeCursor(p.TeamID, in.list(), positionAfter(buckets[len(buckets)-1]))
		page.NextCursor = &next
		link = in.next(h.BaseURL, next)
	}
	out, err := tableOf(in.Accept, page, resultRow(usageBucket{}, q.Shape()), rows)
	if err != nil {
		return nil, err
	}
	out.Link = link
	return out, nil
}

// query returns what in asks for. only is the one user whose usage the caller may see, or empty for all.
func (in *usageInput) query(teamID, only string, now time.Time) (q usage.Query, err error) {
	in.UserID, in.CollectionID = canonicalID(in.UserID), canonicalID(in.CollectionID)
	zone, err := usage.ParseZone(in.TimeZone)
	if err != nil {
		return q, err
	}
	q = usage.Query{Granularity: in.Granularity, Zone: zone, GroupBy: in.GroupBy,
		Feature: in.Feature, UserID: in.UserID, APIKeyID: in.APIKeyID, Collection: in.CollectionID, Limit: in.Limit, MaxResults: maxResults}
	if q.Start, q.End, err = in.times(now, zone); err != nil {
		return q, err
	}
	if only != "" {
		if q.UserID != "" && q.UserID != only || in.CollectionID != "" || slices.Contains(q.GroupBy, usage.ByCollection) || slices.Contains(q.GroupBy, usage.ByDataSource) {
			return q, apierr.New(apierr.Forbidden, apierr.CodeAdminRequired, "Only an admin can see the usage of others.")
		}
		q.UserID = only
	}
	if in.After != "" {
		position, err := decodeCursor(teamID, in.list(), in.After)
		if err != nil {
			return q, err
		}
		at, group, _ := strings.Cut(position, "\n")
		q.AfterGroup = group
		if q.After, err = time.Parse(time.RFC3339, at); err != nil {
			return q, apierr.New(apierr.Invalid, apierr.CodeInvalidCursor, "The cursor does not belong to this list.")
		}
	}
	return q, nil
}

// positionAfter returns the position of a cursor for the page after last: a time, and a line with a group if last is divided.
func positionAfter(last usage.Bucket) string {
	position := last.Next.Format(time.RFC3339)
	if last.NextGroup != "" {
		position += "\n" + last.NextGroup
	}
	return position
}

func resultRow(b usageBucket, r usage.Result) []cell {
	return append([]cell{{"start", b.Start}, {"end", b.End}}, resultCells(r)...)
}

func (in *usageInput) next(base, cursor string) string {
	query := url.Values{"limit": {strconv.Itoa(in.Limit)}, "after": {cursor}, "groupBy": in.GroupBy}
	for name, value := range map[string]string{"start": in.Start, "end": in.End, "granularity": in.Granularity, "timeZone": in.TimeZone,
		"feature": in.Feature, "userId": in.UserID, "apiKeyId": in.APIKeyID, "collectionId": in.CollectionID} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return fmt.Sprintf("<%s/usage?%s>; rel=\"next\"", base, query.Encode())
}

func resultOf(r usage.Result) usageResult {
	shown := usageResult{Feature: r.Feature, APIKeyID: r.APIKeyID, Client: r.Client, CollectionID: r.CollectionID,
		DataSourceID: r.DataSourceID, ActiveUsers: r.ActiveUsers, Metrics: r.Metrics}
	if r.UserID != nil {
		user := r.UserID
		if *user == "" {
			user = nil
		}
		shown.UserID = &user
	}
	return shown
}

// resultCells returns the cells of a result. The columns are the members of its JSON.
func resultCells(r usage.Result) []cell {
	var cells []cell
	for _, d := range []struct {
		name  string
		value *string
	}{{"feature", r.Feature}, {"userId", r.UserID}, {"apiKeyId", r.APIKeyID}, {"client", r.Client}, {"collectionId", r.CollectionID}, {"dataSourceId", r.DataSourceID}} {
		if d.value != nil {
			cells = append(cells, cell{d.name, *d.value})
		}
	}
	if r.ActiveUsers != nil {
		cells = append(cells, cell{"activeUsers", *r.ActiveUsers})
	}
	metrics := reflect.ValueOf(r.Metrics)
	for i := range metrics.NumField() {
		name, _, _ := strings.Cut(metrics.Type().Field(i).Tag.Get("json"), ",")
		cells = append(cells, cell{name, metrics.Field(i).Interface()})
	}
	return cells
}
