package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/source"
	"docent/shared/team"
)

type dataSources struct{ Services }

func (h *dataSources) routes(api huma.API) {
	tags := []string{"Data sources"}
	register(api, huma.Operation{OperationID: "listDataSources", Method: http.MethodGet, Path: "/data-sources",
		Summary: "List data sources, collections included", Tags: tags, Errors: []int{400}}, h.list)
	register(api, huma.Operation{OperationID: "createDataSource", Method: http.MethodPost, Path: "/data-sources",
		Summary: "Connect a data source", Tags: tags, DefaultStatus: http.StatusCreated, Errors: []int{409}}, h.create)
	register(api, huma.Operation{OperationID: "importItems", Method: http.MethodPost, Path: "/data-sources/{dataSourceId}/items",
		Summary: "Import items as JSON Lines", Tags: tags, Errors: []int{404}}, h.importItems)
	register(api, huma.Operation{OperationID: "updateDataSource", Method: http.MethodPatch, Path: "/data-sources/{dataSourceId}",
		Summary: "Change a data source", Tags: tags, Errors: []int{400, 404}}, h.update)
	register(api, huma.Operation{OperationID: "syncDataSource", Method: http.MethodPost, Path: "/data-sources/{dataSourceId}/sync",
		Summary: "Sync a data source now", Tags: tags, DefaultStatus: http.StatusAccepted, Errors: []int{400, 404, 409}}, h.sync)
	register(api, huma.Operation{OperationID: "deleteDataSource", Method: http.MethodDelete, Path: "/data-sources/{dataSourceId}",
		Summary: "Disconnect a data source and remove all its items", Tags: tags, DefaultStatus: http.StatusNoContent, Errors: []int{400, 404}}, h.delete)
	h.describeSettings(api.OpenAPI().Components.Schemas.Map())
}

// DataSourceBody is a data source without its secrets.
type DataSourceBody struct {
	ID        string              `json:"id"`
	Provider  source.ProviderName `json:"provider"`
	Name      string              `json:"name"`
	Settings  source.Settings     `json:"settings"`
	State     source.State        `json:"state" enum:"connecting,ready,failed,paused"`
	LastSync  string              `json:"lastSync,omitempty" format:"date-time" doc:"When content came last. lastSync, lastError and sync are shown to admins and team keys only: they are about all items, also those that a person may not read."`
	LastError *source.SyncFailure `json:"lastError,omitempty" doc:"Why content could not be brought up to date."`
	Sync      *source.Progress    `json:"sync,omitempty" doc:"How far reading the provider is, where a connector does that."`
	CreatedAt string              `json:"createdAt" format:"date-time"`
	UpdatedAt string              `json:"updatedAt" format:"date-time" doc:"The latest of its creation, its last change, lastSync and lastError; without the last two for those to whom these are not shown."`

	DefaultAccess        *AccessBody `json:"defaultAccess,omitempty" doc:"Who may read those of its items that have no access of their own. Absent: everyone in the team."`
	DefaultAccessUnknown *AccessBody `json:"defaultAccessUnknown,omitempty" doc:"The names in defaultAccess that nobody had when it was set. A person or group that gets such a name may then read."`
}

func dataSourceOf(d source.DataSource) DataSourceBody {
	if d.Paused {
		d.State = source.Paused
	}
	body := DataSourceBody{ID: d.ID, Provider: d.Provider, Name: d.Name, Settings: d.Settings, State: d.State, LastError: d.LastError, Sync: d.Sync,
		CreatedAt: formatTime(d.CreatedAt), UpdatedAt: formatTime(d.UpdatedAt), DefaultAccess: accessOf(d.DefaultAccess), DefaultAccessUnknown: unknownOf(d.DefaultAccess)}
	if d.LastSync != nil {
		body.LastSync = formatTime(*d.LastSync)
	}
	return body
}

type listDataSourcesOutput struct {
	Link string `header:"Link" doc:"RFC 8288 links with rel prev and next, where there are such pages."`
	Body []DataSourceBody
}

func (h *dataSources) list(ctx context.Context, in *struct{ PageParams }) (*listDataSourcesOutput, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	w, err := in.window(p.TeamID, "data-sources")
	if err != nil {
		return nil, err
	}
	slice, err := h.Sources.List(ctx, p.TeamID, w, p.MayRead)
	if err != nil {
		return nil, err
	}
	out := &listDataSourcesOutput{Link: linkHeader(h.BaseURL, p.TeamID, "data-sources", in.Limit, nil, slice),
		Body: make([]DataSourceBody, 0, len(slice.Entries))}
	whole := p.Admin || p.Kind == team.KindTeam && !p.ActsFor
	for _, e := range slice.Entries {
		body := dataSourceOf(e.Value)
		if !whole { // how many items there are, which one failed, and when one came is about items that not everyone may read
			body.LastError, body.Sync, body.LastSync, body.UpdatedAt = nil, nil, "", formatTime(e.Value.ChangedAt)
		}
		out.Body = append(out.Body, body)
	}
	return out, nil
}

type createDataSourceInput struct {
	Body struct {
		Provider source.ProviderName `json:"provider"`
		Name     string              `json:"name" minLength:"1" maxLength:"100" doc:"Not blank."`
		Settings NewSettings         `json:"settings,omitempty"`

		DefaultAccess *AccessBody `json:"defaultAccess,omitempty" doc:"Who may read those of its items that have no access of their own; up to 200 names. Absent: everyone in the team."`
	}
}

// NewSettings are the settings of a new data source and its secrets, which are
// never returned.
type NewSettings struct{ source.Settings }

// describeSettings adds the providers and their settings to the schemas of the
// API document, which requests are validated against.
func (h *dataSources) describeSettings(schemas map[string]*huma.Schema) {
	create, given, shown, changed := schemas["DataSourceInput"], schemas["DataSourceSettingsInput"], schemas["DataSourceSettings"], schemas["DataSourceSettingsPatch"]
	given.Properties, shown.Properties, changed.Properties = map[string]*huma.Schema{}, map[string]*huma.Schema{}, map[string]*huma.Schema{}
	for _, p := range h.Sources.Providers {
		create.Properties["provider"].Enum = append(create.Properties["provider"].Enum, string(p.Name))
		for _, s := range p.Settings {
			about := string(p.Name) + ": " + s.Help + "."
			if known := given.Properties[s.Name]; known != nil { // of another provider too
				known.Description += " " + about
				continue
			}
			one := huma.Schema{Type: huma.TypeString, Description: about}
			if s.Kind == source.List {
				one.Type, one.Items = huma.TypeArray, &huma.Schema{Type: huma.TypeString}
			}
			given.Properties[s.Name] = &one
			if s.Kind != source.Secret {
				stored := one
				shown.Properties[s.Name] = &stored
			}
		}
	}
	for name, one := range given.Properties {
		nullable := *one
		nullable.Nullable = true
		changed.Properties[name] = &nullable
	}
	changed.PrecomputeMessages()
	create.PrecomputeMessages()
	given.PrecomputeMessages()
	shown.PrecomputeMessages()
}

type createdDataSourceOutput struct {
	Body struct {
		DataSourceBody
		WebhookSecret string `json:"webhookSecret,omitempty" doc:"Signs deliveries of a webhook; shown this once."`
	}
}

func (h *dataSources) create(ctx context.Context, in *createDataSourceInput) (*createdDataSourceOutput, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	b := in.Body
	settings, secrets, err := h.Sources.Configure(b.Provider, b.Settings.Settings)
	if err != nil {
		return nil, err
	}
	rule, err := h.rule(ctx, p.TeamID, "/defaultAccess", b.DefaultAccess)
	if err != nil {
		return nil, err
	}
	d, secret, err := h.Sources.Create(ctx, p.TeamID, source.DataSource{Provider: b.Provider, Name: b.Name, Settings: settings, DefaultAccess: rule}, secrets)
	if err != nil {
		return nil, err
	}
	out := &createdDataSourceOutput{}
	out.Body.DataSourceBody, out.Body.WebhookSecret = dataSourceOf(d), secret
	return out, nil
}

// DataSourcePath is the path of one data source.
type DataSourcePath struct {
	ID string `path:"dataSourceId"`
}

type updateDataSourceInput struct {
	DataSourcePath
	Body struct{ patch[ChangedDataSource] }
}

// ChangedDataSource are the fields of a data source that can change; it is exported
// because huma reads embedded members only of exported types.
type ChangedDataSource struct {
	Name     string          `json:"name" minLength:"1" maxLength:"100" doc:"Not blank."`
	Settings ChangedSettings `json:"settings" doc:"The settings and secrets that change; null removes one. Others stay."`
	Paused   bool            `json:"paused" doc:"Whether it is paused: no sync runs, and deliveries of webhooks are acknowledged and change nothing. When it is resumed, it is synced at once. Only for sources that a connector reads."`

	DefaultAccess *AccessBody `json:"defaultAccess,omitempty" doc:"Who may read those of its items that have no access of their own; up to 200 names."`
}

// ChangedSettings are settings and secrets of a data source that change.
type ChangedSettings struct {
	source.Settings
	without []string
}

// UnmarshalJSON decodes a merge patch of settings: null removes a member.
func (c *ChangedSettings) UnmarshalJSON(text []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	c.without = nil
	for name, value := range members {
		if string(value) == "null" {
			c.without = append(c.without, name)
		}
	}
	return c.Settings.UnmarshalJSON(text)
}

func (h *dataSources) update(ctx context.Context, in *updateDataSourceInput) (*dataSourceOutput, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	var given ChangedDataSource
	in.Body.apply(&given)
	rule, err := h.rule(ctx, p.TeamID, "/defaultAccess", given.DefaultAccess)
	if err != nil {
		return nil, err
	}
	c := source.Change{Settings: given.Settings.Settings, Without: given.Settings.without, SetsAccess: in.Body.has("defaultAccess"), DefaultAccess: rule}
	if in.Body.has("name") {
		c.Name = &given.Name
	}
	if in.Body.has("paused") {
		c.Paused = &given.Paused
	}
	d, err := h.Sources.Update(ctx, p.TeamID, in.ID, c)
	if err != nil {
		return nil, err
	}
	return &dataSourceOutput{dataSourceOf(d)}, nil
}

type dataSourceOutput struct{ Body DataSourceBody }

type importItemsInput struct {
	DataSourcePath
	RawBody []byte `contentType:"application/x-ndjson"`
}

type importItemsOutput struct{ Body source.ImportResult }

// importTime bounds an import. It is less than the time of a function.
const importTime = 25 * time.Second

func (h *dataSources) importItems(ctx context.Context, in *importItemsInput) (*importItemsOutput, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, importTime)
	defer cancel()
	done, err := h.Sources.Import(ctx, p.TeamID, in.ID, requestFrom(ctx).id, in.RawBody)
	return &importItemsOutput{done}, err
}

func (h *dataSources) sync(ctx context.Context, in *DataSourcePath) (*dataSourceOutput, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	d, err := h.Sources.SyncNow(ctx, p.TeamID, in.ID)
	if err != nil {
		return nil, err
	}
	return &dataSourceOutput{dataSourceOf(d)}, nil
}

func (h *dataSources) delete(ctx context.Context, in *DataSourcePath) (*struct{}, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	return nil, h.Sources.Delete(ctx, p.TeamID, in.ID, requestFrom(ctx).id)
}
