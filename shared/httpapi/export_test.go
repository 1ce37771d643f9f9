package httpapi

import (
	"context"
	"maps"
	"slices"

	"docent/shared/document"
	"docent/shared/source"
)

// For fuzz tests and tests of forged cursors.
var (
	DecodeCursor = decodeCursor
	EncodeCursor = encodeCursor
	CheckURI     = document.CheckURI
	WaitOf       = waitOf
	LevelOf      = levelOf
)

// PathsOf returns the paths of an area's operations.
func PathsOf(providers []source.Provider, area Area) []string {
	m := newMux()
	services := Services{Sources: &source.Service{Providers: providers}}
	return slices.Sorted(maps.Keys(m.register(services, []Area{area}).OpenAPI().Paths))
}

// Inflate is inflate outside of a request.
func Inflate(packed []byte) ([]byte, error) { return inflate(context.Background(), packed, nil) }

// UnpackBody is unpackBody outside of a request.
func UnpackBody(body string) (string, error) { return unpackBody(context.Background(), body) }
