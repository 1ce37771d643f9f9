package answer

import (
	"context"
	"slices"
	"time"

	"docent/shared/apierr"
	"docent/shared/document"
	"docent/shared/search"
)

// AccessChanged is the code of an answer that its reader may no longer read, because it
// was made from a document that they may no longer read. The answer is kept: a team key
// reads it, and so does the person once they may read the document again.
const AccessChanged = apierr.CodeAccessChanged

// withhold replaces the text of those of answers that asker may not read: an answer made from a document that asker may not
// read at this moment, or from a text that asker might not read when it was replaced, and one made from a deleted document
// that not everyone could read. So a restricted key does not get an answer whose document has moved out of its sources, and
// a person who lost access to a document does not get its answers back when it is deleted, or when another text, perhaps
// their own, is put at its URI afterwards.
func (s *Service) withhold(ctx context.Context, teamID string, asker Asker, answers ...*Answer) error {
	if asker.Reader.All() && asker.Sources == nil {
		return nil
	}
	made, first := make([]map[string]time.Time, len(answers)), map[string]time.Time{}
	for i, a := range answers {
		if a.State != Complete {
			continue
		}
		made[i] = a.madeFrom(teamID)
		for id, at := range made[i] {
			if earlier, ok := first[id]; !ok || at.Before(earlier) {
				first[id] = at
			}
		}
	}
	if len(first) == 0 {
		return nil
	}
	hidden, gone, err := s.Unreadable(ctx, teamID, asker, first)
	if err != nil {
		return err
	}
	for i, a := range answers {
		for id, at := range made[i] {
			if at.Before(hidden[id]) || at.Before(gone[id]) && slices.Contains(a.Restricted, id) {
				a.withheld()
				break
			}
		}
	}
	return nil
}

// madeFrom returns the ids of the documents that a was made from, each with a time at which it had the text that a was made from.
// Clocks differ, and a text may be replaced between the question and its answer, so this is when the text became current. Answers of
// releases that did not store that have the time of the question, and those that did not store the documents were made from those
// that they refer to.
func (a Answer) madeFrom(teamID string) map[string]time.Time {
	made := map[string]time.Time{}
	for i, id := range a.Documents {
		if made[id] = a.AskedAt; i < len(a.Texts) {
			made[id] = time.UnixMilli(a.Texts[i])
		}
	}
	if a.Documents != nil {
		return made
	}
	for _, r := range a.References {
		if id, err := document.ID(teamID, r.HTMLURL); err == nil {
			made[id] = a.AskedAt
		}
	}
	return made
}

func (a *Answer) withheld() {
	a.State, a.Markdown, a.References, a.Documents, a.Texts, a.Restricted = Failed, "", nil, nil, nil, nil
	a.Failure = &Failure{AccessChanged, "You may no longer read a document that this answer was made from. Ask again under a new id."}
}

// whileReadable wraps written, which may be nil, for a text that is made from the passages found: once the asker of a may no
// longer read one of their documents, written is not called any more. The answer is stored anyway, and withheld from everyone
// who may not read it.
func (w *Worker) whileReadable(ctx context.Context, a Answer, found []search.Hit, written func(Composed)) func(Composed) {
	if written == nil {
		return nil
	}
	made := document.OfHits(found)
	watch := document.NewWatch(w.Now, func(ctx context.Context) (closed bool, err error) {
		reader, err := w.readerOf(ctx, a)
		if err != nil {
			return false, err
		}
		hidden, _, err := w.Unreadable(ctx, a.TeamID, Asker{Reader: reader, Sources: a.Sources}, made)
		return len(hidden) > 0, err
	})
	return func(c Composed) {
		if watch.Check(ctx) == nil { // after a failure, the next text has this one, too
			written(c)
		}
	}
}
