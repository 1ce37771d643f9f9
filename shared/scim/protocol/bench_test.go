package protocol_test

import (
	"strings"
	"testing"

	"docent/shared/scim/protocol"
)

func BenchmarkFilters(b *testing.B) {
	for name, filter := range map[string]string{
		"userName": `userName eq "Test_User@example.com"`,
		"emails":   `emails[type eq "work"].value eq "w@testuser.com"`,
		"group":    `displayName eq "Group" and members eq "2819c223"`,
		"nested":   `userName co ".flt." and (displayName eq "Ann" or displayName eq "Bob" and active eq true)`,
		"time":     `meta.lastModified ge "2011-05-13T04:42:34Z" and not (active eq false)`,
		"urn":      enterprise + `:manager.value eq "x" or ` + enterprise + `:department sw "d"`,
	} {
		b.Run("parse "+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := protocol.ParseFilter(filter); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	resource := tree(b, ada)
	b.Run("parse and match", func(b *testing.B) {
		for b.Loop() {
			if _, err := match("User", `userName co ".flt." and (displayName eq "Ann" or active eq true)`, false, resource); err != nil {
				b.Fatal(err)
			}
		}
	})
	// The longest filter on a text of the maximum length of a user.
	resource["title"] = strings.Repeat("\u00c4", 60_000)
	longest := strings.TrimSuffix(strings.Repeat(`title co "zq" or `, 400), " or ")
	b.Run("longest", func(b *testing.B) {
		for b.Loop() {
			if _, err := match("User", longest, false, resource); err != nil {
				b.Fatal(err)
			}
		}
	})
}
