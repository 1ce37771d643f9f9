package team

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"docent/shared/fold"
	"docent/shared/table"
)

const teamsPartition = "teams"

func identity(partition, sort string) table.Key {
	return table.Key{Table: table.Identities, Partition: partition, Sort: sort}
}

func teamKey(teamID string) table.Key      { return identity(teamID, "team") }
func teamEntryKey(teamID string) table.Key { return identity(teamsPartition, teamID) }

func userKey(teamID, userID string) table.Key { return identity(teamID+"/users", userID) }
func userNameKey(teamID, userName string) table.Key {
	return identity(userNamesPartition(teamID), fold.Text(userName))
}

// userNameKeys returns the keys under which a user with the name may be stored: the key of the name as it is spelled,
// and those of its other Unicode normal forms. Clients differ in how they spell a letter with an accent. A user is stored under its own
// spelling, and a name that is taken in one of them is taken in all.
func userNameKeys(teamID, userName string) []table.Key {
	var keys []table.Key
	for _, form := range fold.Forms(userName) {
		if k := identity(userNamesPartition(teamID), form); k.Check() == nil {
			keys = append(keys, k)
		}
	}
	return keys
}

func userNamesPartition(teamID string) string { return teamID + "/userNames" }

// adminsKey is the key of the counter of the team's active admins.
func adminsKey(teamID string) table.Key { return identity(teamID, "admins") }

// departedKey marks a deleted user whose keys and memberships are not all deleted yet.
func departedKey(teamID, userID string) table.Key { return identity(teamID+"/departed", userID) }

func inactivePartition(teamID string) string { return teamID + "/inactive" }

// indexKey returns the entry of a user under a value. The value is hashed: it may be longer
// than a key, and only equality matters.
func indexKey(teamID string, field Field, value, userID string) table.Key {
	return identity(teamID+"/by/"+string(field), indexPrefix(value)+userID)
}

func indexPrefix(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:16]) + "/"
}

func recordKey(keyID string) table.Key  { return identity("key/"+keyID, "key") }
func lastUseKey(keyID string) table.Key { return identity("key/"+keyID, "used") }

func keysPartition(teamID string) string { return teamID + "/keys" }
func keyEntryKey(teamID, keyID string, created time.Time) table.Key {
	return identity(keysPartition(teamID), table.Inverted(created)+"#"+keyID)
}

func userKeysPartition(teamID, userID string) string { return teamID + "/keys/" + userID }
func userKeyEntryKey(teamID, userID, keyID string) table.Key {
	return identity(userKeysPartition(teamID, userID), keyID)
}
