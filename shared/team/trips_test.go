package team_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"docent/shared/apierr"
	"docent/shared/quota"
	"docent/shared/table"
	"docent/shared/table/bolt/bolttest"
	"docent/shared/team"
)

// watched is a store that tests observe, delay and break.
type watched struct {
	table.Store
	get func(ctx context.Context, k table.Key, eventual bool) error // an error instead of the item
	add func(ctx context.Context, k table.Key) error

	write func() // before every Write
}

func (w *watched) Get(ctx context.Context, k table.Key, opts ...table.ReadOption) (table.Item, error) {
	if w.get != nil {
		if err := w.get(ctx, k, len(opts) > 0); err != nil {
			return table.Item{}, err
		}
	}
	return w.Store.Get(ctx, k, opts...)
}

func (w *watched) Add(ctx context.Context, a table.Add) (table.Item, error) {
	if w.add != nil {
		if err := w.add(ctx, a.Key); err != nil {
			return table.Item{}, err
		}
	}
	return w.Store.Add(ctx, a)
}

func (w *watched) Write(ctx context.Context, ops ...table.Op) error {
	if w.write != nil {
		w.write()
	}
	return w.Store.Write(ctx, ops...)
}

func openWatched(t *testing.T) (*fixture, *watched) {
	t.Helper()
	c := newClock("2026-11-21T20:00:00Z")
	w := &watched{Store: bolttest.OpenAt(t, c.Now)}
	return openOn(t, w, c), w
}

func TestCallsToTheStore(t *testing.T) {
	t.Parallel()
	o := open(t)
	for _, c := range []struct {
		kind             team.Kind
		read, remembered int
	}{{team.KindPersonal, 3, 1}, {team.KindTeam, 1, 0}, {team.KindSCIM, 1, 0}} {
		_, text := o.key(t, team.NewKey{Kind: c.kind})
		for _, want := range []int{c.read, c.remembered} {
			ctx, meter := table.WithMeter(t.Context())
			if _, err := o.Authenticate(ctx, text); err != nil {
				t.Fatal(err)
			}
			if got := meter.Read(); got.Calls != want {
				t.Errorf("%s key: %+v, want %d calls", c.kind, got, want)
			}
		}
	}
	ctx, meter := table.WithMeter(t.Context())
	if _, err := o.Authenticate(ctx, "docent_pat_mistyped"); err == nil || meter.Read().Calls != 0 {
		t.Errorf("a malformed key: %v, %+v", err, meter.Read())
	}
}

// TestCallsAreCountedOnAFullDisk: people could not read, or remove what fills it, if their calls were refused.
func TestCallsAreCountedOnAFullDisk(t *testing.T) {
	t.Parallel()
	o, w := openWatched(t)
	_, text := o.key(t, team.NewKey{Kind: team.KindPersonal})
	w.add = func(ctx context.Context, _ table.Key) error {
		if !table.IsFreeing(ctx) {
			return table.ErrFull
		}
		return nil
	}
	for range 2 {
		if a, err := o.Authenticate(t.Context(), text); err != nil || len(a.Quotas) != 1 {
			t.Errorf("%+v, %v", a.Quotas, err)
		}
	}
}

// TestUserIsReadInParallelWithTheCount lets neither call end before the other has begun, so the two of
// a personal key are one round trip.
func TestUserIsReadInParallelWithTheCount(t *testing.T) {
	t.Parallel()
	o, w := openWatched(t)
	_, text := o.key(t, team.NewKey{Kind: team.KindPersonal})
	reading, counting := make(chan struct{}), make(chan struct{})
	meet := func(ctx context.Context, mine, other chan struct{}) error {
		close(mine)
		select {
		case <-other:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	w.get = func(ctx context.Context, k table.Key, _ bool) error {
		if k.Partition != o.team.ID+"/users" {
			return nil
		}
		return meet(ctx, reading, counting)
	}
	w.add = func(ctx context.Context, _ table.Key) error { return meet(ctx, counting, reading) }
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := o.Authenticate(ctx, text); err != nil {
		t.Error(err)
	}
}

// TestReadsThatLag simulates a store whose eventual reads miss the newest writes: what was just
// created still works.
func TestReadsThatLag(t *testing.T) {
	t.Parallel()
	o, w := openWatched(t)
	_, text := o.key(t, team.NewKey{Kind: team.KindPersonal})
	var lagged atomic.Int64
	w.get = func(_ context.Context, _ table.Key, eventual bool) error {
		if eventual {
			lagged.Add(1)
			return table.ErrNotFound
		}
		return nil
	}
	if _, err := o.Authenticate(t.Context(), text); err != nil || lagged.Load() != 2 {
		t.Errorf("%v after %d eventual reads, want the key's and the user's", err, lagged.Load())
	}
}

func TestStoreThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, c := range []struct {
		name       string
		partition  string // whose calls fail
		remembered bool
		err        error
	}{
		{"the key", "key/", false, broken},
		{"the user", "/users", false, broken},
		{"the count", "/quota", false, table.ErrThrottled},
		{"the count, from memory", "/quota", true, context.DeadlineExceeded},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o, w := openWatched(t)
			k, text := o.key(t, team.NewKey{Kind: team.KindPersonal})
			if c.remembered {
				if _, err := o.Authenticate(t.Context(), text); err != nil {
					t.Fatal(err)
				}
			}
			fail := func(partition string) error {
				if partition == "key/"+k.ID && c.partition == "key/" || partition == o.team.ID+c.partition {
					return c.err
				}
				return nil
			}
			w.get = func(_ context.Context, k table.Key, _ bool) error { return fail(k.Partition) }
			w.add = func(_ context.Context, k table.Key) error { return fail(k.Partition) }
			_, err := o.Authenticate(t.Context(), text)
			var public *apierr.Error
			if !errors.As(err, &public) || public.Kind != apierr.Unavailable || public.Code != apierr.CodeUnavailable || !errors.Is(err, c.err) {
				t.Errorf("%v, want unavailable because of %v", err, c.err)
			}
			w.get, w.add = nil, nil
			if _, err := o.Authenticate(t.Context(), text); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// TestADiskThatTakesNothingCanBeRead with every key. A quota that was used up before stays so.
func TestADiskThatTakesNothingCanBeRead(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]error{"full": syscall.ENOSPC, "read-only": syscall.EROFS, "moved": table.ErrMoved} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, w := openWatched(t)
			_, used := o.key(t, team.NewKey{Kind: team.KindPersonal})
			_, fresh := o.key(t, team.NewKey{Kind: team.KindPersonal})
			spent, text := o.key(t, team.NewKey{Kind: team.KindPersonal})
			session, _ := o.opened(t, used)
			day := quota.Day(o.Now())
			all := quota.Step(quota.CallsKey(o.team.ID, spent.ID, day), day, quota.CallsPerDay)
			for name := range all.By {
				all.By[name] = quota.CallsPerDay
			}
			if _, err := o.Table.Add(t.Context(), all); err != nil {
				t.Fatal(err)
			}
			w.add = func(context.Context, table.Key) error { return fails }
			for key, calls := range map[string]int64{used: 1, fresh: 0} {
				got, err := o.Authenticate(t.Context(), key)
				if err != nil || len(got.Quotas) != 1 || got.Quotas[0].Used != calls {
					t.Errorf("after %d calls: %+v, %v", calls, got.Quotas, err)
				}
			}
			if _, err := o.AuthenticateSession(t.Context(), session); err != nil {
				t.Errorf("a session: %v", err)
			}
			var exceeded *quota.ExceededError
			if _, err := o.Authenticate(t.Context(), text); !errors.As(err, &exceeded) {
				t.Errorf("a used-up quota: %v", err)
			}
		})
	}
}

func TestTouchThatFailsIsReported(t *testing.T) {
	t.Parallel()
	o, w := openWatched(t)
	broken := errors.New("broken")
	w.add = func(context.Context, table.Key) error { return broken }
	if err := o.Touch(t.Context(), team.Principal{KeyID: someID}); !errors.Is(err, broken) {
		t.Errorf("Touch = %v", err)
	}
	if err := o.StartTouching(t.Context(), team.Principal{KeyID: someID})(); !errors.Is(err, broken) {
		t.Errorf("StartTouching = %v", err)
	}
}

func TestDamagedRecordsAreInternalErrors(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"key", "user"} {
		o := open(t)
		k, text := o.key(t, team.NewKey{Kind: team.KindPersonal})
		at := table.Key{Table: table.Identities, Partition: "key/" + k.ID, Sort: "key"}
		if what == "user" {
			at = table.Key{Table: table.Identities, Partition: o.team.ID + "/users", Sort: o.admin.ID}
		}
		if err := o.Table.Write(t.Context(), table.Put{Item: table.Item{Key: at, Version: 1, Body: []byte("{")}}); err != nil {
			t.Fatal(err)
		}
		_, err := o.Authenticate(t.Context(), text)
		var public *apierr.Error
		if err == nil || errors.As(err, &public) {
			t.Errorf("damaged %s: %v", what, err)
		}
	}
}

// TestExactlyAThousandCalls makes 1,100 calls in parallel, on two services.
func TestExactlyAThousandCalls(t *testing.T) {
	t.Parallel()
	o := open(t)
	_, text := o.key(t, team.NewKey{Kind: team.KindPersonal})
	services := []*team.Service{o.Service, o.another()}
	var passed, refused atomic.Int64
	var seen sync.Map
	var wg sync.WaitGroup
	for i := range 1100 {
		wg.Go(func() {
			a, err := services[i%2].Authenticate(t.Context(), text)
			switch {
			case err == nil:
				passed.Add(1)
				if _, twice := seen.LoadOrStore(a.Quotas[0].Used, true); twice {
					t.Errorf("count %d was given twice", a.Quotas[0].Used)
				}
			case apierr.IsCode(err, apierr.CodeQuotaExceeded):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if passed.Load() != 1000 || refused.Load() != 100 {
		t.Errorf("%d passed and %d were refused", passed.Load(), refused.Load())
	}
}
