package httpapi

import (
	"maps"
	"slices"

	"docent/shared/document"
)

// What fuzz tests and tests of forged cursors reach into.
var (
	DecodeCursor = decodeCursor
	EncodeCursor = encodeCursor
	CheckURI     = document.CheckURI
	UnpackBody   = unpackBody
	LevelOf      = levelOf
	WaitOf       = waitOf
)

// PathsOf are the paths of an area's operations.
func PathsOf(area Area) []string {
	m := newMux()
	return slices.Sorted(maps.Keys(m.register(Services{}, []Area{area}).OpenAPI().Paths))
}

// Inflate is inflate with a budget of its own.
func Inflate(packed []byte) ([]byte, error) {
	l := &lease{from: newBudget(bodyBudget)}
	defer l.end()
	return inflate(packed, l)
}
