package source_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"docent/shared/apierr"
	"docent/shared/memory"
	"docent/shared/memory/memorytest"
	"docent/shared/source"
	"docent/shared/table"
)

func TestNewSettingsAreTriedAtTheProvider(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	secrets := source.Secrets{"token": "t"}
	for name, c := range map[string]struct {
		tried error
		field string // that is refused
		shown string // code of the failure that the source shows
		fails error
	}{
		"they work":            {},
		"a setting is wrong":   {tried: source.BadSetting(&source.SyncError{Code: source.Unauthorized, Detail: "The token is wrong."}, map[string]string{source.Unauthorized: "token"}), field: "/settings/token"},
		"the provider is down": {tried: source.BadSetting(&source.SyncError{Code: source.Unreadable, Detail: "It is down."}, map[string]string{source.Unauthorized: "token"}), shown: source.Unreadable},
		"the check fails":      {tried: broken, fails: broken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLibrary(t, newShelf())
			before := len(l.sources())
			l.syncer.Probe = func(_ context.Context, provider source.ProviderName, a source.Access) error {
				if provider != "shelf" || a.Secrets["token"] != "t" {
					t.Errorf("tried %s %v", provider, a)
				}
				return c.tried
			}
			d, _, err := l.syncer.Create(t.Context(), l.team, source.DataSource{Provider: "shelf", Name: "s"}, secrets)
			var wrong *apierr.Error
			switch {
			case c.field != "":
				if !errors.As(err, &wrong) || wrong.Fields[0].Pointer != c.field || wrong.Fields[0].Detail != "The token is wrong" {
					t.Errorf("error %v", err)
				}
			case !errors.Is(err, c.fails):
				t.Errorf("error %v", err)
			}
			if err != nil {
				if after := len(l.sources()); after != before {
					t.Errorf("%d sources, before %d", after, before)
				}
				return
			}
			for _, shown := range []source.DataSource{d, l.listed(d.ID)} {
				if shown.State != source.Connecting || (shown.LastError != nil) != (c.shown != "") || shown.LastError != nil && shown.LastError.Code != c.shown {
					t.Errorf("shown: %+v %+v", shown, shown.LastError)
				}
			}
		})
	}
}

// TestAProviderThatIsAskedTakesNoPlace: slow ones would otherwise hold up other requests of the team.
func TestAProviderThatIsAskedTakesNoPlace(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	ctx, places := memorytest.OnePlace(t)
	asked := false
	l.syncer.Probe = func(context.Context, source.ProviderName, source.Access) error {
		asked = true
		if held := places.Held(); held != 0 {
			t.Errorf("%d places are held", held)
		}
		return nil
	}
	if _, _, err := l.syncer.Create(ctx, l.team, source.DataSource{Provider: "shelf", Name: "s"}, source.Secrets{"token": "t"}); err != nil {
		t.Fatal(err)
	}
	if !asked {
		t.Error("the provider was not asked")
	}
}

// Whoever names the server decides how much it sends, so that many checks at once could fill the memory.
func TestAProviderIsAskedOnceThereIsMemoryForItsReplies(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, newShelf())
	room := &memory.Room{Places: memory.NewPool(1, 0), Turns: memory.NewPool(1, 0), Writes: memory.NewPool(1, 0), Bytes: memory.NewPool(100<<20, 0)}
	work := room.Work("a")
	defer work.End()
	ctx := memory.WithWork(t.Context(), work)
	asked := 0
	l.syncer.Probe = func(context.Context, source.ProviderName, source.Access) error {
		asked++
		if held := room.Bytes.Held(); held < source.MaxProbed {
			t.Errorf("%d bytes are held for replies", held)
		}
		return nil
	}
	create := func() error {
		_, _, err := l.syncer.Create(ctx, l.team, source.DataSource{Provider: "shelf", Name: "s"}, source.Secrets{"token": "t"})
		return err
	}
	if err := create(); err != nil || asked != 1 || room.Bytes.Held() != 0 {
		t.Errorf("%v, asked %d times, %d bytes are held in the end", err, asked, room.Bytes.Held())
	}
	if err := room.Bytes.Lease("b").Try(100 << 20); err != nil {
		t.Fatal(err)
	}
	if err := create(); !errors.Is(err, memory.ErrBusy) || asked != 1 {
		t.Errorf("without memory: %v, asked %d times", err, asked)
	}
}

func TestAProviderThatDoesNotAnswerStopsNoOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s source.Service
		s.Now = time.Now
		s.Probe = func(ctx context.Context, _ source.ProviderName, _ source.Access) error {
			<-ctx.Done()
			return ctx.Err()
		}
		shown, err := s.Tried(t.Context(), "shelf", source.Access{})
		if err != nil || shown.Code != source.Unreadable {
			t.Errorf("%+v %v", shown, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Tried(ctx, "shelf", source.Access{}); !errors.Is(err, context.Canceled) {
			t.Errorf("the request was canceled: %v", err)
		}
	})
}

// sources returns the ids of the team's sources.
func (l *library) sources() []string {
	l.t.Helper()
	var ids []string
	list, err := l.syncer.List(l.t.Context(), l.team, table.Window{Limit: 100}, func(id string) bool { ids = append(ids, id); return false })
	if err != nil {
		l.t.Fatal(err, list)
	}
	return ids
}
