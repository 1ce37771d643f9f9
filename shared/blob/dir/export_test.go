package dir

// For tests of the mapping between names and paths.
var (
	PathOf = pathOf
	NameAt = nameAt
)

// MaxKept is the bound of Kept.
const MaxKept = maxKept

// Kept returns how many files of objects are open.
func (s *Store) Kept() int {
	s.kept.mu.Lock()
	defer s.kept.mu.Unlock()
	return len(s.kept.byName)
}
