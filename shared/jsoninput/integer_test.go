package jsoninput_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strconv"
	"testing"

	"docent/shared/jsoninput"
)

func TestParseInt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"0": 0, "-7": -7, "1.0": 1, "1e2": 100, "1E+2": 100, "120e-1": 12, "-0.0": 0, "9223372036854775807": math.MaxInt64} {
		if got, err := jsoninput.ParseInt(text); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "x", "1.5", "1e-1", "inf", "NaN", "0x10", "0x1p4", "1_0", " 1", "1 ", "e", "."} {
		if got, err := jsoninput.ParseInt(text); err == nil || errors.Is(err, strconv.ErrRange) {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for text, want := range map[string]int64{"1e400": math.MaxInt64, "-1e19": math.MinInt64, "99999999999999999999": math.MaxInt64} {
		if got, err := jsoninput.ParseInt(text); !errors.Is(err, strconv.ErrRange) || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
}

// FuzzParseInt compares with exact arithmetic, for JSON numbers that a float holds exactly.
func FuzzParseInt(f *testing.F) {
	for _, seed := range []string{"1", "1.0", "1e2", "-12.50e1", "0.1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var number json.Number
		if len(text) > 12 || json.Unmarshal([]byte(text), &number) != nil || text[0] == '"' || text == "null" {
			return
		}
		exact, ok := new(big.Rat).SetString(text)
		n, err := jsoninput.ParseInt(text)
		if !ok || errors.Is(err, strconv.ErrRange) {
			return
		}
		if (err == nil) != exact.IsInt() && len(text) < 8 || err == nil && len(text) < 8 && exact.Cmp(new(big.Rat).SetInt64(n)) != 0 {
			t.Errorf("%s: %d, %v", text, n, err)
		}
	})
}
