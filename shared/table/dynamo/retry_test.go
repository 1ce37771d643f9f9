package dynamo_test

import (
	"errors"
	"reflect"
	"testing"

	"docent/shared/table"
)

func TestRefusedAttemptsAreRepeated(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ops       []table.Op
		failure   answer
		sameToken bool
	}{
		"put throttled":             {onePut, throttle, false},
		"put throttled by account":  {onePut, refusal("RequestLimitExceeded", ""), false},
		"put in conflict":           {onePut, conflict, false},
		"put after a server error":  {onePut, serverError, false},
		"put after a hang-up":       {onePut, hangUp, false},
		"add throttled":             {oneAdd, throttle, false},
		"add after a broken answer": {oneAdd, brokenAnswer, false},
		"transaction in conflict":   {two, cancelled(`{"Code":"None"},{"Code":"TransactionConflict"}`), false},
		"conflict that hides a condition": {
			two, cancelled(`{"Code":"TransactionConflict"},{"Code":"ConditionalCheckFailed"}`), false,
		},
		"transaction throttled":           {two, cancelled(`{"Code":"ThrottlingError"},{"Code":"None"}`), false},
		"transaction over capacity":       {two, cancelled(`{"Code":"ProvisionedThroughputExceeded"},{"Code":"None"}`), false},
		"transaction throttled at once":   {two, throttle, true},
		"transaction still running":       {two, refusal("TransactionInProgressException", ""), true},
		"transaction after server error":  {two, serverError, true},
		"transaction after a hang-up":     {two, hangUp, true},
		"transaction after a broken body": {two, brokenAnswer, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, script := scripted(t, test.failure, test.failure, fine)
			if err := store.Write(t.Context(), test.ops...); err != nil {
				t.Fatal(err)
			}
			seen := script.requests()
			if len(seen) != 3 {
				t.Fatalf("%d requests, want 3", len(seen))
			}
			if len(test.ops) == 1 {
				return
			}
			if same := reflect.DeepEqual(seen[0].fields, seen[2].fields); same != test.sameToken {
				t.Errorf("the last request is the same as the first: %t, want %t", same, test.sameToken)
			}
			if token, _ := seen[0].fields["ClientRequestToken"].(string); token == "" {
				t.Error("a transaction without token")
			}
		})
	}
}

func TestPatienceEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ops     []table.Op
		failure answer
		want    error
	}{
		"put throttled":           {onePut, throttle, table.ErrThrottled},
		"put in conflict":         {onePut, conflict, table.ErrConflict},
		"put never answered":      {onePut, hangUp, table.ErrUnavailable},
		"transaction throttled":   {two, throttle, table.ErrThrottled},
		"transaction in conflict": {two, cancelled(`{"Code":"TransactionConflict"},{"Code":"None"}`), table.ErrConflict},
		"transaction unanswered":  {two, serverError, table.ErrUnavailable},
		"lone check throttled":    {[]table.Op{table.Check{Key: key("a")}}, throttle, table.ErrThrottled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, script := scripted(t, test.failure)
			err := store.Write(t.Context(), test.ops...)
			if err == nil {
				t.Fatal("no error")
			}
			for _, kind := range []error{table.ErrThrottled, table.ErrConflict, table.ErrUnavailable} {
				if errors.Is(err, kind) != errors.Is(test.want, kind) {
					t.Errorf("error %v, want %v", err, test.want)
				}
			}
			// 8 s of waits between 1 and 401 ms.
			if n := len(script.requests()); n < 20 || n > 8001 {
				t.Errorf("%d attempts", n)
			}
		})
	}
}

func TestOtherRefusalsAreFinal(t *testing.T) {
	t.Parallel()
	const stored = `,"Item":{"p":{"S":"p"},"s":{"S":"a"},"v":{"N":"7"}}`
	for name, test := range map[string]struct {
		ops    []table.Op
		answer answer
	}{
		"failed condition": {onePut, refusal("ConditionalCheckFailedException", stored)},
		"failed condition in a transaction": {
			two, cancelled(`{"Code":"ConditionalCheckFailed"` + stored + `},{"Code":"None"}`),
		},
		"not allowed": {onePut, refusal("AccessDeniedException", "")},
		"not valid":   {two, refusal("ValidationException", "")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, script := scripted(t, test.answer, fine)
			err := store.Write(t.Context(), test.ops...)
			if err == nil || len(script.requests()) != 1 {
				t.Errorf("error %v after %d attempts, want one", err, len(script.requests()))
			}
			failed := table.AsConditionFailed(err)
			if wanted := name[0] == 'f'; wanted != (failed != nil) {
				t.Fatalf("error %v", err)
			}
			if failed != nil && (failed.Key != key("a") || failed.Item == nil || failed.Item.Version != 7) {
				t.Errorf("key %v, item %v", failed.Key, failed.Item)
			}
		})
	}
}

func TestAddOnceIsNotRepeatedAfterALostAnswer(t *testing.T) {
	t.Parallel()
	add := table.Add{Key: key("a"), By: map[string]int64{"n": 1}}
	for name, test := range map[string]struct {
		failure answer
		once    bool
		want    int
	}{
		"hang-up":                {hangUp, true, 1},
		"server error":           {serverError, true, 1},
		"broken answer":          {brokenAnswer, true, 1},
		"refused, not lost":      {throttle, true, 2},
		"hang-up without once":   {hangUp, false, 2},
		"server, without once":   {serverError, false, 2},
		"conflict, without once": {conflict, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answered := answer{200, `{"Attributes":{"p":{"S":"p"},"s":{"S":"a"},"n.n":{"N":"1"}}}`}
			store, script := scripted(t, test.failure, answered)
			a := add
			a.Once = test.once
			item, err := store.Add(t.Context(), a)
			if n := len(script.requests()); n != test.want || (err == nil) != (n == 2) {
				t.Errorf("%d attempts, %v; want %d", n, err, test.want)
			}
			if err != nil && !errors.Is(err, table.ErrUnavailable) {
				t.Errorf("error %v, want that the store is unavailable", err)
			}
			if err == nil && item.Numbers["n"] != 1 {
				t.Errorf("item %v", item)
			}
		})
	}
}

func TestPutThatMeetsItselfAfterALostAnswerSucceeds(t *testing.T) {
	t.Parallel()
	mine := refusal("ConditionalCheckFailedException", `,"Item":{"p":{"S":"p"},"s":{"S":"a"},"v":{"N":"2"}}`)
	other := refusal("ConditionalCheckFailedException", `,"Item":{"p":{"S":"p"},"s":{"S":"a"},"v":{"N":"3"}}`)
	for name, test := range map[string]struct {
		answers []answer
		fails   bool
	}{
		"lost, then its own item":      {[]answer{hangUp, mine}, false},
		"lost, then another item":      {[]answer{hangUp, other}, true},
		"refused, then the same item":  {[]answer{throttle, mine}, true},
		"the same item, nothing lost":  {[]answer{mine}, true},
		"broken, then its own item":    {[]answer{{200, `{"Att`}, mine}, false},
		"lost, refused, then its item": {[]answer{hangUp, throttle, mine}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, _ := scripted(t, test.answers...)
			err := store.Write(t.Context(), onePut...)
			if (table.AsConditionFailed(err) != nil) != test.fails || (err != nil) != test.fails {
				t.Errorf("error %v, want a failed condition: %t", err, test.fails)
			}
		})
	}
}
