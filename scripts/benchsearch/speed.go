package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"

	"docent/shared/embed"
	"docent/shared/search"
)

// How the engines are timed.
const (
	speedQuestions = 200
	speedRounds    = 5                     // the shortest time of each question counts
	speedLong      = 50 * time.Millisecond // a question that takes longer is asked once
	speedResults   = 10
	speedGarbage   = 300 // percent, as docent serve sets it; made documents take gigabytes, which each collection walks
)

// madeSet generates n documents of one passage each, with words as frequent as in natural language: two in five are
// function words, the others are drawn from a Zipf-Mandelbrot distribution. Questions have 3 to 7 words from the
// same distribution.
func madeSet(n int) *set {
	s := &set{name: "made", space: search.Documentation, idOf: map[uuid.UUID]string{}}
	random := rand.New(rand.NewPCG(1, 42))
	ranks := rand.NewZipf(random, 1.07, 30, 200_000)
	stop := strings.Fields("the of and to a in is for that with on as are this by from or at an it")
	word := func() string {
		var b [12]byte
		out := b[:0]
		for n := ranks.Uint64() + 1; n > 0; n /= 60 {
			out = append(out, "bdfgklmnprtz"[n%12], "aeiou"[n/12%5])
		}
		return string(append(out, 'k'))
	}
	for i := range n {
		var b strings.Builder
		for range min(max(1, int(80*math.Exp(0.5*random.NormFloat64()))), 190) {
			if random.IntN(5) < 2 {
				b.WriteString(stop[random.IntN(len(stop))])
			} else {
				b.WriteString(word())
			}
			b.WriteByte(" .\n"[max(0, random.IntN(14)-11)])
		}
		id := uuid.NewSHA1(uuid.NameSpaceOID, binary.BigEndian.AppendUint64(nil, uint64(i)))
		s.idOf[id] = id.String()
		s.docs = append(s.docs, search.Document{ID: id, Version: 1, Source: s.name, Space: s.space, Title: word() + " " + word(), Body: b.String()})
	}
	for i := range speedQuestions {
		words := make([]string, 3+random.IntN(5))
		for j := range words {
			words[j] = word()
		}
		s.queries = append(s.queries, query{ID: fmt.Sprint(i), Text: "how to " + strings.Join(words, " ")})
	}
	return s
}

// timing has the processor time of each engine per question, in milliseconds, by size of the collection.
type timing map[int]map[string]spread

type spread struct{ p50, p99 float64 }

// speeds times the engines on collections of these sizes, separated by commas.
func speeds(ctx context.Context, sizes, folder string, model embed.Engine, natural []string, alone bool) (timing, error) {
	times := timing{}
	for size := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(size)
		if err != nil {
			return nil, fmt.Errorf("size %q: %w", size, err)
		}
		if n == 0 {
			continue
		}
		own := filepath.Join(folder, size)
		if err := os.Mkdir(own, 0o700); err != nil {
			return nil, err
		}
		if times[n], err = speed(ctx, n, own, model, natural, alone); err != nil {
			return nil, err
		}
		if err := os.RemoveAll(own); err != nil {
			return nil, err
		}
	}
	return times, nil
}

// speed prints the processor time of each engine per question for ten documents over that many passages. It
// includes garbage collection and embedding the question, and other work on the machine does not affect it. The other
// engines are opened afterwards, because what they keep in memory would be collected at Docent's expense.
func speed(ctx context.Context, passages int, folder string, model embed.Engine, natural []string, alone bool) (times map[string]spread, err error) {
	s := madeSet(passages)
	if model != nil {
		model = made{model, natural}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(speedGarbage))
	engines, err := s.ours(ctx, folder, model)
	if err != nil {
		return nil, err
	}
	times = map[string]spread{}
	if err = s.time(ctx, engines, times); err != nil {
		return nil, err
	}
	if !alone {
		others, err := s.others(ctx, folder)
		if err != nil {
			return nil, err
		}
		if err = s.time(ctx, others, times); err != nil {
			return nil, err
		}
		engines = append(engines, others...)
	}
	fmt.Printf("\n%d passages, %d questions for %d documents, processor time, the least of %d\n\n", passages, len(s.queries), speedResults, speedRounds)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tp50 ms\tp99 ms")
	for _, e := range engines {
		fmt.Fprintf(w, "%s\t%.2f\t%.2f\n", e.name(), times[e.name()].p50, times[e.name()].p99)
	}
	return times, w.Flush()
}

// time adds how long engines take to times, and closes them.
func (s *set) time(ctx context.Context, engines []engine, times map[string]spread) error {
	for _, e := range engines {
		took, err := s.leastTimes(ctx, e)
		if err != nil {
			return fmt.Errorf("%s: %w", e.name(), err)
		}
		slices.Sort(took)
		times[e.name()] = spread{took[len(took)/2], took[len(took)*99/100]}
	}
	var err error
	for _, e := range slices.Backward(engines) {
		err = errors.Join(err, e.close())
	}
	return err
}

// leastTimes returns the least processor time of each question in milliseconds. The rounds follow each other, so
// that a disturbance of the machine meets a question once.
func (s *set) leastTimes(ctx context.Context, e engine) ([]float64, error) {
	least := make([]time.Duration, len(s.queries))
	for round := range speedRounds {
		for i, q := range s.queries {
			if round > 0 && least[i] > speedLong {
				continue
			}
			started := cpuTime()
			if _, err := e.rank(ctx, q.Text, speedResults); err != nil {
				return nil, err
			}
			if took := cpuTime() - started; round == 0 || took < least[i] {
				least[i] = took
			}
		}
	}
	took := make([]float64, len(least))
	for i, t := range least {
		took[i] = float64(t.Microseconds()) / 1000
	}
	return took, nil
}

func cpuTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err) // every system that this runs on has the clock
	}
	return time.Duration(t.Nano())
}
