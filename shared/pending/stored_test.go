package pending

import (
	"testing"

	"docent/shared/storedtest"
	"docent/shared/table"
)

func TestStoredFormsRoundTrip(t *testing.T) {
	t.Parallel()
	again := func(item table.Item) (table.Item, error) {
		w, err := Decode(item.Body)
		if err != nil {
			return item, err
		}
		promised := w.Promise().Item
		promised.Numbers = map[string]int64{}
		for _, name := range []string{"sends", "next", "attempts", "until"} { // added by Sweep and Begin
			if n, ok := item.Numbers[name]; ok {
				promised.Numbers[name] = n
			}
		}
		return promised, nil
	}
	forms := map[string]func(table.Item) (table.Item, error){}
	for _, f := range storedtest.Forms {
		if f.Partition == "pending/{number}" || f.Partition == "pending-files/{number}" {
			forms[f.Name()] = again
		}
	}
	storedtest.RoundTrip(t, forms)
}

func TestStoredMessagesDecode(t *testing.T) {
	t.Parallel()
	for _, f := range storedtest.Fixtures(t) {
		if f.Engine != storedtest.AWS {
			continue
		}
		for _, queue := range []string{"questions", "documents", "syncs"} {
			for _, message := range storedtest.Lines(t, f.FS(t), "queues/"+queue) {
				for what, body := range map[string][]byte{"": message, " of a later version": storedtest.WithUnknown(table.Item{Body: message}).Body} {
					if _, err := Decode(body); err != nil {
						t.Errorf("%s: a message%s of %s, %s: %v", f.Name(), what, queue, body, err)
					}
				}
			}
		}
	}
}

func TestEveryFieldIsStored(t *testing.T) {
	t.Parallel()
	storedtest.KeepFields(t, map[string]storedtest.Record{
		"documents: pending/{number} | {number}#remove-document#{doc}#{number}": storedtest.Fields(
			func(w Work) (table.Item, error) { return w.Promise().Item, nil },
			func(item table.Item) (Work, error) { return Decode(item.Body) },
			func(w *Work) { w.Kind = RemoveDocument }),
	})
}
