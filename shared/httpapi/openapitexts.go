package httpapi

import "github.com/danielgtaylor/huma/v2"

// descriptions has, by operation, what a client needs to know beyond the summary. An operation may
// also bring its own description where it is registered.
var descriptions = map[string]string{
	"listCollections":  "Newest first, without those that the key may not read.",
	"createCollection": "A team has at most 25. With an Idempotency-Key a repeated request gives the first reply again.",
	"getCollection":    "The reply has an ETag for If-Match.",
	"updateCollection": "A JSON merge patch (RFC 7396): a member that is absent stays as it is, and null removes an optional one.",
	"deleteCollection": "Its documents are unreachable at once and removed soon after. It succeeds also if there is no such collection.",

	"listDocuments":       "Newest first, without bodies.",
	"getDocumentAccess":   "For admins and unrestricted team keys. It shows nothing of the document itself. A person who is unknown or not active may read nothing.",
	"putDocument":         "The URI identifies the document in the team: a new one creates it, a known one replaces it, and another collection moves it. Search finds it by its words within about a second. A put that changes nothing keeps its ETag. A put replaces everything: without access and metadata, the document has none of its own any more, unless keepAccess is true. A URI of a document that the caller may not read is refused with access-denied.",
	"createUpload":        "For a file of up to 100 MB, a PDF of up to 96 MB, reStructuredText of up to 4 MB, that is too large for the body of PUT /documents. Send the file to uploadUrl, once, by PUT with the given headers; then put the document with the id as its upload, within an hour; before the file is there, that is 409 upload-incomplete. What is not used is removed. A team may have 20 uploads that no document uses yet.",
	"getDocumentOriginal": "The file as it was put. A document that was put as text has none. Who may read the document may download it.",
	"getDocument":         "With the body, and whether search finds this version by now. The ETag names the version: to wait until it is found, send no If-None-Match, because `indexing` changes without a new version.",
	"updateDocument":      "A JSON merge patch (RFC 7396) of title, metadata and access: a member that is absent stays as it is, and null removes an optional one. Metadata and access are replaced whole, so null within metadata is refused. The text or the file stays, and other members are ignored: PUT /documents changes them. Whom a change of access shuts out reads nothing of the document from the next request on. No search finds it until it is indexed again, within about a second, as after a put. A request that changes nothing keeps the ETag, so it can be repeated. A document that the caller may not read is not found, and neither is an item of a data source, which only its provider changes.",
	"deleteDocument":      "It is unreachable at once. It succeeds also if there is no such document.",

	"listAnswers":          "Newest first. A personal key lists the questions of its user, a team key those of the team.",
	"askQuestion":          "The client chooses the id, a UUID, and polls it. A repeated request with the same id and question is neither asked nor counted again. With Accept: text/event-stream the reply is the events of the answer.",
	"createChatCompletion": "OpenAI's Chat Completions, for chat programs and OpenAI's libraries. The last message of the user is asked: it counts as one question, and is stored as one, under the id in the reply. What asks for another reply than there is, such as two choices, JSON, a call of a tool or an image to be read, is refused with its `param`; what a model may ignore, such as instructions, offered tools and `temperature`, has no effect. A prompt by which Open WebUI or LibreChat has titles, tags, further questions or a summary written is refused, and is not counted. What Open WebUI adds to a question, passages of files and web pages and how to have code run, is not asked.",
	"createResponse":       "OpenAI's Responses, which its newer libraries and kits for agents call, by the same rules as POST /chat/completions. A response has the id of its question, so previous_response_id asks a follow-up question, and GET /answers/{questionId} returns the same answer. Other operations on responses are not there.",
	"listModels":           "There is one model, docent.",
	"rateAnswer":           "Feedback replaces earlier feedback. Answers that are rated down are listed by GET /usage/unanswered.",
	"listUnanswered":       "What a team could not be told: questions for which nothing was found, that failed, or whose answers were rated down, grouped by alike wording, the largest group first. Looks at the newest 2,000 questions. An admin and a team key see those of the team, others their own.",
	"getModel":             "There is one model, docent.",
	"getAnswer":            "With Prefer: wait=20 the reply comes as soon as there is an answer, at most 20 seconds later. With Accept: text/event-stream the reply is the events of the answer, stored or still to come.",
	"deleteAnswer":         "Question and answer are erased for good. The id cannot be used again.",

	"searchContext":       "Code, pull requests, issues, messages and documentation together, best first.",
	"searchCode":          "Files of connected repositories, best first.",
	"searchPullRequests":  "Pull requests with their comments, best first.",
	"searchIssues":        "Issues with their comments, best first.",
	"searchMessages":      "Messages of connected chats, best first.",
	"searchDocumentation": "Documents of collections and pages of connected sources, best first.",
	"queryIssues":         "The words of the query are read for filters too (\"open bugs of mine since March\"); members of the request win. interpreted says what was applied.",
	"queryPullRequests":   "The words of the query are read for filters too (\"merged last week\"); members of the request win. interpreted says what was applied.",
	"research":            "Searches as often as the effort allows, then answers in Markdown. Takes at most 25 seconds. With Accept: text/event-stream the reply is events. If a document of the answer is closed to the caller while a model writes it, that is 409 access-changed.",
	"getContent":          "From what is connected and, if the team allows it, from the web. Each URL has a result of its own: content or an error.",
	"callTools":           "JSON-RPC 2.0 over stateless Streamable HTTP: initialize, tools/list and tools/call. The tools have the limits and the rights of the key. A request with the Origin of a web page elsewhere is refused.",

	"listDataSources":  "Newest first: collections, and what is connected. How far a source is synced, and its errors, are shown to admins and team keys.",
	"createDataSource": "Its settings are checked at once, also at the provider, for up to 10 seconds: a rejected token, a missing scope or a repository that is not there is an error that names the setting, and nothing is stored. If the provider cannot be reached, the source is created and `lastError` says so. Reading begins in the background. A webhook's secret is shown this once.",
	"updateDataSource": "A merge patch: members that are not given stay, and so do settings. New settings and secrets are checked as when a source is created, for instance a new token. A running sync stops with its next page and continues with the new settings: parts that stay, such as other repositories, keep how far they were read; new ones are read, and items of those left out are removed. A change of other settings than lists of parts reads everything again. With an address on another host, the secrets of the source must be given again: none is sent to a host that it was not given for. `defaultAccess` holds for the next request.",
	"syncDataSource":   "Without this call the next sync begins 15 minutes after the last one, for web pages a day after it, or when a delivery of the provider says that something changed. After a sync that is running, another one follows. While the provider allows no requests, the sync waits: `sync.next` says until when. A source that is paused, or that no connector reads, is 409.",
	"deleteDataSource": "Its items are unreachable at once and removed soon after. A repeat is 404. The id of a collection is 400: DELETE /collections/{collectionId} removes one.",
	"importItems":      "At most 1,000 items, one a line. Lines that cannot be taken are reported; all others are stored. An item that is older than the stored one changes nothing, so an import can be repeated.",

	"listWebhookEndpoints":  "Without their secrets.",
	"createWebhookEndpoint": "A team has at most 10. Its events are delivered by the Standard Webhooks specification, at least once, and retried for 3 days. Events of changes that were made before are not delivered.",
	"getWebhookEndpoint":    "Without its secrets.",
	"updateWebhookEndpoint": "A JSON merge patch (RFC 7396). An endpoint that is enabled again gets what waited for it; what happened while it was disabled is not delivered. Another address for an endpoint with types of security events needs the scope audit too, as new types do. Security events of a type that it no longer has are not sent, also if they wait or are replayed.",
	"deleteWebhookEndpoint": "What waits for it is not delivered.",
	"rotateWebhookSecret":   "Deliveries are signed with the old secret too for the overlap, 86,400 seconds if nothing else is asked for.",
	"testWebhookEndpoint":   "An event of the type webhook.test, whatever the types of the endpoint. Its delivery is listed with the others.",
	"listWebhookDeliveries": "They are kept for 30 days after the event.",
	"replayWebhookDelivery": "At once, and again with all its retries, under the same webhook-id.",

	"listSecurityEventTypes": "The catalogue: what is recorded, by category, with its severity and its OCSF class.",
	"getSecurityEvent":       "By the id that the feed shows.",
	"getUsage":               "Numbers by hour, day or month. A page has fewer buckets than its limit where these have 5,000 results. As text/csv or application/x-ndjson where Accept asks for it.",
	"listUsageUsers":         "One row for each user who did something. As text/csv or application/x-ndjson where Accept asks for it.",
	"getQuotas":              "What may be used today, and what is left.",

	"getMe":                "The team, the key and, of a personal key, its user.",
	"getTeam":              "Its name and settings.",
	"updateTeam":           "A JSON merge patch (RFC 7396). Only a team's admin may send it.",
	"getSamlMetadata":      "As JSON, or as it was stored where Accept names application/samlmetadata+xml.",
	"setSamlMetadata":      "An EntityDescriptor with an IDPSSODescriptor and a signing certificate, at most 1 MiB. It is a condition of SCIM.",
	"setSamlMetadataUrl":   "It is read once, within 10 seconds. Send the same address again after the provider has changed its metadata, such as its certificate.",
	"removeSamlMetadata":   "Users and groups stay as they are.",
	"getSingleSignOn":      "With the addresses to enter at the identity provider.",
	"updateSingleSignOn":   "A JSON merge patch (RFC 7396). required needs a test by an admin of the settings as they are; the operator's link works in any case.",
	"setOpenIdProvider":    "Replaces it. The team signs in there once method is oidc.",
	"removeOpenIdProvider": "Users and their keys stay. It is refused while signing in there is required.",
	"listApiKeys":          "Without their secrets.",
	"createApiKey":         "A personal key acts for a user, a team key for the team, and a scim key provisions users and groups. It may be limited to data sources and to a time. It works no longer than the key that creates it: a later expiresAt is refused, and so is none, if that key or its rotated secret expires.",
	"rotateApiKey":         "The old secret works on for the overlap, 86,400 seconds if nothing else is asked for. Only the last two secrets work: rotating again before the new secret is in use, also because a reply was lost, ends the one in use. A key that expires, or an old secret within its overlap, does not rotate one that works longer: that is 403 key-expires-first.",
	"revokeApiKey":         "There is no way back.",

	"signIn":                "Only pages of the same origin can send it. The session ends after 12 hours, or after an hour without use.",
	"listSessions":          "Without their secrets. One of them is marked as the current one.",
	"endSession":            "Its cookie is refused within 10 seconds.",
	"beginOnlySingleSignOn": "If there are several teams, the dashboard asks for one.",
	"beginSingleSignOn":     "For browsers. The provider's tile leads here too: a sign-in is always begun here. With test, an admin who is signed in tries it: nobody is signed in by it, and the browser comes back to the settings in the dashboard.",
	"getServiceMetadata":    "For providers that read metadata. It has no secret.",
	"assertSingleSignOn":    "The browser sends it from the provider, as a form of at most 256 KB of response. It leads to finishSingleSignOn.",
	"answerSingleSignOn":    "The browser comes here from the provider, with a code. It leads to finishSingleSignOn.",
	"finishSingleSignOn":    "The ticket works once, for two minutes, in the browser that began the sign-in. The reply sets the session's cookie.",

	"endSessions": "Their cookies are refused within 10 seconds, the one of this request included.",

	"searchScimRoot":               "By a filter and with paging by index or by cursor (RFC 7644 section 3.4.2, RFC 9865).",
	"searchScim":                   "As the GET, with the parameters in the body (RFC 7644 section 3.4.3).",
	"bulkScim":                     "At most 1 MiB. Operations may refer to each other by bulkId (RFC 7644 section 3.7).",
	"listScimUsers":                "By a filter and with paging by index or by cursor (RFC 7644 section 3.4.2, RFC 9865).",
	"createScimUser":               "userName is unique in the team, without regard to case.",
	"searchScimUsers":              "As the GET, with the parameters in the body (RFC 7644 section 3.4.3).",
	"getScimUser":                  "The reply has a weak entity tag (RFC 7644 section 3.14).",
	"replaceScimUser":              "Attributes that are absent are removed (RFC 7644 section 3.5.1). active: false suspends the user, whose keys then stop working. Another userName for an admin needs an admin's personal key.",
	"updateScimUser":               "RFC 7644 section 3.5.2. active: false suspends the user, whose keys then stop working. Another userName for an admin needs an admin's personal key.",
	"deleteScimUser":               "The user's keys stop working.",
	"listScimGroups":               "By a filter and with paging by index or by cursor. excludedAttributes=members reads none of the members.",
	"createScimGroup":              "Members are users of the team.",
	"searchScimGroups":             "As the GET, with the parameters in the body (RFC 7644 section 3.4.3).",
	"getScimGroup":                 "excludedAttributes=members reads none of the members.",
	"replaceScimGroup":             "Attributes that are absent are removed, members too (RFC 7644 section 3.5.1).",
	"updateScimGroup":              "RFC 7644 section 3.5.2. Adding or removing a member costs the same in a group of any size. Its operations together may compare 20 million elements with their filters; more is 413.",
	"deleteScimGroup":              "Its members stay.",
	"getScimServiceProviderConfig": "RFC 7643 section 5.",
	"listScimResourceTypes":        "RFC 7643 section 6.",
	"getScimResourceType":          "RFC 7643 section 6.",
	"listScimSchemas":              "RFC 7643 section 7.",
	"getScimSchema":                "RFC 7643 section 7.",

	"registerClient":                    "RFC 7591. It needs no key, and nothing is stored: the id contains the client. Clients have no secret.",
	"authorize":                         "RFC 6749 section 4.1 with PKCE (S256). It leads to a page of the dashboard, where a signed-in person decides. A parameter other than resource that has two values is 400, and the program is not told.",
	"exchangeToken":                     "A code works once, for a minute. Each refresh gives a new refresh token; a used one that comes again ends the access.",
	"revokeToken":                       "RFC 7009. It succeeds for every text.",
	"getAuthorizationServer":            "RFC 8414.",
	"getAuthorizationServerByDiscovery": "Clients look here for an issuer whose address has a path.",
	"getProtectedResource":              "RFC 9728.",
	"getProtectedResourceOfTools":       "RFC 9728. WWW-Authenticate of a refusal at /mcp leads here.",
	"showConsent":                       "For the dashboard's own page. A request that cannot be used is 400, and its sender is not told, because its address may be wrong. A session with none of the scopes that the program asks for is 403 missing-scope.",
	"decideConsent":                     "For the dashboard's own page. The browser is to be sent to redirectTo.",
	"listAgents":                        "Programs with a refresh token that works.",
	"disconnectAgent":                   "Its tokens are refused within 10 seconds.",

	"takeGitHubDelivery": "GitHub sends it. It needs no key: X-Hub-Signature-256 is checked with the secret of the data source.",
	"takeGitLabDelivery": "GitLab sends it. It needs no key: X-Gitlab-Token is compared with the secret of the data source.",
	"takeSlackEvent":     "Slack sends it. It needs no key: X-Slack-Signature is checked with the secret of the data source.",
}

// describe gives each operation without a description the one in descriptions.
func describe(doc *huma.OpenAPI) {
	for _, op := range operations(doc) {
		if op.Description == "" {
			op.Description = descriptions[op.OperationID]
		}
	}
}
