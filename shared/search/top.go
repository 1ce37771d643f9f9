package search

// scored is a passage of a segment with its score.
type scored struct {
	score            float32
	segment, passage int32
}

// top keeps the best passages so far: limit of them, and those with the same score as the last
// one.
type top struct {
	limit int
	best  []float32 // the limit best scores, a heap whose root is the lowest
	kept  []scored  // at least those
}

func newTop(limit int) *top {
	return &top{limit: limit, best: make([]float32, 0, limit), kept: make([]scored, 0, 2*limit)}
}

// floor returns the lowest score that still counts.
func (t *top) floor() float32 {
	if len(t.best) < t.limit {
		return 0
	}
	return t.best[0]
}

func (t *top) add(score float32, segment, passage int) {
	if score <= 0 || score < t.floor() {
		return
	}
	if len(t.kept) == cap(t.kept) {
		t.kept = t.passages() // makes room, unless most have the same score
	}
	t.kept = append(t.kept, scored{score, int32(segment), int32(passage)})
	if len(t.best) < t.limit {
		t.best = append(t.best, score)
		for i := len(t.best) - 1; i > 0 && t.best[i] < t.best[(i-1)/2]; i = (i - 1) / 2 {
			t.best[i], t.best[(i-1)/2] = t.best[(i-1)/2], t.best[i]
		}
		return
	}
	t.best[0] = score
	for i := 0; ; {
		least := i
		for down := 2*i + 1; down <= 2*i+2 && down < len(t.best); down++ {
			if t.best[down] < t.best[least] {
				least = down
			}
		}
		if least == i {
			return
		}
		t.best[i], t.best[least] = t.best[least], t.best[i]
		i = least
	}
}

// passages returns the passages that reach the floor.
func (t *top) passages() []scored {
	floor := t.floor()
	reach := t.kept[:0]
	for _, k := range t.kept {
		if k.score >= floor {
			reach = append(reach, k)
		}
	}
	return reach
}
