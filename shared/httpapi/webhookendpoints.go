package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/table"
	"docent/shared/team"
	"docent/shared/webhook"
)

// webhookEndpoints has the operations on addresses to which events are delivered.
type webhookEndpoints struct{ Services }

func (h *webhookEndpoints) routes(api huma.API) {
	tags := []string{"Webhooks"}
	const one = "/webhook-endpoints/{webhookEndpointId}"
	register(api, huma.Operation{OperationID: "listWebhookEndpoints", Method: http.MethodGet, Path: "/webhook-endpoints",
		Summary: "List webhook endpoints, oldest first", Tags: tags, Errors: []int{400}}, h.list)
	register(api, huma.Operation{OperationID: "createWebhookEndpoint", Method: http.MethodPost, Path: "/webhook-endpoints",
		Summary: "Add a webhook endpoint; its secret is shown this once", Tags: tags, DefaultStatus: http.StatusCreated, Errors: []int{409}}, h.create)
	register(api, huma.Operation{OperationID: "getWebhookEndpoint", Method: http.MethodGet, Path: one,
		Summary: "Get a webhook endpoint", Tags: tags, Errors: []int{404}}, h.get)
	register(api, huma.Operation{OperationID: "updateWebhookEndpoint", Method: http.MethodPatch, Path: one,
		Summary: "Change, disable or enable a webhook endpoint", Tags: tags, Errors: []int{404}}, h.update)
	register(api, huma.Operation{OperationID: "deleteWebhookEndpoint", Method: http.MethodDelete, Path: one,
		Summary: "Remove a webhook endpoint", Tags: tags, DefaultStatus: http.StatusNoContent, Errors: []int{404}}, h.delete)
	register(api, huma.Operation{OperationID: "rotateWebhookSecret", Method: http.MethodPost, Path: one + "/rotate",
		Summary: "Give a webhook endpoint a new secret", Tags: tags, Errors: []int{404}}, h.rotate)
	register(api, huma.Operation{OperationID: "testWebhookEndpoint", Method: http.MethodPost, Path: one + "/test",
		Summary: "Deliver a test event", Tags: tags, DefaultStatus: http.StatusAccepted, Errors: []int{404, 409}}, h.test)
	register(api, huma.Operation{OperationID: "listWebhookDeliveries", Method: http.MethodGet, Path: one + "/deliveries",
		Summary: "List the deliveries of a webhook endpoint, newest event first", Tags: tags, Errors: []int{400, 404}}, h.deliveries)
	register(api, huma.Operation{OperationID: "replayWebhookDelivery", Method: http.MethodPost, Path: one + "/deliveries/{deliveryId}/replay",
		Summary: "Make a delivery again", Tags: tags, DefaultStatus: http.StatusAccepted, Errors: []int{404, 409}}, h.replay)
}

// WebhookEndpointBody is a webhook endpoint without its secrets.
type WebhookEndpointBody struct {
	ID string `json:"id"`
	webhook.Fields
	DisabledReason          webhook.DisabledReason `json:"disabledReason,omitempty" enum:"failing,gone" doc:"Why Docent disabled it: nothing could be delivered for 3 days, or it answered 410."`
	CreatedAt               string                 `json:"createdAt" format:"date-time"`
	UpdatedAt               string                 `json:"updatedAt" format:"date-time"`
	PreviousSecretExpiresAt *string                `json:"previousSecretExpiresAt,omitempty" format:"date-time" doc:"Until then the secret before the last rotation signs too."`
}

func webhookEndpointOf(e webhook.Endpoint) WebhookEndpointBody {
	return WebhookEndpointBody{ID: e.ID, Fields: e.Fields, DisabledReason: e.DisabledReason, CreatedAt: formatTime(e.CreatedAt), UpdatedAt: formatTime(e.UpdatedAt),
		PreviousSecretExpiresAt: timeOrNull(e.PreviousSecretExpiresAt)}
}

// WebhookEndpointWithSecretBody is a webhook endpoint with its new secret.
type WebhookEndpointWithSecretBody struct {
	WebhookEndpointBody
	Secret string `json:"secret" doc:"Verifies deliveries: whsec_ and the key in base64. It is shown this once."`
}

// WebhookDeliveryBody is one event for one endpoint.
type WebhookDeliveryBody struct {
	ID            string         `json:"id" doc:"The webhook-id of every attempt."`
	Type          string         `json:"type"`
	Timestamp     string         `json:"timestamp" format:"date-time" doc:"When the event happened."`
	Status        webhook.Status `json:"status" enum:"waiting,delivered,failed"`
	Attempts      int            `json:"attempts"`
	LastAttemptAt *string        `json:"lastAttemptAt,omitempty" format:"date-time"`
	LastStatus    int            `json:"lastStatus,omitempty" doc:"The status of the last reply."`
	LastError     string         `json:"lastError,omitempty" enum:"timeout,blocked-address,connection-failed" doc:"Why there was no reply."`
	NextAttemptAt *string        `json:"nextAttemptAt,omitempty" format:"date-time"`
}

func webhookDeliveryOf(d webhook.Delivery) WebhookDeliveryBody {
	return WebhookDeliveryBody{ID: d.ID, Type: d.Type, Timestamp: formatTime(d.At), Status: d.Status, Attempts: d.Attempts,
		LastAttemptAt: timeOrNull(d.LastAttemptAt), LastStatus: d.LastStatus, LastError: d.LastError, NextAttemptAt: timeOrNull(d.NextAttemptAt)}
}

// WebhookEndpointPath is the path of one webhook endpoint.
type WebhookEndpointPath struct {
	ID string `path:"webhookEndpointId"`
}

type webhookEndpointOutput struct{ Body WebhookEndpointBody }

type webhookEndpointWithSecretOutput struct{ Body WebhookEndpointWithSecretBody }

type webhookDeliveryOutput struct{ Body WebhookDeliveryBody }

type listWebhookEndpointsOutput struct {
	Link string `header:"Link" doc:"RFC 8288 links with rel prev and next, where there are such pages."`
	Body []WebhookEndpointBody
}

func (h *webhookEndpoints) list(ctx context.Context, in *struct{ PageParams }) (*listWebhookEndpointsOutput, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	w, err := in.window(p.TeamID, "webhook-endpoints")
	if err != nil {
		return nil, err
	}
	found, err := h.Webhooks.List(ctx, p.TeamID)
	if err != nil {
		return nil, err
	}
	all := make([]table.Entry[webhook.Endpoint], len(found))
	for i, e := range found {
		all[i] = table.Entry[webhook.Endpoint]{Position: e.ID, Value: e}
	}
	slice := table.SliceOf(all, w)
	out := &listWebhookEndpointsOutput{Body: make([]WebhookEndpointBody, 0, len(slice.Entries)), Link: linkHeader(h.BaseURL, p.TeamID, "webhook-endpoints", in.Limit, nil, slice)}
	for _, e := range slice.Entries {
		out.Body = append(out.Body, webhookEndpointOf(e.Value))
	}
	return out, nil
}

// mayReceive returns missing-scope if a change of an endpoint would send security events to an address that p chose,
// and p may not read them in the feed.
func mayReceive(p team.Principal, before, after webhook.Fields) error {
	if !webhook.SendsSecurityEvents(before, after) {
		return nil
	}
	return team.RequireScope(p, team.ScopeAudit)
}

type createWebhookEndpointInput struct{ Body struct{ webhook.Fields } }

func (h *webhookEndpoints) create(ctx context.Context, in *createWebhookEndpointInput) (*webhookEndpointWithSecretOutput, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	if err := mayReceive(p, webhook.Fields{}, in.Body.Fields); err != nil {
		return nil, err
	}
	e, secret, err := h.Webhooks.Create(ctx, p.TeamID, in.Body.Fields)
	if err != nil {
		return nil, err
	}
	return &webhookEndpointWithSecretOutput{WebhookEndpointWithSecretBody{webhookEndpointOf(e), secret}}, nil
}

func (h *webhookEndpoints) get(ctx context.Context, in *WebhookEndpointPath) (*webhookEndpointOutput, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	e, err := h.Webhooks.Get(ctx, p.TeamID, in.ID)
	if err != nil {
		return nil, err
	}
	return &webhookEndpointOutput{webhookEndpointOf(e)}, nil
}

type updateWebhookEndpointInput struct {
	WebhookEndpointPath
	Body struct{ patch[webhook.Fields] }
}

func (h *webhookEndpoints) update(ctx context.Context, in *updateWebhookEndpointInput) (*webhookEndpointOutput, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	e, err := h.Webhooks.Update(ctx, p.TeamID, in.ID, func(f *webhook.Fields) error {
		before := *f
		in.Body.apply(f)
		return mayReceive(p, before, *f)
	})
	if err != nil {
		return nil, err
	}
	return &webhookEndpointOutput{webhookEndpointOf(e)}, nil
}

func (h *webhookEndpoints) delete(ctx context.Context, in *WebhookEndpointPath) (*struct{}, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	return nil, h.Webhooks.Delete(ctx, p.TeamID, in.ID)
}

type rotateWebhookSecretInput struct {
	WebhookEndpointPath
	Body *struct {
		OverlapSeconds *int64 `json:"overlapSeconds,omitempty" minimum:"0" maximum:"604800" doc:"How long the old secret signs too; 86400 when absent."`
	}
}

func (h *webhookEndpoints) rotate(ctx context.Context, in *rotateWebhookSecretInput) (*webhookEndpointWithSecretOutput, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	var given *int64
	if in.Body != nil {
		given = in.Body.OverlapSeconds
	}
	e, secret, err := h.Webhooks.Rotate(ctx, p.TeamID, in.ID, overlap(given))
	if err != nil {
		return nil, err
	}
	return &webhookEndpointWithSecretOutput{WebhookEndpointWithSecretBody{webhookEndpointOf(e), secret}}, nil
}

func (h *webhookEndpoints) test(ctx context.Context, in *WebhookEndpointPath) (*webhookDeliveryOutput, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	d, err := h.Webhooks.Test(ctx, p.TeamID, in.ID)
	if err != nil {
		return nil, err
	}
	return &webhookDeliveryOutput{webhookDeliveryOf(d)}, nil
}

type listWebhookDeliveriesInput struct {
	WebhookEndpointPath
	PageParams
}

type listWebhookDeliveriesOutput struct {
	Link string `header:"Link" doc:"RFC 8288 links with rel prev and next, where there are such pages."`
	Body []WebhookDeliveryBody
}

func (h *webhookEndpoints) deliveries(ctx context.Context, in *listWebhookDeliveriesInput) (*listWebhookDeliveriesOutput, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	list := "webhook-endpoints/" + in.ID + "/deliveries"
	w, err := in.window(p.TeamID, list)
	if err != nil {
		return nil, err
	}
	slice, err := h.Webhooks.Deliveries(ctx, p.TeamID, in.ID, w)
	if err != nil {
		return nil, err
	}
	out := &listWebhookDeliveriesOutput{Body: make([]WebhookDeliveryBody, 0, len(slice.Entries)), Link: linkHeader(h.BaseURL, p.TeamID, list, in.Limit, nil, slice)}
	for _, e := range slice.Entries {
		out.Body = append(out.Body, webhookDeliveryOf(e.Value))
	}
	return out, nil
}

type replayWebhookDeliveryInput struct {
	WebhookEndpointPath
	Delivery string `path:"deliveryId"`
}

func (h *webhookEndpoints) replay(ctx context.Context, in *replayWebhookDeliveryInput) (*webhookDeliveryOutput, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	d, err := h.Webhooks.Replay(ctx, p.TeamID, in.ID, in.Delivery)
	if err != nil {
		return nil, err
	}
	return &webhookDeliveryOutput{webhookDeliveryOf(d)}, nil
}

// describeEventTypes names the types of events in the document. Requests are checked by package webhook.
func describeEventTypes(doc *huma.OpenAPI) {
	schemas := doc.Components.Schemas.Map()
	kind := &huma.Schema{Type: huma.TypeString, Description: "A type of event that webhook endpoints may have."}
	for _, name := range webhook.EventTypes() {
		kind.Enum = append(kind.Enum, name)
	}
	schemas["WebhookEventType"] = kind
	for _, s := range schemas {
		if types := s.Properties["eventTypes"]; types != nil {
			types.Items, types.UniqueItems = &huma.Schema{Ref: schemaPrefix + "WebhookEventType"}, true
		}
	}
}
