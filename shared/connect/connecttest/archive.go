package connecttest

import "strings"

// LeavesOut reports whether the archive of a repository with these gitattributes has no such file. Of patterns it knows folders at the top,
// such as /tests.
func LeavesOut(attributes, name string) bool {
	for line := range strings.Lines(attributes) {
		folder, found := strings.CutSuffix(strings.TrimSpace(line), " export-ignore")
		if found && strings.HasPrefix("/"+name, folder+"/") {
			return true
		}
	}
	return false
}
