package answer

import (
	"docent/shared/search"
	"docent/shared/table"
)

// Stored is an answer written as an item and read back.
func Stored(a Answer) (Answer, table.Item, error) {
	item, err := toItem(a)
	if err != nil {
		return Answer{}, table.Item{}, err
	}
	back, err := fromItem(item)
	return back, item, err
}

// MayRead is Asker.mayRead.
func (a Asker) MayRead(teamID string, of Answer) bool { return a.mayRead(teamID, of) }

// EntriesOf are the sources that each list entry of a shows, by its partition.
func EntriesOf(a Answer) map[string][]string {
	entries := map[string][]string{}
	for _, e := range listEntries(a) {
		entries[e.Partition] = entrySources(e)
	}
	return entries
}

// Gaps groups answers as Service.Unanswered does.
func Gaps(answers ...Answer) []*Gap {
	g := grouping{with: map[string][]int{}}
	for _, a := range answers {
		g.add(a)
	}
	return sorted(g.gaps)
}

// Searches returns what is searched for, in order, to answer a question that follows those before.
func Searches(question string, before ...string) (texts []string) {
	for _, s := range searches(question, lastLines(before)) {
		texts = append(texts, s.text)
	}
	return texts
}

// PartsOf is partsOf.
func PartsOf(question string) []string { return partsOf(question) }

// Joined is joined.
func Joined(parts []search.Part) search.Result { return joined(parts) }
