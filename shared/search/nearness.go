package search

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"docent/shared/blob"
	"docent/shared/search/segment"
	"docent/shared/search/vectors"
)

// How passages that are near the question join those that share words with it. The README
// has the reasons.
const (
	nearSketches = 500     // passages with the nearest sketches, whose vectors are compared
	nearOfMany   = 1000    // the same if there are more than manyPassages
	manyPassages = 100_000 // passages with vectors
	nearByRange  = 150     // of these, vectors that are read by range
	nearMost     = 50      // passages that become candidates by meaning alone
	nearLeast    = 0.15    // their least cosine
	loneLeast    = 0.3     // the same if no passage shares a word with the question
)

// neighbour is a passage with its closeness to the question.
type neighbour struct {
	passageID
	record *record // of the segment of vectors
	cosine float64
}

// nearness compares a question with the vectors of passages.
type nearness struct {
	question segment.Vector
	records  []record
	segments []*segment.Segment
	searched bool
	most     int          // passages in nearest
	nearest  []*neighbour // nearest first, once searched
	known    map[passageID]*neighbour
}

// vectorAt is a passage of one of the segments of vectors.
type vectorAt struct{ segment, passage int }

// join gives every candidate its neighbour, and returns the nearest passages that are not
// among the candidates. An error about one segment is a *segmentFault.
func (n *nearness) join(candidates []candidate) (others []*neighbour, err error) {
	if len(n.segments) == 0 {
		return nil, nil
	}
	if n.known == nil {
		n.known = make(map[passageID]*neighbour, len(candidates)+nearMost)
	}
	var wanted []vectorAt
	if !n.searched {
		wanted = n.sketched()
	}
	sketched := len(wanted)
	for _, c := range candidates {
		if n.known[c.place] != nil {
			continue
		}
		if at, ok := n.find(c.place); ok {
			wanted = append(wanted, at)
		}
	}
	cosines, err := n.cosines(wanted)
	if err != nil {
		return nil, err
	}
	if !n.searched {
		n.searched, n.nearest = true, n.best(wanted[:sketched], cosines)
	}
	for i, at := range wanted[sketched:] {
		if cosine := cosines[sketched+i]; cosine != 0 { // else the model made no vector of it
			n.meet(at, cosine)
		}
	}
	among := make(map[passageID]bool, len(candidates))
	for i := range candidates {
		candidates[i].near = n.known[candidates[i].place]
		among[candidates[i].place] = true
	}
	for _, o := range n.nearest {
		if !among[o.passageID] {
			others = append(others, o)
		}
	}
	return others, nil
}

// ask compares another question from now on.
func (n *nearness) ask(question segment.Vector) {
	n.question, n.known, n.nearest, n.searched = question, nil, nil, false
}

// widen makes the next join return as many of the nearest passages as there are vectors compared.
func (n *nearness) widen() { n.most, n.searched = nearOfMany, false }

// capped reports whether there may be more passages near the question.
func (n *nearness) capped() bool { return n != nil && len(n.nearest) == n.most }

// best returns the n.most nearest of passages, nearest first. Equal ones are in an order that
// does not depend on their segments.
func (n *nearness) best(passages []vectorAt, cosines []float32) []*neighbour {
	order := make([]int, len(passages))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if c := cmp.Compare(cosines[b], cosines[a]); c != 0 {
			return c
		}
		return n.placeOf(passages[a]).compare(n.placeOf(passages[b]))
	})
	nearest := make([]*neighbour, 0, n.most)
	among := make(map[*neighbour]bool, n.most)
	for _, i := range order {
		if cosines[i] == 0 {
			continue // the model made no vector of it
		}
		o := n.meet(passages[i], cosines[i])
		if among[o] {
			continue // a passage may be in two segments
		}
		among[o] = true
		if nearest = append(nearest, o); len(nearest) == n.most {
			break
		}
	}
	return nearest
}

// meet returns the neighbour at a place, which is known from now on.
func (n *nearness) meet(at vectorAt, cosine float32) *neighbour {
	place := n.placeOf(at)
	o := n.known[place]
	if o == nil {
		o = &neighbour{passageID: place, record: &n.records[at.segment], cosine: float64(cosine)}
		n.known[place] = o
	}
	return o
}

// find returns where the vector of a passage is.
func (n *nearness) find(p passageID) (vectorAt, bool) {
	for i, s := range n.segments {
		if passage, ok := s.PassageOf(p.Document, p.Version, p.Chunk, p.within); ok {
			return vectorAt{i, passage}, true
		}
	}
	return vectorAt{}, false
}

// placeOf returns the place of a passage in its document.
func (n *nearness) placeOf(at vectorAt) passageID {
	s := n.segments[at.segment]
	id, version := s.Named(s.Document(at.passage))
	chunk, within := s.Place(at.passage)
	return passageID{Ref{id, version, chunk}, within}
}

// cosines returns the cosines of passages and the question, in their order. It reads the
// vectors of each segment in one round.
func (n *nearness) cosines(wanted []vectorAt) ([]float32, error) {
	passages := make([][]int, len(n.segments))
	for _, at := range wanted {
		if n.segments[at.segment].Ranged() {
			passages[at.segment] = append(passages[at.segment], at.passage)
		}
	}
	if err := parallel(n.segments, func(i int, s *segment.Segment) error { return s.FetchVectors(passages[i]) }); err != nil {
		return nil, err
	}
	cosines := make([]float32, len(wanted))
	for i, at := range wanted {
		s := n.segments[at.segment]
		scale, values, err := s.VectorAt(at.passage)
		if err != nil {
			return nil, &segmentFault{s, err}
		}
		cosines[i] = scale * n.question.Scale * float32(vectors.Dot(n.question.Values, values))
	}
	return cosines, nil
}

// sketched returns the passages whose sketches differ least from the question's: at least
// nearSketches, or all if there are fewer. Of those in segments that are read by range, only the
// nearest by estimate remain.
func (n *nearness) sketched() []vectorAt {
	all := 0
	for _, s := range n.segments {
		all += s.Passages
	}
	buffer, _ := distanceBuffers.Get().(*[]uint16)
	if buffer == nil || cap(*buffer) < all {
		buffer = new(make([]uint16, all))
	}
	defer distanceBuffers.Put(buffer)
	distances := (*buffer)[:0]
	for _, s := range n.segments {
		distances = n.appendDistances(distances, s)
	}
	want := nearSketches
	if len(distances) > manyPassages {
		want = nearOfMany
	}
	limit, sum := nearestDistance(distances, 64*len(n.question.Sketch), want)
	near, within := make([]vectorAt, 0, sum), make([]int, 0, sum)
	for i, s := range n.segments {
		if s.Restricted() {
			for from, to := range s.Stretches() {
				for passage := from; passage < to; passage++ {
					if !s.Admits(passage) {
						continue
					}
					if distances[0] <= limit {
						near = append(near, vectorAt{i, passage})
					}
					distances = distances[1:]
				}
			}
			continue
		}
		within = vectors.AppendWithin(within[:0], distances[:s.Passages], limit)
		for _, passage := range within {
			near = append(near, vectorAt{i, passage})
		}
		distances = distances[s.Passages:]
	}
	return n.spareReading(near)
}

// appendDistances appends the distances of the question to the passages of s that it may find, in their
// order. dst has room for those of all passages.
func (n *nearness) appendDistances(dst []uint16, s *segment.Segment) []uint16 {
	words := len(n.question.Sketch)
	for from, to := range s.Stretches() {
		some := dst[len(dst) : len(dst)+to-from]
		vectors.Hamming(some, n.question.Sketch, s.Sketches()[from*words:to*words])
		if s.Restricted() {
			kept := 0
			for i, d := range some {
				some[kept] = d
				if s.Admits(from + i) {
					kept++
				}
			}
			some = some[:kept]
		}
		dst = dst[:len(dst)+len(some)]
	}
	return dst
}

// distanceBuffers has *[]uint16 for the distances of one question to all passages, which would
// otherwise be most of what a question allocates.
var distanceBuffers sync.Pool

// nearestDistance returns the least limit such that at least want of all distances are within it, and
// how many are; if there are fewer than want, the limit is most. No distance is above most.
func nearestDistance(all []uint16, most, want int) (limit uint16, sum int) {
	// Neighbouring distances are often equal, and adding to one count twice in a row waits for the first.
	counts, others := make([]int, most+1), make([]int, most+1)
	for len(all) >= 2 {
		counts[all[0]]++
		others[all[1]]++
		all = all[2:]
	}
	if len(all) > 0 {
		counts[all[0]]++
	}
	for d := range counts {
		if sum += counts[d] + others[d]; sum >= want {
			return uint16(d), sum
		}
	}
	return uint16(most), sum
}

// spareReading leaves out the passages of segments that are read by range, except for the
// nearByRange nearest by estimate: each vector read costs a request.
func (n *nearness) spareReading(near []vectorAt) []vectorAt {
	var ranged []vectorAt
	kept := near[:0]
	for i, at := range near {
		if !n.segments[at.segment].Ranged() {
			kept = append(kept, at)
			continue
		}
		if ranged == nil {
			ranged = make([]vectorAt, 0, len(near)-i)
		}
		ranged = append(ranged, at)
	}
	if len(ranged) <= nearByRange {
		return append(kept, ranged...)
	}
	// Copied first, because the processor waits for many that are far apart at the same time.
	words := len(n.question.Sketch)
	sketches := make([]uint64, 0, words*len(ranged))
	for _, at := range ranged {
		sketches = append(sketches, n.segments[at.segment].Sketch(at.passage)...)
	}
	estimator := n.question.Estimator()
	order := make([]int64, len(ranged)) // the estimate, the largest first, and then the place
	for i := range ranged {
		order[i] = -int64(estimator.Of(sketches[i*words:(i+1)*words]))<<32 | int64(i)
	}
	slices.Sort(order)
	for _, o := range order[:nearByRange] {
		kept = append(kept, ranged[uint32(o)])
	}
	return kept
}

// drop leaves out a segment of vectors that cannot be read. The words are still searched.
func (n *nearness) drop(s *segment.Segment) (dropped record) {
	i := slices.Index(n.segments, s)
	dropped = n.records[i]
	n.records, n.segments = slices.Delete(n.records, i, i+1), slices.Delete(n.segments, i, i+1)
	n.known, n.nearest, n.searched = nil, nil, false
	return dropped
}

// unreadable reports whether err is about one segment that is damaged or missing.
func unreadable(err error) (*segmentFault, bool) {
	var fault *segmentFault
	return fault, errors.As(err, &fault) && (errors.Is(err, segment.ErrDamaged) || errors.Is(err, blob.ErrNotFound))
}
