package blobtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"docent/shared/blob"
)

func collect(ctx context.Context, s blob.Store, prefix string) ([]string, error) {
	var names []string
	for info, err := range s.List(ctx, prefix) {
		if err != nil {
			return names, err
		}
		names = append(names, info.Name)
	}
	return names, nil
}

func wantList(t *testing.T, s blob.Store, prefix string, want []string) {
	t.Helper()
	got, err := collect(t.Context(), s, prefix)
	if err != nil {
		t.Fatalf("List(%q): %v", prefix, err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("List(%q) = %d names %.300q, want %d %.300q", prefix, len(got), got, len(want), want)
	}
}

// putMany stores n objects from several goroutines and returns their names in order.
func putMany(t *testing.T, s blob.Store, prefix string, n int) []string {
	t.Helper()
	const writers = 8
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s%04d", prefix, i)
	}
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for i := w; i < n; i += writers {
				if err := s.Put(t.Context(), names[i], []byte(names[i])); err != nil {
					t.Errorf("Put(%s): %v", names[i], err)
					return
				}
			}
		})
	}
	wait.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return names
}

func list(t *testing.T, s blob.Store) {
	began := time.Now()
	const many = 1100 // more than one page of S3
	names := putMany(t, s, "many/", many)
	put(t, s, "man", []byte("before"))
	put(t, s, "many-more", []byte("beside"))
	put(t, s, "z", []byte("after"))
	wantList(t, s, "many/", names)
	wantList(t, s, "many/05", names[500:600])
	wantList(t, s, "many/0500", names[500:501])
	wantList(t, s, "many/none", nil)
	wantList(t, s, "none/", nil)
	all := slices.Concat([]string{"man", "many-more"}, names, []string{"z"})
	wantList(t, s, "", all)
	for _, c := range []struct {
		prefix, after string
		want          []string
	}{
		{"", "", all}, {"", "man", all[1:]}, {"many/", names[599], names[600:]}, {"many/", "many/0599x", names[600:]},
		{"many/", "a", names}, {"many/", "z", nil}, {"", "z", nil},
	} {
		var got []string
		for info, err := range s.ListAfter(t.Context(), c.prefix, c.after) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, info.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("ListAfter(%q, %q) = %d names, want %d", c.prefix, c.after, len(got), len(c.want))
		}
	}
	for info, err := range s.List(t.Context(), "z") {
		if err != nil {
			t.Fatal(err)
		}
		if info.Size != int64(len("after")) {
			t.Errorf("size %d, want %d", info.Size, len("after"))
		}
		if info.Modified.Before(began.Add(-clockSlack)) || info.Modified.After(time.Now().Add(clockSlack)) {
			t.Errorf("modified at %s, want about %s", info.Modified, began)
		}
	}
}

func listStops(t *testing.T, s blob.Store) {
	putMany(t, s, "n/", 20)
	seen := 0
	for _, err := range s.List(t.Context(), "n/") {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; seen == 3 {
			break
		}
	}
	if seen != 3 {
		t.Errorf("saw %d objects, want 3", seen)
	}
}

func deleteMany(t *testing.T, s blob.Store) {
	names := putMany(t, s, "gone/", 1100) // S3 deletes 1,000 in one request
	put(t, s, "stays", []byte("x"))
	if err := s.Delete(t.Context(), names...); err != nil {
		t.Fatalf("Delete of %d objects: %v", len(names), err)
	}
	wantList(t, s, "", []string{"stays"})
}
