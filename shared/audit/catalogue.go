package audit

// Type names a kind of event. Types are added, never renamed or removed.
type Type string

// The types.
const (
	KeyRejected             Type = "auth.key.rejected"
	AccessDenied            Type = "auth.access_denied"
	SAMLLoggedIn            Type = "saml.login"
	SAMLLoginFailed         Type = "saml.login_failed"
	OIDCLoggedIn            Type = "oidc.login"
	OIDCLoginFailed         Type = "oidc.login_failed"
	SignOnTested            Type = "single_sign_on.tested"
	SessionCreated          Type = "session.created"
	SessionEnded            Type = "session.ended"
	APIKeyCreated           Type = "api_key.created"
	APIKeyRotated           Type = "api_key.rotated"
	APIKeyRevoked           Type = "api_key.revoked"
	KeyActedFor             Type = "api_key.acted_for"
	UserRoleChanged         Type = "user.role_changed"
	SCIMRequestFailed       Type = "scim.request_failed"
	SCIMUserCreated         Type = "scim.user.created"
	SCIMUserUpdated         Type = "scim.user.updated"
	SCIMUserDeactivated     Type = "scim.user.deactivated"
	SCIMUserReactivated     Type = "scim.user.reactivated"
	SCIMUserDeleted         Type = "scim.user.deleted"
	SCIMGroupCreated        Type = "scim.group.created"
	SCIMGroupUpdated        Type = "scim.group.updated"
	SCIMGroupDeleted        Type = "scim.group.deleted"
	SCIMGroupMemberAdded    Type = "scim.group.member_added"
	SCIMGroupMemberRemoved  Type = "scim.group.member_removed"
	TeamUpdated             Type = "team.updated"
	SAMLMetadataUpdated     Type = "saml_metadata.updated"
	SAMLMetadataDeleted     Type = "saml_metadata.deleted"
	SignOnUpdated           Type = "single_sign_on.updated"
	DataSourceCreated       Type = "data_source.created"
	DataSourceUpdated       Type = "data_source.updated"
	DataSourceDeleted       Type = "data_source.deleted"
	DataSourceItemsImported Type = "data_source.items_imported"
	WebhookRejected         Type = "data_source.webhook_rejected"
	WebhookEndpointCreated  Type = "webhook_endpoint.created"
	WebhookEndpointUpdated  Type = "webhook_endpoint.updated"
	WebhookEndpointRotated  Type = "webhook_endpoint.rotated"
	WebhookEndpointDisabled Type = "webhook_endpoint.disabled"
	WebhookEndpointDeleted  Type = "webhook_endpoint.deleted"
	CollectionCreated       Type = "collection.created"
	CollectionUpdated       Type = "collection.updated"
	CollectionDeleted       Type = "collection.deleted"
	DocumentCreated         Type = "document.created"
	DocumentReplaced        Type = "document.replaced"
	DocumentAccessChanged   Type = "document.access_changed"
	DocumentDeleted         Type = "document.deleted"
	AnswerAsked             Type = "answer.asked"
	AnswerDeleted           Type = "answer.deleted"
	QuotaExceeded           Type = "quota.exceeded"
	DailySummary            Type = "activity.daily_summary"
)

// Categories of events.
const (
	Authentication = "authentication"
	Identity       = "identity"
	Configuration  = "configuration"
	Data           = "data"
	Activity       = "activity"
)

// Severities of events, in rising order.
const (
	Informational = "informational"
	Low           = "low"
	Medium        = "medium"
	High          = "high"
	Critical      = "critical"
)

// Entry describes one type.
type Entry struct {
	Type               Type
	Category, Severity string
	Description        string // of the type
	Class, Activity    int    // OCSF class_uid and activity_id

	// phrase is between the actor and the targets in the description of an event.
	phrase string
}

// OCSF classes of release 1.8.0.
const (
	classAccountChange   = 3001
	classAuthentication  = 3002
	classUserAccess      = 3005
	classGroupManagement = 3006
	classAPIActivity     = 6003
)

// byMethod means that the request's method determines the activity.
const byMethod = 0

// other is OCSF's activity for what its class does not name.
const other = 99

// Catalogue lists every type, in the order of the documentation.
var Catalogue = []Entry{
	{KeyRejected, Authentication, Medium, "A known API key or session was refused: it is revoked or expired, or its user is inactive.", classAuthentication, 1, "was refused"},
	{AccessDenied, Authentication, Medium, "A known API key was denied something that it has no right to.", classAPIActivity, byMethod, "was denied access"},
	{SAMLLoggedIn, Authentication, Informational, "A user signed in to the dashboard at the team's SAML identity provider.", classAuthentication, 1, "signed in with the session"},
	{SAMLLoginFailed, Authentication, Medium, "A sign-in to the dashboard by SAML failed; recorded at most once a minute for one reason.", classAuthentication, 1, "failed to sign in"},
	{OIDCLoggedIn, Authentication, Informational, "A user signed in to the dashboard at the team's OpenID Connect provider.", classAuthentication, 1, "signed in with the session"},
	{OIDCLoginFailed, Authentication, Medium, "A sign-in to the dashboard by OpenID Connect failed; recorded at most once a minute for one reason.", classAuthentication, 1, "failed to sign in"},
	{SignOnTested, Authentication, Low, "An admin tested single sign-on and came back signed in.", classAuthentication, 1, "tested single sign-on of"},
	{SessionCreated, Authentication, Informational, "A user signed in to the dashboard by a link or a personal key.", classAuthentication, 1, "signed in with the session"},
	{SessionEnded, Authentication, Informational, "A session of the dashboard was ended: by its user, by an admin, or because the user was deactivated.", classAuthentication, 2, "ended the session"},
	{APIKeyCreated, Identity, Medium, "An API key was created.", classAPIActivity, 1, "created the API key"},
	{APIKeyRotated, Identity, Low, "An API key got a new secret.", classAPIActivity, 3, "rotated the API key"},
	{APIKeyRevoked, Identity, Medium, "An API key was revoked.", classAPIActivity, 4, "revoked the API key"},
	{KeyActedFor, Identity, Informational, "A team key acted for a user; recorded once a minute for each key, user and operation.", classAPIActivity, byMethod, "acted for"},
	{UserRoleChanged, Identity, High, "A user became an admin or stopped being one.", classUserAccess, 1, "changed the role of"},
	{SCIMRequestFailed, Identity, Low, "A request of the identity provider, or the first such operation of a Bulk request, was refused as wrong or as a conflict; recorded at most once a minute for one reason and operation.", classAPIActivity, byMethod, "sent a request that was refused"},
	{SCIMUserCreated, Identity, Low, "A user was added.", classAccountChange, 1, "created the user"},
	{SCIMUserUpdated, Identity, Informational, "An attribute of a user changed.", classAccountChange, other, "updated the user"},
	{SCIMUserDeactivated, Identity, Medium, "A user was deactivated.", classAccountChange, 5, "deactivated the user"},
	{SCIMUserReactivated, Identity, Low, "A user was activated again.", classAccountChange, 2, "reactivated the user"},
	{SCIMUserDeleted, Identity, Medium, "A user was removed.", classAccountChange, 6, "deleted the user"},
	{SCIMGroupCreated, Identity, Low, "A group was added.", classGroupManagement, 6, "created the group"},
	{SCIMGroupUpdated, Identity, Informational, "The name or external id of a group changed.", classGroupManagement, other, "updated the group"},
	{SCIMGroupDeleted, Identity, Medium, "A group was removed.", classGroupManagement, 5, "deleted the group"},
	{SCIMGroupMemberAdded, Identity, Low, "Users were added to a group.", classGroupManagement, 3, "added members to the group"},
	{SCIMGroupMemberRemoved, Identity, Low, "Users were removed from a group.", classGroupManagement, 4, "removed members from the group"},
	{TeamUpdated, Configuration, Low, "The team's name or settings changed.", classAPIActivity, 3, "updated the team"},
	{SAMLMetadataUpdated, Configuration, High, "The SAML metadata of the team was set.", classAPIActivity, 3, "updated the SAML metadata"},
	{SAMLMetadataDeleted, Configuration, High, "The SAML metadata of the team was removed.", classAPIActivity, 4, "deleted the SAML metadata"},
	{SignOnUpdated, Configuration, High, "The settings of single sign-on changed.", classAPIActivity, 3, "updated single sign-on of"},
	{DataSourceCreated, Configuration, Medium, "A data source was connected.", classAPIActivity, 1, "created the data source"},
	{DataSourceUpdated, Configuration, Medium, "A data source changed: its name, its settings or secrets, whether it is paused, or who may read its items by default.", classAPIActivity, 3, "updated the data source"},
	{DataSourceDeleted, Configuration, Medium, "A data source was removed.", classAPIActivity, 4, "deleted the data source"},
	{DataSourceItemsImported, Data, Informational, "Items were imported into a data source; recorded with the first that changed anything, with counts of what was sent.", classAPIActivity, 3, "imported items into the data source"},
	{WebhookRejected, Configuration, Medium, "A webhook of a known data source was refused.", classAPIActivity, 1, "was refused for a bad signature by the data source"},
	{WebhookEndpointCreated, Configuration, Medium, "A webhook endpoint was added, to which events are delivered.", classAPIActivity, 1, "created the webhook endpoint"},
	{WebhookEndpointUpdated, Configuration, Medium, "A webhook endpoint changed.", classAPIActivity, 3, "updated the webhook endpoint"},
	{WebhookEndpointRotated, Configuration, Low, "A webhook endpoint got a new secret.", classAPIActivity, 3, "rotated the secret of the webhook endpoint"},
	{WebhookEndpointDisabled, Configuration, Medium, "A webhook endpoint was disabled because it failed for 3 days or answered 410.", classAPIActivity, 3, "disabled the webhook endpoint"},
	{WebhookEndpointDeleted, Configuration, Medium, "A webhook endpoint was removed.", classAPIActivity, 4, "deleted the webhook endpoint"},
	{CollectionCreated, Configuration, Low, "A collection was created.", classAPIActivity, 1, "created the collection"},
	{CollectionUpdated, Configuration, Informational, "A collection changed.", classAPIActivity, 3, "updated the collection"},
	{CollectionDeleted, Configuration, Medium, "A collection was deleted with all its documents.", classAPIActivity, 4, "deleted the collection"},
	{DocumentCreated, Data, Informational, "A document was added.", classAPIActivity, 1, "created the document"},
	{DocumentReplaced, Data, Informational, "A document was replaced or moved.", classAPIActivity, 3, "replaced the document"},
	{DocumentAccessChanged, Data, Low, "The rule of who may read a document changed; shown with how many users and groups it names.", classAPIActivity, 3, "changed who may read the document"},
	{DocumentDeleted, Data, Low, "A document was deleted.", classAPIActivity, 4, "deleted the document"},
	{AnswerAsked, Data, Informational, "A question was asked; recorded when its answer is finished.", classAPIActivity, 1, "asked the question"},
	{AnswerDeleted, Data, Low, "A question and its answer were erased.", classAPIActivity, 4, "deleted the answer"},
	{QuotaExceeded, Activity, Low, "A daily quota was exceeded; the first refusal of the day.", classAPIActivity, 1, "exceeded the quota"},
	{DailySummary, Activity, Informational, "What an API key did on one Pacific day.", classAPIActivity, 2, "summed up a day of the API key"},
}

var entries = func() map[Type]Entry {
	m := make(map[Type]Entry, len(Catalogue))
	for _, e := range Catalogue {
		m[e.Type] = e
	}
	return m
}()

// entry describes the type of e. For a type of a newer program it returns a generic entry.
func (e Event) entry() Entry {
	if entry, ok := entries[e.Type]; ok {
		return entry
	}
	return Entry{Type: e.Type, Category: Activity, Severity: Informational, Class: classAPIActivity, Activity: other, phrase: string(e.Type)}
}
