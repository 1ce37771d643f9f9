package dir

// For tests of the mapping between names and paths.
var (
	PathOf = pathOf
	NameAt = nameAt
)
