import{a as N}from"./part-NJ56GMZW.js";import{a as I}from"./part-7ACE4NH2.js";import{d as M}from"./part-KE7Y7JXD.js";import"./part-F3TKLE5T.js";import{B as x,F as P,L as b,M as E,N as R,P as d,Q as _,R as D,S as T,V as O,X as F,_ as f,b as c,e as a,n as h,z as e}from"./part-ZLWN6YOJ.js";var q=`# Security events

\`GET /v1/security-events\` is a feed that a SIEM polls without missing an event. The same cursor always returns the same
events, perhaps followed by newer ones. Drop repeats by \`id\`; order by \`sequence\` only.

Use a team key: a personal key allows 1,000 calls per day, and polling once per minute makes 1,440.

| Collector | How |
|---|---|
| anything that polls with a cursor | read \`events\`, save \`nextCursor\`, send it as \`after\`; continue at once while \`hasMore\` is true |
| time windows | \`since\` and \`until\`; windows that share a boundary share it exactly, so they tile the feed |
| Splunk, Datadog, Vector, Telegraf, syslog-ng | \`docent events follow --cursor-file F\`, one JSON object per line, into the forwarder |
| Fluent Bit | its input \`exec\` reads until the command ends, so run \`docent events follow --once --cursor-file F\` there, with a \`Buf_Size\` of \`1M\`: a longer line is cut, by default after 4 KB |
| what reads a file line by line | \`docent events follow --cursor-file F >> FILE\`; with \`--once\` and a name with the date, run every minute by cron, no file has to be rotated. A line that a full disk left unfinished is ended by the next run, and its event comes again |
| OCSF 1.8.0 | add \`format=ocsf\`; cursors are the same |

Delivery is at least once: a collector that dies between delivering and saving its cursor delivers again, with the
same \`id\`. Two collectors of time windows that both name the same \`until\` before it has come, and have other windows before it,
may read events of the last minutes twice, because the first of them fixed where that time is.

\`client.ip\` is the address that the connection comes from. On AWS that is the client. Behind a reverse proxy of \`docent serve\` it is the
proxy, whatever \`X-Forwarded-For\` says: let the proxy log the reply header \`X-Request-Id\`, which is \`request.id\` of the event.

A poll of an empty feed has 124 bytes plus headers and costs 2 read units; 1,000 events of requests by people are 1.0 MB
in either format and 115 read units. Replies are not compressed; a proxy that compresses makes it 58 KB. 64 collectors polled one busy
machine without a pause, 840 polls per second. Each got every event that was written in that time. Half of the polls took at most 60 ms,
and 99 of 100 at most 0.3 s.

In the examples \`FEED\` is the URL of the API with \`/v1\`, \`KEY\` a team key, and \`SINK\` takes lines of JSON by POST.

| Example | Tested by running it | Otherwise checked |
|---|---|---|
| Elastic Agent, Filebeat | as printed, in Elastic's CEL evaluator, inside a substitute for the input (\`make collectors\`) | options compared with the input's reference |
| Bento | as printed, in Bento 1.10.0 (\`make collectors\`) | |
| \`docent events follow\` | killed, and with a full disk (\`cmd/docent\`) | |
| Telegraf, syslog-ng | once: Telegraf 1.37.2 (\`execd\`) and syslog-ng 3.38.1 (\`program()\`) started the follower, which was killed; each event arrived once | |
| Fluent Bit | no | compared with the source of its input |
| Splunk | the follower only | settings compared with the specification files of \`inputs.conf\` and \`props.conf\`; their patterns are tested on lines of the feed |
| Google SecOps | no | parsed by Google's client library, without unknown members (\`make collectors\`); how the console writes a reference to a variable is not documented |
| Microsoft Sentinel | no | compared with the reference of RestApiPoller |
| Cribl | no | compared with the reference of Cribl Stream 4.13 and Cribl's own templates of collectors |
| Sumo Logic | no | compared with the reference of the Universal Connector |

Every block below is also parsed by a test, which knows the parameters and members of the feed.

\`make collectors\` lets both collectors poll \`docent serve\` while eight clients write. It kills the server four times, refuses deliveries,
and kills each collector before and after it saves its cursor. Every write arrives in order, and only once after repeats are dropped by
\`id\`.

## After a restore

When Docent is restored from a backup, the events between the backup and the restore are no longer in the feed. A collector need
do nothing, and no new event is missed:

- Every saved cursor and event id stays valid, also one of an event that is lost: it continues with the first event after the restore.
- \`sequence\` continues at about the microseconds since 1970, such as 1795334400000000, so it is still in order. Store it in 64 bits.
- No \`id\` is used again, nor is a \`webhook-id\`. An event that a collector has and the feed has not happened before the restore, and
  what it records is undone. \`GET /v1/security-events/{id}\` answers 404 for it.
- \`since\` with a time returns what is in the backup after that time, and everything since the restore. What a collector has already
  comes with the same \`id\`.
- A collector whose first cursor is newer than the backup gets 400 \`invalid-cursor\` if nothing had read a feed before the backup.
  It begins with \`since\`, the time of its last event.

## Elastic Agent and Filebeat

The CEL input. The value of \`cursor\` survives restarts, by \`id\`; it is saved after the events before it are delivered.

\`\`\`yaml
filebeat.inputs:
  - type: cel
    id: docent
    interval: 1m
    resource.url: \${FEED}
    state:
      token: \${KEY}
    redact.fields: [token]
    program: |
      state.with(
        request("GET", state.url.trim_right("/") + "/security-events?" + {
          "limit": ["200"],
          ?"after": state.?cursor.after.optMap(c, [c]),
        }.format_query()).with({
          "Header": {"Authorization": ["Bearer " + state.token], "Accept": ["application/json"]}
        }).do_request().as(resp, resp.StatusCode == 200 ?
          resp.Body.decode_json().as(body, {
            "events": body.events.map(e, {"message": e.encode_json()}),
            "cursor": {"after": body.nextCursor},
            "want_more": body.hasMore,
          })
        : {
            "events": {"error": {"code": string(resp.StatusCode), "message": "GET security-events: " + string(resp.Body)}},
            "want_more": false,
          })
      )
\`\`\`

## Bento

Events are delivered first, and only then the cursor is saved. The second \`http\` delivers them; use what you need in
its place. The folder \`cursors\` must exist.

\`\`\`yaml
cache_resources:
  - label: cursors
    file: { directory: ./cursors }
input:
  generate: { interval: 5s, mapping: 'root = {}' }
pipeline:
  threads: 1
  processors:
    - cache: { resource: cursors, operator: get, key: security_events }
    - mapping: |
        meta after = if errored() { "" } else { content().string() }
        meta more = "true"
        root = {}
    - catch: []
    - while:
        max_loops: 1000
        check: '!errored() && @more == "true"'
        processors:
          - try:
              - http:
                  url: '\${FEED}/security-events?limit=200&after=\${! @after }'
                  verb: GET
                  headers: { Authorization: 'Bearer \${KEY}' }
              - mapping: |
                  root = this
                  meta after = this.nextCursor
                  meta more = this.hasMore.string()
              - branch:
                  request_map: |
                    root = if this.events.length() == 0 { deleted() } else {
                      this.events.map_each(e -> e.format_json(no_indent: true).string()).join("\\n")
                    }
                  processors:
                    - http: { url: '\${SINK}', verb: POST, headers: { Content-Type: application/x-ndjson } }
              - branch:
                  processors:
                    - cache: { resource: cursors, operator: set, key: security_events, value: '\${! @after }' }
output: { drop: {} }
\`\`\`

## Microsoft Sentinel

\`RestApiPoller\` of the Codeless Connector Framework, the members of \`properties\`. The token is saved between polls, so
that time windows are not used.

\`\`\`json
{"connectorDefinitionName": "Docent", "dataType": "DocentEvents_CL",
 "dcrConfig": {"streamName": "Custom-DocentEvents", "dataCollectionEndpoint": "https://DCE.ingest.monitor.azure.com",
  "dataCollectionRuleImmutableId": "dcr-ID"},
 "auth": {"type": "APIKey", "ApiKey": "[[parameters('apikey')]", "ApiKeyName": "Authorization", "ApiKeyIdentifier": "Bearer"},
 "request": {"apiEndpoint": "https://HOST/v1/security-events", "httpMethod": "GET", "retryCount": 3, "timeoutInSeconds": 60,
  "headers": {"Accept": "application/json"}},
 "paging": {"pagingType": "PersistentToken", "nextPageParaName": "after", "nextPageTokenJsonPath": "$.nextCursor", "hasNextFlagJsonPath": "$.hasMore",
  "pageSizeParameterName": "limit", "pageSize": 200},
 "response": {"eventsJsonPaths": ["$.events"], "format": "json"}}
\`\`\`

To use time windows instead, without loss because they tile the feed: in \`request\` add \`"queryWindowInMin": 5,
"startTimeAttributeName": "since", "endTimeAttributeName": "until"\`, and let \`paging\` be \`{"pagingType": "LinkHeader"}\`.

The data collection rule names the columns; other members are dropped.

\`\`\`json
{"streamDeclarations": {"Custom-DocentEvents": {"columns": [
  {"name": "id", "type": "string"}, {"name": "sequence", "type": "long"}, {"name": "eventType", "type": "string"},
  {"name": "category", "type": "string"}, {"name": "severity", "type": "string"}, {"name": "description", "type": "string"},
  {"name": "occurredAt", "type": "datetime"}, {"name": "recordedAt", "type": "datetime"}, {"name": "outcome", "type": "dynamic"},
  {"name": "actor", "type": "dynamic"}, {"name": "targets", "type": "dynamic"}, {"name": "targetCount", "type": "int"},
  {"name": "client", "type": "dynamic"}, {"name": "request", "type": "dynamic"}, {"name": "changes", "type": "dynamic"},
  {"name": "counts", "type": "dynamic"}]}},
 "dataFlows": [{"streams": ["Custom-DocentEvents"], "destinations": ["WORKSPACE"], "outputStream": "Custom-DocentEvents_CL",
  "transformKql": "source | extend TimeGenerated = recordedAt"}]}
\`\`\`

## Google SecOps, custom API feed

The member \`customApiSettings\` of a feed. A far \`until\` means now, so that paging by token ends; the id of the last event
is the checkpoint, and ids sort as the feed does. Where it says \`<the variable lastEvent>\`, choose the checkpoint's
variable in the console. It is empty at first, which means the oldest event.

\`\`\`json
{"baseUrl": "https://HOST", "pollingFrequency": 5,
 "headerAuth": {"headerKeyValues": [{"key": "Authorization", "value": "Bearer KEY"}]},
 "primaryRequest": {
  "requestSettings": {"endpointPath": "/v1/security-events", "httpMethod": "GET", "queryParameters": [
   {"key": "limit", "value": "200"}, {"key": "until", "value": "9999-12-31T00:00:00Z"}, {"key": "since", "value": "<the variable lastEvent>"}]},
  "responseMapping": {"targetDataPath": ["$.events"]},
  "paginationStrategy": {"token": {"nextPageTokenJsonPath": "$.nextCursor", "queryParam": "after"}},
  "checkpointing": {"latestRecordStrategy": {"checkpointValuePath": "id", "checkpointVariable": "lastEvent"}}}}
\`\`\`

## Splunk

The follower runs as a scripted input of a forwarder; \`interval = 0\` restarts it when it ends. The last line of the script is
\`exec docent events follow --cursor-file /var/lib/docent/events.cursor\`, with \`DOCENT_API_KEY\` in its environment. The
cursor is saved after the lines are written to the forwarder. To request again what a forwarder loses later, use
\`--since ID\` and a new cursor file. \`props.conf\` belongs on the forwarder, the indexers and the search heads. An event of
a hundred targets is longer than the 10,000 bytes at which Splunk would cut it.

\`\`\`ini
# inputs.conf
[script://$SPLUNK_HOME/etc/apps/docent/bin/events.sh]
interval = 0
sourcetype = docent:events

# props.conf
[docent:events]
EVENT_BREAKER_ENABLE = true
EVENT_BREAKER = ([\\r\\n]+)
SHOULD_LINEMERGE = false
LINE_BREAKER = ([\\r\\n]+)
TRUNCATE = 1000000
TIME_PREFIX = "recordedAt":"
TIME_FORMAT = %Y-%m-%dT%H:%M:%S.%3NZ
MAX_TIMESTAMP_LOOKAHEAD = 24
TZ = UTC
KV_MODE = json
\`\`\`

## Cribl

A scheduled REST collector, to import as JSON. A far \`until\` means now, so that paging by links ends; \`maxPages\` 0
lifts Cribl's limit of 50. The state is the id of the last event, which sorts as the feed does and is sent as
\`since\`; it is empty at first. The time filter is off because it would drop what is older than the schedule's range.
The key is the text secret \`docent\`.

\`\`\`json
{"id": "docent", "type": "collection",
 "schedule": {"enabled": true, "cronSchedule": "*/5 * * * *", "maxConcurrentRuns": 1, "skippable": true,
  "run": {"mode": "run", "timeRangeType": "relative", "earliest": "-1d", "latest": "now", "expression": "true",
   "stateTracking": {"enabled": true,
    "stateUpdateExpression": "typeof id === 'string' && {since: (state.since || '') > id ? state.since : id}",
    "stateMergeExpression": "(prevState.since || '') > (newState.since || '') ? prevState : newState"}}},
 "collector": {"type": "rest", "conf": {
  "discovery": {"discoverType": "none"}, "authentication": "none", "disableTimeFilter": true,
  "collectUrl": "'https://HOST/v1/security-events'", "collectMethod": "get",
  "collectRequestParams": [{"name": "limit", "value": "'200'"}, {"name": "until", "value": "'9999-12-31T00:00:00Z'"},
   {"name": "since", "value": "\`\${state.since || ''}\`"}],
  "collectRequestHeaders": [{"name": "Authorization", "value": "\`Bearer \${C.Secret('docent', 'text').value}\`"}],
  "pagination": {"type": "response_header_link", "nextRelationAttribute": "next", "maxPages": 0},
  "retryRules": {"type": "backoff", "interval": 1000, "limit": 5, "multiplier": 2, "codes": [429, 503], "enableHeader": true}}},
 "input": {"type": "collection", "sendToRoutes": true, "breakerRulesets": ["docent"]}}
\`\`\`

Its event breaker makes one event of each member of \`events\` and extracts its members, which the state needs.

\`\`\`json
{"id": "docent", "minRawLength": 256, "rules": [{"name": "events", "condition": "true", "type": "json_array",
 "jsonArrayField": "events", "jsonExtractAll": true, "timestampAnchorRegex": "/\\"recordedAt\\":\\"/",
 "timestamp": {"type": "auto", "length": 150}, "timestampTimezone": "utc", "maxEventBytes": 1000000}]}
\`\`\`

## Sumo Logic

The Universal Connector uses time windows. It starts at most 31 days back (\`Initial Lookback\`).

| Setting | Value |
|---|---|
| Authentication | Bearer, a team key |
| Endpoint URL | \`https://HOST/v1/security-events\` |
| Request parameters | \`limit\` = \`200\`, \`since\` = \`{{ .WindowStartUTC "2006-01-02T15:04:05Z" }}\`, \`until\` = \`{{ .WindowEndUTC "2006-01-02T15:04:05Z" }}\` |
| Tracking progression | Time Window, \`5m\` |
| Response | JSON with JPath: logs \`$.events[*]\`, timestamp \`$.recordedAt\`, format \`2006-01-02T15:04:05.999Z07:00\` |
| Pagination | RFC 8288 Link Headers, in the headers |
`;var B=q.replaceAll("${FEED}",h).replaceAll("https://HOST",h.replace(/\/v1$/,"")).split(`
## `).slice(1).map(t=>[t.slice(0,t.indexOf(`
`)),t.slice(t.indexOf(`
`)+1)]).filter(([t])=>t!=="After a restore");function K({onClose:t}){let[r,s]=a(""),p=B.find(([i])=>i===r)?.[1];return e(f,{wide:!0,title:"Connect a collector",onClose:t,children:[e("p",{children:["Use a team key with the scope Audit, in place of ",e("code",{children:"KEY"}),". Each event comes at least once: drop repeats by ",e("code",{children:"id"}),"."]}),e(F,{label:"Collector",children:i=>e("select",{...i,value:r,onChange:l=>s(l.currentTarget.value),children:[e("option",{value:"",children:"Any program"}),B.map(([l])=>e("option",{children:l},l))]})}),p===void 0?e(H,{}):e(j,{text:p},r),e("div",{class:"actions",children:e("button",{type:"button",onClick:t,children:"Close"})})]})}function H(){return e(c,{children:[e("p",{children:["Read ",e("code",{children:"events"}),", save ",e("code",{children:"nextCursor"}),", and send it as ",e("code",{children:"after"})," with the next request. Continue at once while ",e("code",{children:"hasMore"})," is true."]}),e(d,{text:`curl -H "Authorization: Bearer KEY" "${h}/security-events?limit=200"`,what:"the request"}),e("p",{children:"Or let Docent do that, and print one event a line:"}),e(d,{text:`export DOCENT_SERVER=${h}
export DOCENT_API_KEY=KEY
docent events follow --cursor-file events.cursor`,what:"the command"})]})}function j({text:t}){return e(c,{children:t.split(/^```.*\n/m).map((r,s)=>s%2?e(d,{text:r.trimEnd(),what:"the settings"},s):r.trim()&&e(I,{text:r},s))})}var U=[["","All categories"],["authentication","Authentication"],["identity","Identity"],["configuration","Configuration"],["data","Data"],["activity","Activity"]];function ae(){return M()?e(G,{}):e(b,{title:"Security events",children:e(T,{title:"Only admins see security events",children:"Ask an admin of your team."})})}function G(){let[t,r]=a(""),[s,p]=a(""),[i,l]=a({events:[],next:null}),y=P(),[m,v]=a(),[L,k]=a(!1),A=n=>N({...t&&{category:t},...s&&{outcome:s}},50,n),C=x(()=>A(),[t,s]),u=C.value,S=u&&i.of===u,g=S?i.events:[],w=S?i.next:u?.hasMore?u.nextCursor:null;return e(b,{wide:!0,title:"Security events",about:"Who did what. A SIEM or another collector can read the same feed.",actions:e(c,{children:[e("button",{type:"button",onClick:()=>k(!0),children:"Connect a collector"}),e("select",{"aria-label":"Category",class:"auto",value:t,onChange:n=>r(n.currentTarget.value),children:U.map(([n,o])=>e("option",{value:n,children:o},n))}),e("select",{"aria-label":"Outcome",class:"auto",value:s,onChange:n=>p(n.currentTarget.value),children:[e("option",{value:"",children:"All outcomes"}),e("option",{value:"success",children:"Success"}),e("option",{value:"failure",children:"Failure"})]})]}),children:[e(D,{of:C,bones:8,children:n=>n.events.length+g.length===0?e(T,{title:"No such events",children:w?"Nothing was recorded lately with these filters.":"Nothing was recorded with these filters."}):e("div",{class:"table cards",children:e("table",{children:[e(O,{names:["Event","Type","From","When",""]}),e("tbody",{children:[...n.events,...g].map(o=>e("tr",{children:[e("td",{"data-label":"Event",children:e("div",{class:"wrap",children:[o.description,o.outcome.result==="failure"&&e(c,{children:[" ",e(E,{tone:"bad",children:o.outcome.reason??"failed"})]}),(o.severity==="high"||o.severity==="critical")&&e(c,{children:[" ",e(E,{tone:"warn",children:o.severity})]})]})}),e("td",{"data-label":"Type",children:e("code",{children:o.eventType})}),e("td",{"data-label":"From",class:"fit",children:e("code",{children:o.client?.ip??"Docent"})}),e("td",{"data-label":"When",class:"fit",children:e(R,{at:o.occurredAt})}),e("td",{"data-label":"",class:"fit",children:e("button",{type:"button",class:"plain",onClick:()=>v(o),children:["Details",e("span",{class:"hidden",children:[" of ",o.description]})]})})]},o.id))})]})})}),e(_,{error:y.error}),w&&e("div",{children:e("button",{type:"button",disabled:y.busy,onClick:()=>y.run(async()=>{let n=await A(w);l({of:u,events:[...g,...n.events],next:n.hasMore?n.nextCursor:null})}),children:"Older events"})}),L&&e(K,{onClose:()=>k(!1)}),m&&e(f,{title:m.eventType,onClose:()=>v(void 0),children:[e("p",{children:m.description}),e(d,{text:JSON.stringify(m,null,2),what:"the event"}),e("div",{class:"actions",children:e("button",{type:"button",onClick:()=>v(void 0),children:"Close"})})]})]})}export{ae as Events};
