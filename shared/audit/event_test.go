package audit_test

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"docent/shared/audit"
)

func TestIDsAreReadableAndSort(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^evt_[0-9A-HJKMNP-TV-Z]{26}$`)
	ordered := func(a, b uint32) bool {
		one, two := audit.EventID(teamID, int64(a)), audit.EventID(teamID, int64(b))
		return form.MatchString(one) && (one < two) == (a < b) && (one == two) == (a == b)
	}
	if err := quick.Check(ordered, nil); err != nil {
		t.Error(err)
	}
	if id := audit.EventID(teamID, 30815); !strings.HasSuffix(id, "0000Y2Z") {
		t.Errorf("30815 is %s", id)
	}
}

func TestCatalogueIsWhole(t *testing.T) {
	t.Parallel()
	seen := map[audit.Type]bool{}
	name := regexp.MustCompile(`^[a-z_]+(\.[a-z_]+)+$`)
	for _, e := range audit.Catalogue {
		if seen[e.Type] || !name.MatchString(string(e.Type)) || e.Category == "" || e.Severity == "" || !strings.HasSuffix(e.Description, ".") || e.Class == 0 {
			t.Errorf("entry %+v", e)
		}
		seen[e.Type] = true
	}
	source, err := os.ReadFile("catalogue.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, constant := range regexp.MustCompile(`Type = "([^"]+)"`).FindAllStringSubmatch(string(source), -1) {
		if !seen[audit.Type(constant[1])] {
			t.Errorf("%s is declared in catalogue.go, but has no entry in Catalogue", constant[1])
		}
	}
	const known = 50 // raise it with a new type
	if len(seen) != known {
		t.Errorf("the catalogue has %d types, and this test knows %d: raise known for a new type; a type is never removed", len(seen), known)
	}
}

// TestEventsAreKeptWhole writes an event with every field and reads it back.
func TestEventsAreKeptWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want := samples()[3]
	want.OccurredAt = time.Date(2026, 11, 21, 9, 14, 1, 679e6, time.UTC)
	want.Targets = []audit.Target{{Type: "apiKey", ID: "k", DisplayName: "CI ingest"}, {Type: "user", ID: "u"}}
	want.TargetCount = 250
	want.Counts = map[string]int64{"documents": 1 << 40}
	want.Changes = []audit.Change{{Field: "dataSourceIds", To: []any{"a", "b"}}, {Field: "active", From: true, To: false}, audit.RedactedChange("hash")}
	if err := w.log.Write(t.Context(), teamID, []audit.Event{want}); err != nil {
		t.Fatal(err)
	}
	got := w.feed(audit.Query{}).Events[0]
	want.Sequence, want.RecordedAt = got.Sequence, got.RecordedAt
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	again, err := w.log.Get(t.Context(), teamID, got.ID())
	if err != nil || !reflect.DeepEqual(again, got) {
		t.Errorf("by id: %+v, %v", again, err)
	}
}

// TestEventsAreBounded records an event that exceeds every limit.
func TestEventsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := strings.Repeat("ü", 10000)
	e := audit.Event{Type: audit.SCIMGroupMemberAdded, Origin: audit.Origin{
		Actor:   audit.Actor{Type: audit.ActorUser, DisplayName: long, Email: long, Credential: audit.Credential{Name: long}},
		Client:  audit.Client{UserAgent: long + "\xff"},
		Request: audit.Request{ID: "r", Method: strings.Repeat("M", 10000), Path: long, Route: "/x"},
	}, Changes: []audit.Change{{Field: "a", From: long, To: []string{long, long}}}}
	for n := range 5000 {
		e.Targets = append(e.Targets, audit.Target{Type: audit.TargetUser, ID: strconv.Itoa(n), DisplayName: long})
	}
	if err := w.log.Write(t.Context(), teamID, []audit.Event{e}); err != nil {
		t.Fatal(err)
	}
	got := w.feed(audit.Query{}).Events[0].Native()
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Targets) != audit.MaxTargets || got.TargetCount != 5000 || len(raw) > 100<<10 {
		t.Errorf("%d targets of %d, %d bytes", len(got.Targets), got.TargetCount, len(raw))
	}
	for name, text := range map[string]string{"actor": got.Actor.DisplayName, "user agent": got.Client.UserAgent,
		"method": got.Request.Method, "path": got.Request.Path, "target": got.Targets[0].DisplayName, "change": got.Changes[0].From.(string)} {
		if n := len([]rune(text)); n != audit.MaxText {
			t.Errorf("%s has %d characters", name, n)
		}
	}
}

func TestDescriptionsReadWell(t *testing.T) {
	t.Parallel()
	ada := audit.Origin{Actor: audit.Actor{Type: audit.ActorUser, ID: "u", DisplayName: "Ada Byron"}}
	for _, test := range []struct {
		event audit.Event
		want  string
	}{
		{audit.Event{Type: audit.APIKeyCreated, Origin: ada, Targets: []audit.Target{{Type: "apiKey", ID: "k", DisplayName: "CI ingest"}}},
			`Ada Byron created the API key "CI ingest"`},
		{audit.Event{Type: audit.CollectionDeleted, Targets: []audit.Target{{Type: "collection", ID: "c-1"}}}, `Docent deleted the collection c-1`},
		{audit.Event{Type: audit.SCIMGroupMemberAdded, Origin: ada, Targets: []audit.Target{{Type: "group", ID: "g", DisplayName: "Staff"}, {Type: "user", ID: "u"}}},
			`Ada Byron added members to the group "Staff"`},
		{audit.Event{Type: audit.AccessDenied, Outcome: audit.Outcome{Reason: "admin-required"},
			Origin: audit.Origin{Actor: audit.Actor{Type: audit.ActorTeam, Credential: audit.Credential{Name: "CI"}}}},
			`The team key "CI" was denied access (admin-required)`},
		{audit.Event{Type: audit.KeyRejected, Outcome: audit.Outcome{Reason: "revoked"}, Targets: []audit.Target{{Type: "apiKey", ID: "k", DisplayName: "CI"}},
			Origin: audit.Origin{Actor: audit.Actor{Type: audit.ActorTeam, Credential: audit.Credential{Name: "CI"}}}},
			`The team key "CI" was refused (revoked)`},
		{audit.Event{Type: audit.SCIMUserDeleted, Targets: []audit.Target{{ID: "a"}, {ID: "b"}, {ID: "c"}}}, `Docent deleted the user a and 2 more`},
		{audit.Event{Type: "later.type", Origin: ada}, `Ada Byron later.type`},
	} {
		if got := test.event.Description(); got != test.want {
			t.Errorf("%s\nwant %s", got, test.want)
		}
	}
}

func TestAPackedOriginIsWhole(t *testing.T) {
	t.Parallel()
	full := audit.Origin{
		Actor:   audit.Actor{Type: "type", ID: "id", DisplayName: "name", Email: "mail", Credential: audit.Credential{Type: "kind", ID: "key", Name: "label"}},
		Client:  audit.Client{IP: "192.0.2.1", UserAgent: "agent"},
		Request: audit.Request{ID: "request", Method: "PUT", Path: "/path", Route: "/route"},
	}
	for _, o := range []audit.Origin{{}, {Actor: full.Actor}, full} {
		if got := audit.UnpackOrigin(o.Packed()); got != o {
			t.Errorf("%+v, want %+v", got, o)
		}
	}
}
