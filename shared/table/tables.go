package table

// The tables of Docent. Engines create them, and the stack is built from Names.
// The comments give their partition and sort key patterns: {team}, {doc} and the like
// are lower-case UUIDs, {inverted} is Inverted(time). Other versions read the same
// forms: shared/storedtest has the rules for changing them.
const (
	// Collections:
	//   {team}                sort {source}               a collection or a connected data source
	//   {team}/count          sort "collections"          the number of collections; "sources": of connected sources
	//   {team}/source/{source} sort "settings"            settings of a connected source
	//   {team}/source/{source} sort "replaced#{number}"   settings that were changed since its last sync
	//   {team}/delivered/{source} sort {delivery}         webhook deliveries that were taken, 3 days
	//   source/{source}       sort "secrets"              its secrets, encrypted, and its team
	//   {team}/idempotency    sort {key id}#{hash}        replies of POST with Idempotency-Key, 24 h
	Collections = "collections"

	// Documents:
	//   {team}/{doc}                       sort "record"                  the current version, body up to 3 KB
	//   {team}/{doc}                       sort "failure"                 why indexing of a version failed
	//   {team}/{doc}                       sort "removed"                 when its provider removed an item, 30 days
	//   {team}/{doc}                       sort "ruled"                   who might read earlier texts of a document that had a rule
	//   {team}/{doc}/{version}/{chunk/250} sort {chunk, 8 digits}         longer bodies
	//   {team}/uploads                     sort {place, 2 digits}         uploads that no document uses
	//   {team}/uploads                     sort 9{hash, 20 digits}        uploads that a put did not need, for its repeats
	//   {team}/list                        sort {inverted}#{doc}          list entries of the team
	//   {team}/list/{collection}           sort {inverted}#{doc}          list entries of a collection
	//   {team}/list/{source}               sort {space}#{inverted}#{doc}  list entries of a connected source
	//   pending/{shard}                    see package pending
	//   pending-files/{shard}              files whose text is to be read; see package pending
	Documents = "documents"

	// Index: segment records and what belongs to them; see package search.
	Index = "index"

	// Answers:
	//   {question}            sort "answer"               question and answer, or the mark of a deleted one
	//   {team}/list           sort {inverted}#{question}  list entries of the team
	//   {team}/list/{user}    sort {inverted}#{question}  list entries of one user's personal keys
	//   pending/{shard}       see package pending
	Answers = "answers"

	// Identities:
	//   teams                      sort {team}                   every team, for the operator
	//   {team}                     sort "team"                   the team's record
	//   {team}                     sort "admins"                 the number of its active admins, as a negative number
	//   {team}                     sort "saml"                   its SAML identity provider
	//   {team}/saml                sort {part, 2 digits}         the text of that provider's metadata
	//   {team}                     sort "signon"                 its settings of single sign-on
	//   {team}/assertions          sort {hash}                   an assertion that was used, until it expires
	//   {team}/subjects            sort {hash}                   the user of a subject at an OpenID Connect provider
	//   {team}/subjects/{user}     sort {hash of issuer}         the user's subject there
	//   {team}/users               sort {user}                   a user
	//   {team}/userNames           sort {folded user name}       uniqueness of user names
	//   {team}/by/{field}          sort {hash of value}/{user}   users by externalId, email, displayName
	//   {team}/inactive            sort {user}                   users that are not active
	//   {team}/departed            sort {user}                   deleted users who may still have keys and memberships
	//   {team}/groups              sort {group}                  a group without its members
	//   {team}/groupNames          sort {hash of folded name}    uniqueness of group names
	//   {team}/groupsBy/externalId sort {hash}/{group}           groups by externalId
	//   {team}/members/{group}     sort {user}                   a member, or the mark of one being added or removed
	//   {team}/memberships         sort {user}/{group}           the same, by user
	//   {team}/departedGroups      sort {group}                  deleted groups that may still have members' items
	//   key/{key id}               sort "key"                    an API key or a session; a revoked key for a year
	//   key/{key id}               sort "used"                   the time of its last use, to the minute
	//   link/{hash of code}        sort "link"                   a sign-in link that is not used yet
	//   oauth-code/{hash of code}  sort "code"                   the access that a user gave a program, until a day after
	//   signon/{hash of state}     sort "request"                a sign-in that a browser has begun, 10 minutes
	//   signon/{hash of ticket}    sort "ticket"                 a user whom the provider has authenticated, 2 minutes
	//   {team}/keys                sort {inverted}#{key id}      the team's keys that are not revoked
	//   {team}/keys/{user}         sort {key id}                 the keys and sessions of one user
	Identities = "identities"

	// Usage:
	//   {team}/quota          sort answers-day#{date}            questions of a Pacific day
	//   {team}/quota          sort pat-day#{key id}#{date}       calls of a personal key
	//   {team}/rate           sort "team", key#{key id}          when the bucket of requests per second is full, a day
	//   {team}/{month}        sort {hour}#K#{feature}#{key id}#{user or -}#{client}  counts of an hour
	//   {team}/{month}        sort {hour}#S#{feature}#{source}   counts of an hour and a data source
	//   {team}/users/{month}  sort {user}#{date}#{number}        what a user did on a past day, copied from the counts
	//   {team}/keys/{month}   sort {key}#{date}#{number}         what a key did on a past day, copied from the counts
	//   {team}/folded         sort {date}                        a day that is copied completely; "keys": by key too
	Usage = "usage"

	// Events, the security event feed:
	//   {team}/head           sort "head"                the last number claimed, the last one out of retention, the gaps, what webhook endpoints want
	//   {team}/{number/10000} sort {number, 20 digits}   an event, or the tombstone of a number that stays empty
	//   {team}/marks          sort {time, UTC, ms}       the event number of a time
	//   {team}/head           sort "marks"               counts up with every mark
	//   {team}/once           sort {name}                an event that is recorded once per minute or per day
	//   {team}/webhooks       sort {endpoint}            a webhook endpoint with its encrypted secrets; "all": a version of all
	//   {team}/webhooks/state sort {endpoint}            its lease, and how its deliveries fail
	//   {team}/deliveries/{endpoint} sort {delivery}     an event for the endpoint, 30 days
	//   {team}/waiting/{endpoint} sort {due}#{delivery}  a delivery that waits for its next attempt
	//   pending/{shard}       see package pending
	//   daily                 sort "round"               the progress of the day's round over all teams
	//   sweeps                sort "last"                when the last sweep was, and since when sweeps run regularly
	//   secret                sort "cursor"              the key of the feed's cursors
	Events = "events"
)

// Names lists every table that a deployment needs.
var Names = []string{Collections, Documents, Index, Answers, Identities, Usage, Events}
