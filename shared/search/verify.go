package search

import (
	"bytes"
	"cmp"
	"context"
	"docent/shared/search/segment"
	"docent/shared/search/text"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
)

// searchRun is the state of one Search.
type searchRun struct {
	index    *Index
	ctx      context.Context //nolint:containedctx // of the one search
	teamID   string
	query    Query
	limit    int
	passages int
	known    bool
	rankings []*ranking

	more        bool        // a ranking has passages beyond those
	candidates  []candidate // best first, by normalised score
	sources     map[*segment.Segment]record
	instruction map[*ranking]*ranking // the ranking of the instruction, by that of the question
	near        *nearness             // nil: the search is by words alone
	typical     float64               // cosine of a candidate without a vector
	taken       map[passageID]bool    // as candidates
	perDocument map[documentVersion]int
	found       []*verified
}

type documentVersion struct {
	document uuid.UUID
	version  int64
}

type passageID struct {
	Ref
	within int
}

// compare orders passages by their documents, versions and places.
func (p passageID) compare(q passageID) int {
	return cmp.Or(bytes.Compare(p.Document[:], q.Document[:]), cmp.Compare(q.Version, p.Version),
		cmp.Compare(p.Chunk, q.Chunk), cmp.Compare(p.within, q.within))
}

// analysisKey names an analysed passage. A text has one analysis per profile.
type analysisKey struct {
	passageID
	profile segment.Profile
}

// verified is a candidate whose text was read from the documents.
type verified struct {
	candidate
	passageID
	hit    Hit
	counts bool    // it counts towards the limit
	at     places  // of the question's terms
	length uint16  // of the passage
	score  float64 // without the instruction
	weight float64 // of its cosine in the joined score
	meant  bool    // its vector is compared with the question's

	english float64 // how much a vector by a model for English counts
}

// rank ranks the segments of each profile and analysis separately, and chooses
// candidates.
func (s *searchRun) rank(records []record, segments []*segment.Segment) error {
	s.sources = make(map[*segment.Segment]record, len(segments))
	s.instruction = map[*ranking]*ranking{}
	for _, p := range profiles {
		own := map[byte][]*segment.Segment{}
		for i, seg := range segments {
			if seg.Profile == p.id {
				own[seg.Analysis] = append(own[seg.Analysis], seg)
				s.sources[seg] = records[i]
			}
		}
		if len(own) == 0 {
			s.known = s.known || hasTerms(p, s.query.Text)
		}
		for _, analysis := range slices.Sorted(maps.Keys(own)) {
			r, err := newRanking(p, own[analysis], s.query.Text)
			if err != nil {
				return err
			}
			s.passages += r.passages
			s.known = s.known || len(r.terms) > 0
			s.rankings = append(s.rankings, r)
			if s.query.Instruction != "" && len(r.terms) > 0 {
				if s.instruction[r], err = newRanking(p, own[analysis], s.query.Instruction); err != nil {
					return err
				}
			}
		}
	}
	if s.readsManyPages() {
		return s.choose(maxCandidates)
	}
	return s.choose(firstDepth)
}

func hasTerms(p *profile, question string) bool {
	return slices.ContainsFunc(p.in(text.LanguagesOf(question)[0]).AppendTerms(nil, question), func(t string) bool { return t != "" })
}

// verify reads a page of candidates, and a second if over a fifth of it is stale. For a
// large limit, or with Query.Choose, it reads the pages that the limit may need in
// parallel, then more while documents are missing.
func (s *searchRun) verify(ctx context.Context) error {
	look, want := pageCandidates, pageCandidates
	switch {
	case s.query.Choose != nil:
		look, want = chosenFrom, min(chosenFrom, max(s.limit, pageUnits))
	case s.readsManyPages():
		look = max(s.limit, pageCandidates)
		want = look
	}
	total := 0
	for first := true; ; first = false {
		taken, dropped, err := s.read(ctx, want)
		if err != nil {
			return err
		}
		total += taken
		stale := first && dropped*5 > taken
		more := s.readsManyPages() && total < look && s.documents() < s.limit
		if len(s.candidates) == 0 && !s.more || !stale && !more {
			return nil
		}
		want = max(look-total, pageUnits)
	}
}

// readsManyPages reports whether the query may read more than two pages.
func (s *searchRun) readsManyPages() bool { return s.limit > pageUnits/2 || s.query.Choose != nil }

// documents counts the documents found that count towards the limit.
func (s *searchRun) documents() int {
	seen := map[uuid.UUID]bool{}
	for _, v := range s.found {
		if v.counts {
			seen[v.document] = true
		}
	}
	return len(seen)
}

// page is the content of one BatchGet.
type page struct {
	candidates []verified
	refs       []Ref
	texts      map[Ref]Text
}

// read reads the next candidates: one page, or, if the query may read many, the pages of want
// candidates. It keeps the candidates that are current and chosen.
func (s *searchRun) read(ctx context.Context, want int) (taken, dropped int, err error) {
	var pages []*page
	for taken < want && (len(pages) == 0 || s.readsManyPages()) {
		p, err := s.nextPage(min(pageCandidates, want-taken))
		if err != nil {
			return 0, 0, err
		}
		if len(p.refs) == 0 {
			break
		}
		taken += len(p.candidates)
		pages = append(pages, p)
	}
	if err := s.readTexts(ctx, pages); err != nil {
		return 0, 0, fmt.Errorf("read the candidates: %w", err)
	}
	for _, p := range pages {
		for i := range p.candidates {
			v := &p.candidates[i]
			text, ok := p.texts[v.Ref]
			r := s.recordOf(&v.candidate)
			if !ok || text.Source != r.source || v.within >= len(text.Passages) {
				dropped++
				continue
			}
			choice := Include
			if s.query.Choose != nil {
				choice = s.query.Choose(text)
			}
			if choice == Exclude {
				continue
			}
			s.weigh(v, text, r)
			v.counts = choice == Include
			s.found = append(s.found, v)
		}
	}
	return taken, dropped, nil
}

// readTexts reads the texts of pages in parallel. Most queries have one page, which needs no
// goroutine.
func (s *searchRun) readTexts(ctx context.Context, pages []*page) error {
	read := func(ctx context.Context, p *page) (err error) {
		p.texts, err = s.index.Corpus.Texts(ctx, s.teamID, p.refs)
		return err
	}
	if len(pages) == 1 {
		return read(ctx, pages[0])
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, p := range pages {
		group.Go(func() error { return read(ctx, p) })
	}
	return group.Wait()
}

// nextPage returns a page of up to most candidates, within the bounds of one BatchGet.
func (s *searchRun) nextPage(most int) (*page, error) {
	p := &page{candidates: make([]verified, 0, most), refs: make([]Ref, 0, most)}
	seen := map[Ref]bool{}
	records := map[uuid.UUID]bool{}
	units := 0
	for len(p.candidates) < most && units < pageUnits {
		if more, err := s.refill(); err != nil {
			return nil, err
		} else if !more {
			break
		}
		c := s.candidates[0]
		v := verified{candidate: c}
		v.passageID = c.place
		chunk := c.place.Chunk
		dv := documentVersion{c.document, c.version}
		if s.taken[v.passageID] || s.perDocument[dv] == perDocument {
			s.candidates = s.candidates[1:]
			continue
		}
		cost := 0
		if !records[c.document] {
			cost++
		}
		if chunk > 0 && !seen[v.Ref] {
			cost++
		}
		if units+cost > pageUnits {
			break
		}
		s.candidates = s.candidates[1:]
		units += cost
		records[c.document] = true
		s.taken[v.passageID] = true
		s.perDocument[dv]++
		if !seen[v.Ref] {
			seen[v.Ref] = true
			p.refs = append(p.refs, v.Ref)
		}
		p.candidates = append(p.candidates, v)
	}
	return p, nil
}

// weigh sets the hit and the final score of a candidate.
func (s *searchRun) weigh(v *verified, text Text, r record) {
	p := text.Passages[v.within]
	body := text.Body[p.Start:p.End]
	key := analysisKey{v.passageID, v.ranking.profile.id}
	a, ok := s.index.analyses.Get(key)
	if !ok {
		a = v.ranking.profile.analyse(text.Title, p.Heading, body)
		s.index.analyses.Put(key, a, int64(4*len(a.codes)+200))
	}
	length := a.lengthOf()
	score := float64(v.candidate.score)
	if v.segment >= 0 {
		length = v.ranking.segments[v.segment].Length(v.passage)
	} else {
		score = v.ranking.textScore(a, length)
	}
	at := v.ranking.places(a)
	score = v.ranking.complete(score, a, at, length)
	v.at, v.length, v.score, v.english = at, length, score, a.english
	if by := s.instruction[v.ranking]; by != nil {
		score += instructionShare * by.normalisedText(a, length) * score
	}
	v.hit = Hit{Document: v.document, Version: v.Version, Source: text.Source, Space: r.space, Title: text.Title, URI: text.URI,
		Heading: p.Heading, Passage: body, Record: text.Record, Score: score, Normalised: v.ranking.normalised(score), opening: p.Opening, ranking: v.ranking}
}

// instructionShare is the maximum share that an instruction adds to a score.
const instructionShare = 0.3
