package httpapi

import "docent/shared/document"

// What fuzz tests and tests of forged cursors reach into.
var (
	DecodeCursor = decodeCursor
	EncodeCursor = encodeCursor
	CheckURI     = document.CheckURI
	UnpackBody   = unpackBody
	WaitOf       = waitOf
)

// Inflate is inflate with a budget of its own.
func Inflate(packed []byte) ([]byte, error) {
	l := &lease{from: newBudget(bodyBudget)}
	defer l.end()
	return inflate(packed, l)
}
