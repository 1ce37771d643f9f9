package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/source"
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
	register(api, huma.Operation{OperationID: "deleteDataSource", Method: http.MethodDelete, Path: "/data-sources/{dataSourceId}",
		Summary: "Disconnect a data source and remove all its items", Tags: tags, DefaultStatus: http.StatusNoContent, Errors: []int{400, 404}}, h.delete)
}

// DataSourceBody is a data source without its secrets.
type DataSourceBody struct {
	ID        string              `json:"id"`
	Provider  source.Provider     `json:"provider"`
	Name      string              `json:"name"`
	Settings  source.Settings     `json:"settings"`
	State     source.State        `json:"state" enum:"connecting,ready,failed"`
	LastSync  string              `json:"lastSync,omitempty" format:"date-time" doc:"When content came last."`
	LastError *source.SyncFailure `json:"lastError,omitempty" doc:"Why content could not be brought up to date."`
	Sync      *source.Progress    `json:"sync,omitempty" doc:"How far reading the provider is, where a connector does that."`
	CreatedAt string              `json:"createdAt" format:"date-time"`
	UpdatedAt string              `json:"updatedAt" format:"date-time"`
}

func dataSourceOf(d source.DataSource) DataSourceBody {
	body := DataSourceBody{ID: d.ID, Provider: d.Provider, Name: d.Name, Settings: d.Settings, State: d.State, LastError: d.LastError, Sync: d.Sync,
		CreatedAt: formatTime(d.CreatedAt), UpdatedAt: formatTime(d.UpdatedAt)}
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
	for _, e := range slice.Entries {
		out.Body = append(out.Body, dataSourceOf(e.Value))
	}
	return out, nil
}

type createDataSourceInput struct {
	Body struct {
		Provider source.Provider `json:"provider" enum:"github,gitlab,bitbucket,azure_devops,jira,linear,asana,confluence,notion,google_drive,coda,stack_overflow,web,slack,microsoft_teams"`
		Name     string          `json:"name" minLength:"1" maxLength:"100"`
		Settings NewSettings     `json:"settings,omitempty"`
	}
}

// NewSettings are the settings of a new data source with its secrets, which are
// never returned.
type NewSettings struct {
	source.Settings
	AccessToken   string `json:"accessToken,omitempty" doc:"github: reads the repositories."`
	SigningSecret string `json:"signingSecret,omitempty" doc:"slack: signs events."`
}

// source returns the data source that in describes, and its secrets.
func (in *createDataSourceInput) source() (source.DataSource, source.Secrets) {
	b := in.Body
	return source.DataSource{Provider: b.Provider, Name: b.Name, Settings: b.Settings.Settings},
		source.Secrets{AccessToken: b.Settings.AccessToken, SigningSecret: b.Settings.SigningSecret}
}

type createdDataSourceOutput struct {
	Body struct {
		DataSourceBody
		WebhookSecret string `json:"webhookSecret,omitempty" doc:"github: signs deliveries; shown this once."`
	}
}

func (h *dataSources) create(ctx context.Context, in *createDataSourceInput) (*createdDataSourceOutput, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	given, secrets := in.source()
	d, secret, err := h.Sources.Create(ctx, p.TeamID, given, secrets)
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

func (h *dataSources) delete(ctx context.Context, in *DataSourcePath) (*struct{}, error) {
	p, err := administrator(ctx)
	if err != nil {
		return nil, err
	}
	return nil, h.Sources.Delete(ctx, p.TeamID, in.ID, requestFrom(ctx).id)
}
