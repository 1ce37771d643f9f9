package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/apierr"
	"docent/shared/audit"
	"docent/shared/team"
)

// securityEvents are the operations of the security event feed.
type securityEvents struct{ Services }

// pollEvery is the polling interval that an empty page suggests, in seconds.
const pollEvery = 30

func (h *securityEvents) routes(api huma.API) {
	tags := []string{"Security events"}
	register(api, huma.Operation{OperationID: "listSecurityEvents", Method: http.MethodGet, Path: "/security-events",
		Summary: "Read the feed of security events, oldest first", Tags: tags, Errors: []int{400, 410},
		Description: "Without the parameter until, the feed is polled: nextCursor is always there, to be saved and sent as after. " +
			"With it, the read ends: nextCursor is null on the last page."}, h.list)
	register(api, huma.Operation{OperationID: "listSecurityEventTypes", Method: http.MethodGet, Path: "/security-events/types",
		Summary: "List the types of security events", Tags: tags}, h.types)
	register(api, huma.Operation{OperationID: "getSecurityEvent", Method: http.MethodGet, Path: "/security-events/{eventId}",
		Summary: "Get a security event", Tags: tags, Errors: []int{400, 404}}, h.get)
}

// eventObject is an event in either format.
type eventObject struct{ value any }

// MarshalJSON renders the event.
func (e eventObject) MarshalJSON() ([]byte, error) { return json.Marshal(e.value) }

// Schema returns the schema of the native format; OCSF has its own.
func (eventObject) Schema(r huma.Registry) *huma.Schema {
	native := r.Schema(reflect.TypeFor[audit.Native](), true, "SecurityEvent")
	change := r.SchemaFromRef(r.Schema(reflect.TypeFor[audit.NativeChange](), true, "").Ref)
	for _, side := range []string{"from", "to"} {
		change.Properties[side] = &huma.Schema{AnyOf: []*huma.Schema{{Type: huma.TypeString}, {Type: huma.TypeBoolean},
			{Type: huma.TypeNumber}, {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}}, {Type: "null"}}}
	}
	return &huma.Schema{OneOf: []*huma.Schema{
		native,
		ocsfEvent(r),
	}}
}

// ocsfEvent returns the schema of an event with format=ocsf: the members that a collector can rely on.
func ocsfEvent(r huma.Registry) *huma.Schema {
	const name = "OcsfEvent"
	whole := func(about string) *huma.Schema { // without a format, typed clients read it into 32 bits, which milliseconds exceed
		return &huma.Schema{Type: huma.TypeInteger, Format: "int64", Description: about}
	}
	r.Map()[name] = &huma.Schema{Type: huma.TypeObject, Description: "An object of OCSF " + audit.OCSFVersion + ", with format=ocsf.",
		Required: []string{"class_uid", "type_uid", "time", "metadata"}, AdditionalProperties: true, Properties: map[string]*huma.Schema{
			"class_uid": whole("The class of the event."),
			"type_uid":  whole("The class times 100, plus the activity."),
			"time":      whole("When it happened, in Unix milliseconds."),
			"metadata":  {Type: huma.TypeObject, AdditionalProperties: true, Description: "The product, the version of OCSF, and uid: the id of the event."},
		}}
	return &huma.Schema{Ref: schemaPrefix + name}
}

func renderEvent(e audit.Event, format string) eventObject {
	if format == "ocsf" {
		return eventObject{e.OCSF()}
	}
	return eventObject{e.Native()}
}

type listSecurityEventsInput struct {
	Limit     int      `query:"limit" minimum:"1" maximum:"200" default:"100" doc:"Events a page."`
	After     string   `query:"after" maxLength:"1000" doc:"Cursor: the events after it. Beats since."`
	Since     string   `query:"since" maxLength:"100" doc:"A time (RFC 3339), from which no event is missed, or the id of an event."`
	Until     string   `query:"until" maxLength:"100" doc:"A time (RFC 3339), exclusive. Bounds the read; more than 5 minutes ahead it means now."`
	EventType []string `query:"eventType,explode" maxItems:"50" doc:"Only these types."`
	Category  []string `query:"category,explode" maxItems:"50" doc:"Only these categories."`
	ActorID   []string `query:"actorId,explode" maxItems:"50" doc:"Only what these did."`
	Outcome   []string `query:"outcome,explode" maxItems:"50" doc:"Only success, failure or unknown."`
	Order     string   `query:"order" doc:"asc, or desc together with until."`
	Format    string   `query:"format" doc:"native, or ocsf for OCSF 1.8.0."`
}

type securityEventsPage struct {
	Events     []eventObject `json:"events"`
	NextCursor *string       `json:"nextCursor" nullable:"true" doc:"The cursor to continue from. Null only at the end of a bounded read."`
	HasMore    bool          `json:"hasMore" doc:"More events are readable now."`
}

type listSecurityEventsOutput struct {
	Link       string `header:"Link" doc:"An RFC 8288 link with rel next, where there is a nextCursor."`
	RetryAfter string `header:"Retry-After" doc:"On an empty page: when to poll again, in seconds."`
	Body       securityEventsPage
}

func (h *securityEvents) list(ctx context.Context, in *listSecurityEventsInput) (*listSecurityEventsOutput, error) {
	p, err := h.reader(ctx, in.Format)
	if err != nil {
		return nil, err
	}
	page, err := h.Events.Feed(ctx, p.TeamID, audit.Query{Limit: in.Limit, After: in.After, Since: in.Since, Until: in.Until,
		Types: in.EventType, Categories: in.Category, Actors: in.ActorID, Outcomes: in.Outcome, Order: in.Order})
	if err != nil {
		return nil, err
	}
	out := &listSecurityEventsOutput{Body: securityEventsPage{Events: []eventObject{}, HasMore: page.More}}
	for _, e := range page.Events {
		out.Body.Events = append(out.Body.Events, renderEvent(e, in.Format))
	}
	if page.Next != "" {
		out.Body.NextCursor = &page.Next
		out.Link = in.next(h.BaseURL, page.Next)
	}
	if len(page.Events) == 0 && !page.More && !page.Bounded {
		out.RetryAfter = strconv.Itoa(pollEvery)
	}
	return out, nil
}

// next returns the link to the page after cursor, with the same filters.
func (in *listSecurityEventsInput) next(base, cursor string) string {
	query := url.Values{"limit": {strconv.Itoa(in.Limit)}, "after": {cursor}}
	for name, values := range map[string][]string{"eventType": in.EventType, "category": in.Category, "actorId": in.ActorID,
		"outcome": in.Outcome, "order": {in.Order}, "format": {in.Format}} {
		for _, v := range values {
			if v != "" {
				query.Add(name, v)
			}
		}
	}
	return fmt.Sprintf("<%s/security-events?%s>; rel=\"next\"", base, query.Encode())
}

// reader returns the caller if it may read the feed.
func (h *securityEvents) reader(ctx context.Context, format string) (team.Principal, error) {
	p, err := caller(ctx)
	if err != nil {
		return p, err
	}
	if err := team.RequireTeamOrAdmin(p); err != nil {
		return p, err
	}
	if format != "" && format != "native" && format != "ocsf" {
		return p, apierr.BadField("/query/format", "must be native or ocsf")
	}
	return p, nil
}

type securityEventOutput struct {
	Body eventObject
}

func (h *securityEvents) get(ctx context.Context, in *struct {
	ID     string `path:"eventId"`
	Format string `query:"format" doc:"native, or ocsf for OCSF 1.8.0."`
}) (*securityEventOutput, error) {
	p, err := h.reader(ctx, in.Format)
	if err != nil {
		return nil, err
	}
	e, err := h.Events.Get(ctx, p.TeamID, in.ID)
	if err != nil {
		return nil, err
	}
	return &securityEventOutput{renderEvent(e, in.Format)}, nil
}

type securityEventType struct {
	EventType   audit.Type `json:"eventType"`
	Category    string     `json:"category"`
	Severity    string     `json:"severity"`
	Description string     `json:"description"`
	OCSF        struct {
		ClassUID   int `json:"class_uid"`
		ActivityID int `json:"activity_id" doc:"0 where it follows from the request."`
	} `json:"ocsf"`
}

type securityEventTypesOutput struct{ Body []securityEventType }

func (h *securityEvents) types(ctx context.Context, _ *struct{}) (*securityEventTypesOutput, error) {
	if _, err := h.reader(ctx, ""); err != nil {
		return nil, err
	}
	out := &securityEventTypesOutput{}
	for _, e := range audit.Catalogue {
		t := securityEventType{EventType: e.Type, Category: e.Category, Severity: e.Severity, Description: e.Description}
		t.OCSF.ClassUID, t.OCSF.ActivityID = e.Class, e.Activity
		out.Body = append(out.Body, t)
	}
	return out, nil
}
