package audit

import (
	"net/netip"
	"strconv"
	"strings"
)

// OCSFVersion is the release that OCSF renders. Events are not stored as OCSF, because its
// meanings change between releases.
const OCSFVersion = "1.8.0"

// severities maps the names of severities to OCSF's severity_id.
var severities = map[string]int{Informational: 1, Low: 2, Medium: 3, High: 4, Critical: 5}

// class returns the OCSF class of e.
func (e Event) class() OCSFClass { return e.entry().class(e.activity()) }

func (entry Entry) class(activity int) OCSFClass {
	return OCSFClass{entry.Class, entry.Class / 1000, activity, entry.Class*100 + activity}
}

// OCSF returns the class of the type. Where the activity depends on the method of each request, it is 0 here.
func (entry Entry) OCSF() OCSFClass { return entry.class(entry.Activity) }

// activity returns the activity_id of e. API Activity has create, read, update and delete; User
// Access assigns or revokes privileges.
func (e Event) activity() int {
	switch entry := e.entry(); {
	case entry.Activity == byMethod:
		switch e.Origin.Request.Method {
		case "POST":
			return 1
		case "GET", "HEAD":
			return 2
		case "PUT", "PATCH":
			return 3
		case "DELETE":
			return 4
		default:
			return other
		}
	case e.Type == UserRoleChanged:
		for _, c := range e.Changes {
			if c.Field == "role" && c.To != "admin" {
				return 2
			}
		}
		return 1
	default:
		return entry.Activity
	}
}

type object = map[string]any

// OCSF returns e as an object of its class in OCSF 1.8.0.
func (e Event) OCSF() map[string]any {
	entry, class := e.entry(), e.class()
	o := object{
		"activity_id": class.ActivityID, "category_uid": class.CategoryUID, "class_uid": class.ClassUID,
		"type_uid": class.TypeUID, "severity_id": severities[entry.Severity], "time": e.OccurredAt.UnixMilli(),
		"message": e.Description(), "status_id": e.statusID(),
		"metadata": object{
			"version": OCSFVersion, "uid": e.ID(), "sequence": e.Sequence, "event_code": string(e.Type),
			"tenant_uid": e.TeamID, "logged_time": e.RecordedAt.UnixMilli(),
			"product": object{"name": "Docent", "vendor_name": "Docent"},
		},
	}
	if class.ActivityID == other {
		o["activity_name"] = "Update"
	}
	if e.Outcome.Reason != "" {
		o["status_detail"] = e.Outcome.Reason
	}
	r := e.Origin.Request
	if e.Outcome.StatusCode != 0 {
		o["status_code"] = strconv.Itoa(e.Outcome.StatusCode)
	}
	if r.ID != "" {
		request := object{"uid": r.ID, "http_method": r.Method, "url": object{"path": r.Path}}
		if agent := e.Origin.Client.UserAgent; agent != "" {
			request["user_agent"] = agent
		}
		o["http_request"] = request
	}
	e.subject(entry, o)
	unmapped := object{}
	if users := e.targetsOf(TargetUser); entry.Class == classGroupManagement && len(users) > 1 {
		unmapped["users"] = users // the class has one user
	}
	if len(e.Changes) > 0 {
		var changes []object
		for _, c := range e.Changes {
			changes = append(changes, object{"field": c.Field, "from": c.From, "to": c.To})
		}
		unmapped["changes"] = changes
	}
	if len(e.Counts) > 0 {
		unmapped["counts"] = e.Counts
	}
	if e.TargetCount > 0 {
		unmapped["targetCount"] = e.TargetCount // of which only MaxTargets are named
	}
	if len(unmapped) > 0 {
		o["unmapped"] = unmapped
	}
	return o
}

// subject adds the fields that the class of e requires.
func (e Event) subject(entry Entry, o object) {
	o["actor"] = e.ocsfActor()
	o["src_endpoint"] = e.endpoint()
	switch entry.Class {
	case classAccountChange, classUserAccess:
		o["user"] = e.user(TargetUser)
		if entry.Class == classUserAccess {
			o["privileges"] = []string{"admin"}
		}
	case classAuthentication:
		o["user"] = e.user("")
		o["service"] = object{"name": "docent"}
	case classGroupManagement:
		group := object{"name": "group"}
		for _, t := range e.Targets {
			if t.Type == TargetGroup {
				group = named(t)
				break
			}
		}
		o["group"] = group
		if users := e.targetsOf(TargetUser); len(users) > 0 {
			o["user"] = users[0]
		}
	default:
		o["api"] = object{"operation": e.operation()}
		var resources []object
		for _, t := range e.Targets {
			resource := named(t)
			resource["type"] = t.Type
			resources = append(resources, resource)
		}
		if resources != nil {
			o["resources"] = resources
		}
	}
}

func (e Event) statusID() int {
	switch e.Outcome.Result {
	case Success:
		return 1
	case Failure:
		return 2
	default:
		return 0
	}
}

func (e Event) ocsfActor() object {
	a := e.Origin.Actor
	if a.kind() == ActorSystem && a.Credential.Type == "" {
		return object{"app_uid": "docent", "app_name": "Docent"}
	}
	return object{"user": e.actorUser()}
}

func (e Event) actorUser() object {
	a := e.Origin.Actor
	user := object{"name": a.name()}
	if a.ID != "" {
		user["uid"] = a.ID
	}
	if a.Email != "" {
		user["email_addr"] = a.Email
	}
	if c := a.Credential; c.ID != "" {
		user["programmatic_credentials"] = []object{{"uid": c.ID, "type": c.Type}}
	}
	return user
}

// user returns the first target of the kind, otherwise the actor.
func (e Event) user(kind string) object {
	if users := e.targetsOf(kind); len(users) > 0 {
		return users[0]
	}
	return e.actorUser()
}

func (e Event) targetsOf(kind string) []object {
	var of []object
	for _, t := range e.Targets {
		if t.Type == kind {
			of = append(of, named(t))
		}
	}
	return of
}

func named(t Target) object {
	o := object{"uid": t.ID}
	if t.DisplayName != "" {
		o["name"] = t.DisplayName
	}
	return o
}

func (e Event) endpoint() object {
	if ip, err := netip.ParseAddr(e.Origin.Client.IP); err == nil {
		return object{"ip": ip.String()}
	}
	return object{"name": "docent"}
}

// operation returns the method and path pattern of the request, or if there was none the type
// of the event.
func (e Event) operation() string {
	r := e.Origin.Request
	if r.Method == "" {
		return string(e.Type)
	}
	if strings.HasPrefix(r.Route, r.Method+" ") {
		return r.Route
	}
	return r.Method + " " + r.Route
}
