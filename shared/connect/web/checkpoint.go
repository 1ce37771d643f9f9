package web

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"docent/shared/source"
)

// Bounds of what is remembered of pages.
const (
	maxFailed = 16 << 10            // bytes of the URLs in checkpoint.Failed
	maxGone   = 500                 // pages in checkpoint.Gone; of more, later readings note the rest
	goneFor   = 3 * time.Hour       // between the first look that finds a page gone and the one that removes it
	keptGone  = 30 * 24 * time.Hour // for which a page is in checkpoint.Gone that is not listed any more
	shortFor  = 20 * time.Hour      // between the first look that finds a sitemap short and the one that is believed
	missedFor = 30 * 24 * time.Hour // for which what changed is read again while a sitemap cannot be read
	lostFor   = 14 * 24 * time.Hour // for which a sitemap of an index is missing before it counts as gone
	lostLooks = 5                   // that find it missing, at least this many
	lookEvery = 20 * time.Hour      // between two looks that count
	maxLost   = 50                  // sitemaps in checkpoint.Lost; of more, later readings note the rest
)

// checkpoint is the checkpoint of a source.
type checkpoint struct {
	Since time.Time `json:"since,omitzero"` // skip pages that changed before
	Begun time.Time `json:"begun,omitzero"` // when the current reading started
	Last  string    `json:"last,omitempty"` // URL of the page that was read last
	// Failed are URLs of pages that the current reading found unreadable for now, and Again those of the one before: they are
	// read whatever the sitemap says about changes.
	Failed []string `json:"failed,omitempty"`
	Again  []string `json:"again,omitempty"`
	// Gone are the pages that were gone at the last look and not removed yet: the time of the first such look, in Unix seconds, by
	// the hash of the URL. They are read whatever the sitemap says, too.
	Gone   map[uint32]int64 `json:"gone,omitempty"`
	Waited bool             `json:"waited,omitempty"` // as long as a site asked for, and no page was read since
	lengths
	Doubted bool `json:"doubted,omitempty"` // the sitemap was short at a look of the current reading, and is not believed yet
	// Missed means that a look of the current reading could not read a sitemap of the index, and Retried that the reading ended
	// once because that may pass soon.
	Missed  bool `json:"missed,omitempty"`
	Retried bool `json:"retried,omitempty"`
	// Lost are the sitemaps of the index that are missing, by the hash of the URL.
	Lost map[uint32]lostSitemap `json:"lost,omitempty"`
	// Before is the Since of the readings before a full scan.
	Before time.Time `json:"before,omitzero"`
}

// lengths are what a source remembers of the length of its sitemap. One that is short may be a mistake of an hour.
type lengths struct {
	Named int       `json:"named,omitempty"` // pages that the sitemap named when it was last believed
	Few   int       `json:"few,omitempty"`   // pages that it names since Short
	Short time.Time `json:"short,omitzero"`  // the first look that found it short
}

// lostSitemap says since when a sitemap is missing.
type lostSitemap struct {
	First  int64 `json:"first"` // the first look that found it so, in Unix seconds
	Latest int64 `json:"latest"`
	Looks  int   `json:"looks"` // up to the latest
}

// again returns l after another look that found the sitemap missing. The zero lostSitemap is of one that was not.
func (l lostSitemap) again(at time.Time) lostSitemap {
	switch since := at.Sub(time.Unix(l.Latest, 0)); {
	case l.Looks == 0 || since < 0: // for the first time, or the clock was ahead then
		return lostSitemap{at.Unix(), at.Unix(), 1}
	case since < lookEvery:
		return l
	}
	return lostSitemap{l.First, at.Unix(), min(l.Looks+1, lostLooks)}
}

// isGone reports whether the site has given the sitemap up, so that the pages that it named are gone unless another one names them.
func (l lostSitemap) isGone() bool {
	return l.Looks >= lostLooks && time.Unix(l.Latest, 0).Sub(time.Unix(l.First, 0)) >= lostFor
}

// look notes how many pages the sitemap names at a time, and reports whether it may be believed that the others are gone.
func (l *lengths) look(n int, at time.Time) bool {
	since := at.Sub(l.Short)
	switch {
	case !isShort(n, l.Named):
	case l.Short.IsZero(), isShort(n, l.Few), since < 0: // for the first time, shorter still, or the clock was ahead then
		l.Few, l.Short = n, at
		return false
	case since < shortFor:
		return false
	}
	*l = lengths{Named: n}
	return true
}

// isShort reports whether a sitemap of n pages misses more than a tenth of what it named before.
func isShort(n, before int) bool { return n < before-before/10 }

// doubt returns the warning that the sitemap is short, or nil.
func (p checkpoint) doubt() *source.SyncError {
	if !p.Doubted {
		return nil
	}
	return &source.SyncError{Code: source.Unreadable, Detail: fmt.Sprintf(
		"The sitemap names %d pages, and named %d before. The others stay until a full scan finds it so for a day.", p.Few, p.Named)}
}

// failsMuch reports whether there are more pages in Failed than a checkpoint should have.
func (p checkpoint) failsMuch() bool { return size(p.Failed) > maxFailed }

func size(urls []string) (bytes int) {
	for _, address := range urls {
		bytes += len(address)
	}
	return bytes
}

// end returns the checkpoint that the next reading begins with. If many pages failed, it repeats this one. If a sitemap was missed, the next
// reading begins where this one did, because the pages that only that sitemap names may have changed in the meantime.
func (p checkpoint) end() checkpoint {
	gone := maps.Clone(p.Gone)
	maps.DeleteFunc(gone, func(_ uint32, at int64) bool { return time.Unix(at, 0).Add(keptGone).Before(p.Begun) })
	// A day earlier, because the times of sitemaps are rarely exact.
	next := checkpoint{Since: p.Begun.Add(-24 * time.Hour), Again: p.Failed, Gone: gone, Lost: p.Lost, lengths: p.lengths}
	from := cmp.Or(p.Since, p.Before)
	switch {
	case p.failsMuch():
		next.Since, next.Again = p.Since, p.Again
	case p.Missed && !from.IsZero(): // else all that is stored was read by this reading
		if next.Since = p.Begun.Add(-missedFor); from.After(next.Since) {
			next.Since = from
		}
		next.Again = slices.Clone(p.Failed)
		for _, address := range p.Again { // the missed sitemap may name it
			if !slices.Contains(p.Failed, address) && size(next.Again) <= maxFailed {
				next.Again = append(next.Again, address)
			}
		}
	}
	return next
}

// hashOf returns the key of a page in checkpoint.Gone.
func hashOf(address string) uint32 {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(address))
	return sum.Sum32()
}

// rereads reports whether a page is read whatever the sitemap says.
func (p checkpoint) rereads(address string) bool {
	_, gone := p.Gone[hashOf(address)]
	return gone || slices.Contains(p.Again, address)
}

// isGone notes that a page was gone at a look at a time, and reports whether it was so at one that was long before.
func (p *checkpoint) isGone(address string, at time.Time) bool {
	first, known := p.Gone[hashOf(address)]
	since := at.Sub(time.Unix(first, 0))
	switch {
	case known && since >= goneFor:
		p.isThere(address)
		return true
	case !known && len(p.Gone) < maxGone, known && since < 0: // the clock was ahead then
		p.Gone = maps.Clone(p.Gone) // an earlier checkpoint keeps its own
		if p.Gone == nil {
			p.Gone = map[uint32]int64{}
		}
		p.Gone[hashOf(address)] = at.Unix()
	}
	return false
}

// isThere notes that a page is not gone, or not listed any more.
func (p *checkpoint) isThere(address string) {
	if _, known := p.Gone[hashOf(address)]; known {
		p.Gone = maps.Clone(p.Gone)
		delete(p.Gone, hashOf(address))
	}
}

// after returns the index of the page after the one with a URL. A sitemap may have changed since that was read, so that it is not
// listed any more; then it is the first page with a greater URL.
func after(all []listed, last string) int {
	for i := len(all) - 1; i >= 0 && last != ""; i-- {
		if all[i].url == last {
			return i + 1
		}
	}
	i := slices.IndexFunc(all, func(l listed) bool { return l.url > last })
	if i < 0 {
		return len(all)
	}
	return i
}
