package audit_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"docent/shared/audit"
)

// attribute is an attribute of an OCSF class or object.
type attribute struct {
	Type       string `json:"type"`
	Object     string `json:"object"`
	Array      bool   `json:"array"`
	Required   bool   `json:"required"`
	Deprecated bool   `json:"deprecated"`
	Enum       []int  `json:"enum"`
}

type definition struct {
	Name       string               `json:"name"`
	Category   int                  `json:"category"`
	AtLeastOne []string             `json:"atLeastOne"`
	Attributes map[string]attribute `json:"attributes"`
}

type ocsfSchema struct {
	Version string                `json:"version"`
	Classes map[string]definition `json:"classes"`
	Objects map[string]definition `json:"objects"`
}

func readOCSF(t *testing.T) ocsfSchema {
	t.Helper()
	raw, err := os.ReadFile("testdata/ocsf-1.8.0.json")
	if err != nil {
		t.Fatal(err)
	}
	var s ocsfSchema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// faults returns the violations of d in o.
func (s ocsfSchema) faults(d definition, at string, o map[string]any) []string {
	var found []string
	for name, a := range d.Attributes {
		if _, ok := o[name]; a.Required && !ok {
			found = append(found, at+name+" is required")
		}
	}
	if len(d.AtLeastOne) > 0 && !slices.ContainsFunc(d.AtLeastOne, func(name string) bool { _, ok := o[name]; return ok }) {
		found = append(found, fmt.Sprintf("%sneeds one of %v", at, d.AtLeastOne))
	}
	for name, value := range o {
		a, ok := d.Attributes[name]
		switch {
		case !ok:
			found = append(found, at+name+" is not an attribute")
		case a.Deprecated:
			found = append(found, at+name+" is deprecated")
		case a.Array:
			values, ok := value.([]any)
			if !ok {
				found = append(found, at+name+" is not an array")
			}
			for _, v := range values {
				found = append(found, s.valueFaults(a, at+name, v)...)
			}
		default:
			found = append(found, s.valueFaults(a, at+name, value)...)
		}
	}
	return found
}

func (s ocsfSchema) valueFaults(a attribute, at string, value any) []string {
	if a.Object == "object" {
		return nil // anything is allowed in it
	}
	if a.Object != "" {
		o, ok := value.(map[string]any)
		if !ok {
			return []string{at + " is not an object"}
		}
		d, ok := s.Objects[a.Object]
		if !ok {
			return []string{at + " is of an object that the test does not know: " + a.Object}
		}
		return s.faults(d, at+".", o)
	}
	switch a.Type {
	case "integer_t", "long_t":
		n, ok := value.(float64)
		if !ok || n != math.Trunc(n) {
			return []string{at + " is not an integer"}
		}
		if a.Enum != nil && !slices.Contains(a.Enum, int(n)) {
			return []string{fmt.Sprintf("%s is %v, not one of %v", at, n, a.Enum)}
		}
	case "string_t":
		if _, ok := value.(string); !ok {
			return []string{at + " is not a string"}
		}
	default:
		return []string{at + " has a type that the test does not know: " + a.Type}
	}
	return nil
}

// samples returns events of every type, with and without the request of a user.
func samples() []audit.Event {
	full := audit.Origin{
		Actor: audit.Actor{Type: audit.ActorUser, ID: "0190d2a0-0000-7000-8000-0000000000aa", DisplayName: "Ada Byron", Email: "ada@example.com",
			Credential: audit.Credential{Type: audit.PersonalKey, ID: "k", Name: "laptop"}},
		Client:  audit.Client{IP: "203.0.113.7", UserAgent: "curl/8.9"},
		Request: audit.Request{ID: "r-1", Method: "POST", Path: "/v1/things/7", Route: "/things/{id}"},
	}
	var all []audit.Event
	for _, entry := range audit.Catalogue {
		for _, origin := range []audit.Origin{full, {}, {Actor: audit.Actor{Type: audit.ActorTeam, ID: teamID}},
			{Actor: audit.Actor{Credential: audit.Credential{Type: audit.WebhookSignature}}}} {
			for _, targets := range [][]audit.Target{nil, {{Type: audit.TargetGroup, ID: "g", DisplayName: "Staff"}, {Type: audit.TargetUser, ID: "u"}, {Type: audit.TargetUser, ID: "v"}}} {
				all = append(all, audit.Event{Type: entry.Type, Origin: origin, Targets: targets, TeamID: teamID, Sequence: 7,
					Outcome: audit.Outcome{Result: audit.Failure, Reason: "key-restricted", StatusCode: 403},
					Counts:  map[string]int64{"documents": 7},
					Changes: []audit.Change{{Field: "role", From: "admin", To: "member"}}})
			}
		}
	}
	return all
}

// TestEventsAreValidOCSF checks the rendering of every type against the published definition of
// its class.
func TestEventsAreValidOCSF(t *testing.T) {
	t.Parallel()
	schema := readOCSF(t)
	if schema.Version != audit.OCSFVersion {
		t.Fatalf("definitions of %s, rendering of %s", schema.Version, audit.OCSFVersion)
	}
	for _, e := range samples() {
		raw, err := json.Marshal(e.OCSF())
		if err != nil {
			t.Fatal(err)
		}
		var o map[string]any
		if err := json.Unmarshal(raw, &o); err != nil {
			t.Fatal(err)
		}
		class := fmt.Sprint(o["class_uid"])
		d, ok := schema.Classes[class]
		if !ok {
			t.Fatalf("%s: class %s is not defined", e.Type, class)
		}
		for _, fault := range schema.faults(d, "", o) {
			t.Errorf("%s of %s: %s\n%s", e.Type, d.Name, fault, raw)
		}
		if o["category_uid"] != float64(d.Category) || o["type_uid"] != o["class_uid"].(float64)*100+o["activity_id"].(float64) {
			t.Errorf("%s: category %v, class %v, activity %v, type %v", e.Type, o["category_uid"], o["class_uid"], o["activity_id"], o["type_uid"])
		}
		if n := e.Native(); fmt.Sprint(n.OCSF.TypeUID) != fmt.Sprintf("%.0f", o["type_uid"]) {
			t.Errorf("%s: native says type %d, ocsf %v", e.Type, n.OCSF.TypeUID, o["type_uid"])
		}
	}
}

// TestOCSFSaysHowManyTargetsThereAre: an event names only some of the members of a large change.
func TestOCSFSaysHowManyTargetsThereAre(t *testing.T) {
	t.Parallel()
	e := audit.Event{Type: audit.SCIMGroupMemberAdded, TeamID: teamID, Sequence: 7, Targets: []audit.Target{{Type: audit.TargetGroup, ID: "g"}, {Type: audit.TargetUser, ID: "u"}}, TargetCount: 151}
	unmapped, _ := e.OCSF()["unmapped"].(map[string]any)
	if unmapped["targetCount"] != 151 {
		t.Errorf("unmapped is %v", unmapped)
	}
	e.TargetCount = 0
	if unmapped, ok := e.OCSF()["unmapped"]; ok {
		t.Errorf("unmapped is %v, though all targets are named", unmapped)
	}
}

// TestOCSFCheckFindsFaults checks that the test above can fail.
func TestOCSFCheckFindsFaults(t *testing.T) {
	t.Parallel()
	schema := readOCSF(t)
	for name, o := range map[string]map[string]any{
		"nothing":          {},
		"no such activity": {"activity_id": 77.0},
		"no such member":   {"colour": "red"},
		"a text as a time": {"time": "now"},
		"an actor of none": {"actor": map[string]any{}},
	} {
		before := len(schema.faults(schema.Classes["6003"], "", map[string]any{}))
		if got := len(schema.faults(schema.Classes["6003"], "", o)); got == 0 || len(o) > 0 && got < before {
			t.Errorf("%s: %d faults", name, got)
		}
	}
}

func TestRoleChangesAreAssignedOrRevoked(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]int{"admin": 1, "member": 2} {
		e := audit.Event{Type: audit.UserRoleChanged, Changes: []audit.Change{{Field: "role", To: to}}}
		if got := e.Native().OCSF.ActivityID; got != want {
			t.Errorf("to %s: activity %d, want %d", to, got, want)
		}
	}
	for method, want := range map[string]int{"GET": 2, "POST": 1, "PUT": 3, "PATCH": 3, "DELETE": 4, "PURGE": 99} {
		e := audit.Event{Type: audit.AccessDenied, Origin: audit.Origin{Request: audit.Request{Method: method}}}
		if got := e.Native().OCSF.ActivityID; got != want {
			t.Errorf("denied %s: activity %d, want %d", method, got, want)
		}
	}
}

// TestTheMethodDecidesTheActivity: of every type of event that depends on it.
func TestTheMethodDecidesTheActivity(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, entry := range audit.Catalogue {
		if entry.OCSF().ActivityID != 0 {
			continue
		}
		seen++
		for method, want := range map[string]int{"POST": 1, "GET": 2, "HEAD": 2, "PUT": 3, "PATCH": 3, "DELETE": 4} {
			e := audit.Event{Type: entry.Type, Origin: audit.Origin{Request: audit.Request{Method: method}}}
			if got := e.OCSF()["activity_id"]; got != want {
				t.Errorf("%s by %s is activity %v, want %d", entry.Type, method, got, want)
			}
		}
	}
	if seen < 3 {
		t.Errorf("%d types depend on the method", seen)
	}
}
