package search

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"docent/shared/access"
	"docent/shared/search/segment"
	"docent/shared/search/text"
)

// searchRun is the state of one Search.
type searchRun struct {
	index    *Index
	ctx      context.Context //nolint:containedctx // of the one search
	teamID   string
	query    Query
	defaults map[string]*access.Rule // of the live sources
	limit    int
	passages int
	known    bool
	rankings []*ranking

	more        bool        // a ranking has passages beyond those
	cut         bool        // a ranking has as many as were asked for
	outnumbered bool        // stale passages have taken the places of others, so that the query widens
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

	english    float64 // how much a vector by a model for English counts
	characters int     // of the passage without the white space around it
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
			r, err := newRanking(s.ctx, p, own[analysis], s.query.Text, s.query.Carried, s.index.knows)
			if err != nil {
				return err
			}
			s.passages += r.passages
			s.known = s.known || len(r.terms) > 0
			s.rankings = append(s.rankings, r)
			if s.query.Instruction != "" && len(r.terms) > 0 {
				if s.instruction[r], err = newRanking(s.ctx, p, own[analysis], s.query.Instruction, Carried{}, s.index.knows); err != nil {
					return err
				}
			}
		}
	}
	s.correctMeaning()
	if s.readsManyPages() {
		return s.choose(maxCandidates)
	}
	return s.choose(firstDepth)
}

func hasTerms(p *profile, question string) bool {
	return slices.ContainsFunc(p.in(text.LanguagesOf(question)[0]).AppendTerms(nil, question), func(t string) bool { return t != "" })
}

// verify reads a page of candidates, and a second if over a fifth of it is dropped. For a
// large limit, with Query.Choose, or with a filter on facts, it reads the pages that the limit may need in
// parallel. It reads more while documents are missing: up to maxCandidates passages, chosenFrom with Query.Choose, or widestRead if it
// widens. If over a fifth is dropped again, it widens up to staleRead: stale passages must not take the places of current ones.
func (s *searchRun) verify(ctx context.Context) error {
	look, want := maxCandidates, pageCandidates
	switch {
	case s.widens():
		look, want = widestRead, min(chosenFrom, max(s.limit, pageUnits))
	case s.decidesOnRecords():
		look, want = chosenFrom, min(chosenFrom, max(s.limit, pageUnits))
	case s.readsManyPages():
		want = max(s.limit, pageCandidates)
	}
	total := 0
	for first := true; ; first = false {
		taken, dropped, err := s.read(ctx, want)
		if err != nil {
			return err
		}
		total += taken
		stale := dropped*5 > taken
		last := len(s.candidates) == 0 && !s.more
		if stale && (!first || last) && s.mayHaveMore() && !s.widens() && s.query.Choose == nil && s.documents() < s.limit {
			s.outnumber()
			look, last = staleRead, false
		}
		more := total < look && s.documents() < s.limit
		if last || !(first && stale) && !more {
			return nil
		}
		if s.widens() {
			want = min(4*want, widestStep, look-total)
		} else {
			want = min(max(look-total, pageUnits), chosenFrom)
		}
	}
}

// readsManyPages reports whether the query may read several pages in parallel.
func (s *searchRun) readsManyPages() bool {
	return s.limit > pageUnits/2 || s.decidesOnRecords() || s.outnumbered
}

// decidesOnRecords reports whether only the records of documents say which of them count, so that the query has to
// read more of them than it shows.
func (s *searchRun) decidesOnRecords() bool {
	return s.query.Choose != nil || s.query.Filter.NamesFact()
}

// widens reports whether the query reads on while it has not found as many documents as its limit, so that a
// filter that selects one document of thousands finds it, or so that many stale passages hide none that is current.
func (s *searchRun) widens() bool {
	return s.query.Widen || s.query.Filter.NamesFact() || s.outnumbered
}

// mayHaveMore reports whether there may be passages that were not read.
func (s *searchRun) mayHaveMore() bool {
	return len(s.candidates) > 0 || s.cut || s.near.capped()
}

// outnumber makes the query widen, and look for candidates again.
func (s *searchRun) outnumber() {
	s.outnumbered, s.more = true, true
	if s.near != nil {
		s.near.widen()
	}
}

// mayShow reports whether the reader may read a document and the filter includes it, by its record. The index may have
// admitted it by an older version, or because it does not know every fact that the filter names.
func (s *searchRun) mayShow(t Text) bool {
	return s.query.Reader.MayRead(t.Access, s.defaults[t.Source]) && s.query.Filter.Match(t.Attributes)
}

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
			if !ok || text.Source != r.source || v.within >= len(text.Passages) || !s.mayShow(text) {
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
	seen := make(map[Ref]bool, most)
	records := make(map[uuid.UUID]bool, most)
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
	score := float64(v.candidate.score)
	var length uint16
	if v.segment >= 0 {
		length = v.ranking.segments[v.segment].Length(v.passage)
	} else {
		length = a.lengthOf()
		score = v.ranking.textScore(a, length)
	}
	at := v.ranking.places(a)
	score = v.ranking.complete(score, a, at, length)
	v.at, v.length, v.score, v.english, v.characters = at, length, score, a.english, a.characters
	if by := s.instruction[v.ranking]; by != nil {
		score += instructionShare * by.normalisedText(a, length) * score
	}
	v.hit = Hit{Document: v.document, Version: v.Version, Source: text.Source, Space: r.space, Title: text.Title, URI: text.URI, Page: text.pageOf(p),
		Heading: p.Heading, Passage: body, Record: text.Record, Restricted: cmp.Or(text.Access, s.defaults[text.Source]) != nil, Score: score, Normalised: v.ranking.normalised(score), opening: p.Opening,
		before: text.before(p), fromStart: v.Chunk <= 1, after: text.Body[p.End:], ranking: v.ranking}
}

// before returns the text before a passage of t, as far as t has it.
func (t Text) before(p text.Passage) string {
	before := t.Body[:p.Start]
	if opening := t.Passages[0].Opening; opening != "" && before != "" {
		return opening + "\n" + before
	}
	return before
}

// pageOf returns Hit.Page of a passage of t.
func (t Text) pageOf(p text.Passage) int {
	if !t.Paged {
		return 0
	}
	return p.Page
}

// instructionShare is the maximum share that an instruction adds to a score.
const instructionShare = 0.3
