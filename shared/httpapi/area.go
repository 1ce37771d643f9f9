package httpapi

import "github.com/danielgtaylor/huma/v2"

// Area is a part of the API that one function serves. Only the Area refers to its
// operations, so a function links no operations of other areas. deployed.Functions lists
// the paths of each.
type Area struct {
	Name   string // of the function
	routes func(s Services, api huma.API, m *mux)
}

// The areas.
var (
	Collections = Area{"collections", func(s Services, api huma.API, _ *mux) { (&collections{s}).routes(api) }}
	Documents   = Area{"documents", func(s Services, api huma.API, m *mux) {
		(&documents{s}).routes(api)
		s.uploadRoutes(api, m)
	}}
	Answers = Area{"answers", func(s Services, api huma.API, _ *mux) {
		(&answers{s}).routes(api)
		(&chats{s}).routes(api)
	}}
	Context = Area{"context", func(s Services, api huma.API, m *mux) {
		(&contexts{s}).routes(api)
		(&tools{s}).routes(api, m)
	}}
	SecurityEvents = Area{"securityevents", func(s Services, api huma.API, _ *mux) { (&securityEvents{s}).routes(api) }}
	Usage          = Area{"usage", func(s Services, api huma.API, _ *mux) { (&usageReports{s}).routes(api) }}
	SCIM           = Area{"scim", func(s Services, api huma.API, m *mux) { s.scimRoutes(api, m) }}
	Dashboard      = Area{"dashboard", func(s Services, api huma.API, m *mux) {
		(&sessions{s}).routes(api)
		(&signOns{Services: s}).routes(api, m)
		(&oauths{s}).routes(api, m)
	}}
	Admin = Area{"admin", func(s Services, api huma.API, m *mux) {
		(&administration{s}).routes(api, m)
		(&dataSources{s}).routes(api)
		(&webhooks{s}).routes(api, m)
		(&webhookEndpoints{s}).routes(api)
	}}
)

// Areas lists every area.
func Areas() []Area {
	return []Area{Collections, Documents, Answers, Context, SecurityEvents, Usage, SCIM, Dashboard, Admin}
}
