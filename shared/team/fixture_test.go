package team_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"docent/shared/apierr"
	"docent/shared/clocktest"
	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
	"docent/shared/team"
)

func newClock(text string) *clocktest.Clock {
	now, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return clocktest.New(now)
}

// fixture is a team with an admin and its own store.
type fixture struct {
	*team.Service
	clock *clocktest.Clock
	team  team.Team
	admin team.User
}

var ids atomic.Int64

func newID() string { return fmt.Sprintf("00000000-0000-7000-8000-%012x", ids.Add(1)) }

func open(t *testing.T) *fixture {
	t.Helper()
	c := newClock("2026-11-21T20:00:00.123456Z")
	return openOn(t, bolttest.OpenAt(t, c.Now), c)
}

func openOn(t *testing.T, store table.Store, c *clocktest.Clock) *fixture {
	t.Helper()
	o := &fixture{Service: service(store, c), clock: c}
	var err error
	if o.team, o.admin, err = o.CreateTeam(t.Context(), "Acme", "Ada@Example.com"); err != nil {
		t.Fatal(err)
	}
	return o
}

// service returns another Service over the same store, with its own cache.
func service(store table.Store, c *clocktest.Clock) *team.Service {
	return &team.Service{Table: store, Now: c.Now, NewID: newID}
}

func (o *fixture) another() *team.Service { return service(o.Table, o.clock) }

func (o *fixture) key(t *testing.T, k team.NewKey) (team.APIKey, string) {
	t.Helper()
	if k.Name == "" {
		k.Name = "laptop"
	}
	if k.Kind == team.KindPersonal && k.UserID == "" {
		k.UserID = o.admin.ID
	}
	made, text, err := o.CreateKey(t.Context(), o.team.ID, k)
	if err != nil {
		t.Fatal(err)
	}
	return made, text
}

// wantCode fails unless err is an error for the client with that code.
func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	if !apierr.IsCode(err, code) {
		t.Fatalf("error %v, want code %s", err, code)
	}
}
