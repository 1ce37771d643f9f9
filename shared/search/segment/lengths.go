package segment

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// lengthBlock is the number of lengths in a block. A block has 2 bytes for the lowest
// length, 1 byte for the width, and then each length minus the lowest in width bits,
// low bits first. Zeros fill the last byte.
const lengthBlock = 128

func appendLengths(dst []byte, lengths []uint16) []byte {
	for block := range slices.Chunk(lengths, lengthBlock) {
		lowest, highest := slices.Min(block), slices.Max(block)
		width := bits.Len16(highest - lowest)
		dst = binary.LittleEndian.AppendUint16(dst, lowest)
		dst = append(dst, byte(width))
		held, have := uint32(0), 0
		for _, l := range block {
			held |= uint32(l-lowest) << have
			for have += width; have >= 8; have -= 8 {
				dst = append(dst, byte(held))
				held >>= 8
			}
		}
		if have > 0 {
			dst = append(dst, byte(held))
		}
	}
	return dst
}

// unpackLengths reads the lengths of passages. Their sum must be sum.
func unpackLengths(b []byte, passages int, sum uint64) ([]uint16, error) {
	if passages/lengthBlock*3 > len(b) { // check before the allocation
		return nil, Damaged("%d bytes of lengths", len(b))
	}
	lengths := make([]uint16, 0, passages)
	total := uint64(0)
	for left := passages; left > 0; left -= lengthBlock {
		n := min(left, lengthBlock)
		if len(b) < 3 || b[2] > 16 || len(b)-3 < (n*int(b[2])+7)/8 {
			return nil, Damaged("lengths of passage %d", passages-left)
		}
		lowest, width := uint32(binary.LittleEndian.Uint16(b)), int(b[2])
		packed := b[3:]
		b = packed[(n*width+7)/8:]
		mask := uint32(1)<<width - 1
		held, have := uint32(0), 0
		for range n {
			for ; have < width; have += 8 {
				held |= uint32(packed[0]) << have
				packed = packed[1:]
			}
			l := lowest + held&mask
			held >>= width
			have -= width
			total += uint64(l)
			lengths = append(lengths, uint16(l))
		}
	}
	if len(b) > 0 || total != sum {
		return nil, Damaged("lengths add up to %d, want %d", total, sum)
	}
	return lengths, nil
}
