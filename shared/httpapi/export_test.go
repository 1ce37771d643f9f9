package httpapi

// What fuzz tests and tests of forged cursors reach into.
var (
	DecodeCursor = decodeCursor
	EncodeCursor = encodeCursor
	CheckURI     = checkURI
	UnpackBody   = unpackBody
	WaitOf       = waitOf
	Inflate      = inflate
)
