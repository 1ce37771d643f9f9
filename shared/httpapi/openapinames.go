package httpapi

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// schemaPrefix is the place of named schemas in the OpenAPI document.
const schemaPrefix = "#/components/schemas/"

// schemaNames has the names of schemas that the rule of schemaName does not give. Generated
// clients make them the names of their types, so they must not change.
var schemaNames = map[string]string{
	"AskInputBody":                   "Question",
	"CreateCollectionInputBody":      "CollectionInput",
	"UpdateCollectionInputBody":      "CollectionPatch",
	"CreateDataSourceInputBody":      "DataSourceInput",
	"CreatedDataSourceOutputBody":    "CreatedDataSource",
	"AccessBody":                     "Access",
	"UpdateDataSourceInputBody":      "DataSourcePatch",
	"NewSettings":                    "DataSourceSettingsInput",
	"ChangedSettings":                "DataSourceSettingsPatch",
	"Settings":                       "DataSourceSettings",
	"Progress":                       "SyncProgress",
	"CreateKeyInputBody":             "ApiKeyInput",
	"KeyBody":                        "ApiKey",
	"SecretKeyBody":                  "ApiKeyWithSecret",
	"RotateKeyInputBody":             "ApiKeyRotation",
	"DocumentEntry":                  "DocumentSummary",
	"PutDocumentInputBody":           "DocumentInput",
	"PutDocumentOutputBody":          "DocumentReceipt",
	"UpdateDocumentInputBody":        "DocumentPatch",
	"UpdateDocumentOutputBody":       "UpdatedDocument",
	"Failure":                        "AnswerError",
	"Field":                          "FieldError",
	"LineError":                      "ImportLineError",
	"GetContentInputBody":            "ContentRequest",
	"GetContentOutputBody":           "ContentResult",
	"QueryIssuesInputBody":           "IssueQuery",
	"QueryPullRequestsInputBody":     "PullRequestQuery",
	"RecordsOutputBody":              "RecordPage",
	"ResearchInputBody":              "ResearchRequest",
	"ResearchOutputBody":             "ResearchResult",
	"SearchInputBody":                "SearchRequest",
	"SourcesOutputBody":              "SearchResult",
	"SignInInputBody":                "SignIn",
	"UpdateSignOnInputBody":          "SingleSignOnPatch",
	"SignOnBody":                     "SingleSignOn",
	"SignOnClient":                   "OpenIdProvider",
	"SignOnTest":                     "SingleSignOnTest",
	"SetClientInputBody":             "OpenIdProviderInput",
	"SetSAMLURLInputBody":            "SamlMetadataAddress",
	"TeamStruct":                     "TeamReference",
	"UpdateTeamInputBody":            "TeamPatch",
	"Native":                         "SecurityEvent",
	"SecurityEventTypeOCSFStruct":    "OcsfMapping",
	"OCSFClass":                      "OcsfClass",
	"CreateWebhookEndpointInputBody": "WebhookEndpointInput",
	"UpdateWebhookEndpointInputBody": "WebhookEndpointPatch",
	"RotateWebhookSecretInputBody":   "WebhookSecretRotation",
	"RecordBody":                     "SourceRecord",    // Record<…> of TypeScript is no longer it below a type of this name
	"ResponseError":                  "ResponseFailure", // clients for TypeScript have a ResponseError of their own
}

// schemaName returns the name of the schema of t: the type's name without what only Go needs
// ("Body", "Output", "Struct"), or the one in schemaNames. Parts of a security event begin with
// its name.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	if own, ok := schemaNames[name]; ok {
		return own
	}
	if part, ok := strings.CutPrefix(name, "Native"); ok {
		return "SecurityEvent" + part
	}
	if of, ok := strings.CutSuffix(name, "InputBody"); ok {
		return of + "Input"
	}
	name = strings.TrimSuffix(strings.TrimSuffix(name, "Struct"), "Body")
	return strings.TrimSuffix(name, "Output")
}

// namedSchema adds a schema to the document under a name, and returns a reference to it.
func namedSchema(doc *huma.OpenAPI, name string, s *huma.Schema) *huma.Schema {
	doc.Components.Schemas.Map()[name] = s
	return &huma.Schema{Ref: schemaPrefix + name}
}

// namedObject adds an object that may have other members as well to the document, and returns a reference to it.
func namedObject(doc *huma.OpenAPI, name string, s *huma.Schema) *huma.Schema {
	s.Type, s.AdditionalProperties = huma.TypeObject, true
	return namedSchema(doc, name, s)
}
