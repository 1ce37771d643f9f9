package team

import (
	"time"

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
	return identity(teamID+"/userNames", FoldName(userName))
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
