package segment

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestLengthsArePackedWithoutLoss(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		top := rapid.SampledFrom([]uint16{0, 1, 300, 65_535}).Draw(rt, "top")
		lengths := rapid.SliceOfN(rapid.Uint16Range(0, top), 0, 400).Draw(rt, "lengths")
		sum := uint64(0)
		for _, l := range lengths {
			sum += uint64(l)
		}
		packed := appendLengths(nil, lengths)
		if got, err := unpackLengths(packed, len(lengths), sum); err != nil || !slices.Equal(got, lengths) {
			rt.Fatalf("%v: %v", got, err)
		}
		if most := 2*len(lengths) + 3*((len(lengths)+127)/128) + 1; len(packed) > most {
			rt.Fatalf("%d bytes, more than %d", len(packed), most)
		}
	})
}
