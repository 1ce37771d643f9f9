package team_test

import (
	"errors"
	"testing"

	"docent/shared/table"
	"docent/shared/team"
	"docent/shared/team/teamtest"
)

// The same name, with its accents as letters of their own and without.
const composed, decomposed = "Ren\u00e9.\u00c5ngstr\u00f6m", "Rene\u0301.A\u030angstro\u0308m"

// TestANameIsTakenInEverySpelling gives names to two users that differ only in how Unicode encodes their accents.
func TestANameIsTakenInEverySpelling(t *testing.T) {
	t.Parallel()
	for first, second := range map[string]string{composed: "RENE\u0301.A\u030aNGSTRO\u0308M", decomposed: composed} {
		o := open(t)
		rene := o.profile(t, `{"userName":"`+first+`"}`)
		if _, err := teamtest.CreateUser(t.Context(), o.Service, o.team.ID, second, team.RoleMember); !errors.Is(err, team.ErrUserNameTaken) {
			t.Errorf("%+q in addition to %+q: %v", second, first, err)
		}
		ada := o.profile(t, `{"userName":"ada"}`)
		if _, err := o.change(t, ada, `{"userName":"`+second+`"}`); !errors.Is(err, team.ErrUserNameTaken) {
			t.Errorf("ada becomes %+q in addition to %+q: %v", second, first, err)
		}
		o.found(t, team.ByUserName, second, rene.ID)
		if u, err := o.UserByName(t.Context(), o.team.ID, second); err != nil || u.ID != rene.ID || u.UserName != first {
			t.Errorf("%+v, %v", u, err)
		}
		// The user may be spelled otherwise, and has one name then.
		rene, err := o.change(t, rene, `{"userName":"`+second+`"}`)
		if err != nil {
			t.Fatal(err)
		}
		o.found(t, team.ByUserName, first, rene.ID)
		if _, err := o.change(t, rene, `{"userName":"r"}`); err != nil {
			t.Fatal(err)
		}
		o.found(t, team.ByUserName, first)
		o.profile(t, `{"userName":"`+first+`"}`)
	}
}

// TestNamesOfBothSpellingsStayWhoTheyAre has two users whose names an earlier release took for different ones.
func TestNamesOfBothSpellingsStayWhoTheyAre(t *testing.T) {
	t.Parallel()
	o := open(t)
	one, other := o.profile(t, `{"userName":"`+composed+`"}`), o.profile(t, `{"userName":"other"}`)
	const folded = "rene\u0301.a\u030angstro\u0308m"
	name := table.Item{Key: table.Key{Table: table.Identities, Partition: o.team.ID + "/userNames", Sort: folded}, Version: 1, Strings: map[string]string{"user": other.ID}}
	if err := o.Table.Write(t.Context(), table.Put{Item: name}); err != nil {
		t.Fatal(err)
	}
	ids, err := o.UserIDsByName(t.Context(), o.team.ID, []string{composed, decomposed})
	if err != nil || ids[composed] != one.ID || ids[decomposed] != other.ID {
		t.Errorf("%v, %v", ids, err)
	}
	if _, err := o.change(t, one, `{"userName":"`+composed+`","title":"t"}`); err != nil {
		t.Error(err)
	}
}
