package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"docent/shared/embed"
	"docent/shared/embed/local"
	"docent/shared/embed/weights"
	"docent/shared/search/text"
)

// openModel opens the model in a folder, or in the user's cache if folder is "". It returns nil and says so if there
// is none: Docent then searches by words alone.
func openModel(folder string) (embed.Engine, error) {
	if folder == "" {
		var err error
		if folder, err = weights.Folder(); err != nil {
			return nil, err
		}
		if err := weights.Check(folder); errors.Is(err, weights.ErrMissing) {
			fmt.Fprintln(os.Stderr, "no model: docent is measured by words alone; docent model fetch brings it")
			return nil, nil
		}
	}
	e := local.New(folder, local.MiniLM)
	if err := e.Load(); err != nil {
		return nil, err
	}
	fmt.Printf("model %s, kernels %s\n", e.Model().Name, e.Kernels())
	return &remembering{Engine: e, passages: map[string]embed.Vector{}}, nil
}

// remembering is an engine that embeds a passage once: two rankings use its vector.
type remembering struct {
	*local.Engine
	mu       sync.Mutex
	passages map[string]embed.Vector
}

// Embed implements embed.Engine.
func (r *remembering) Embed(ctx context.Context, texts []string, purpose embed.Purpose) ([]embed.Vector, error) {
	if purpose != embed.Passage {
		return r.Engine.Embed(ctx, texts, purpose)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var unknown []string
	for _, t := range texts {
		if r.passages[t] == nil && !slices.Contains(unknown, t) {
			unknown = append(unknown, t)
		}
	}
	if len(unknown) > 0 {
		made, err := r.Engine.Embed(ctx, unknown, purpose)
		if err != nil {
			return nil, err
		}
		for i, v := range made {
			r.passages[unknown[i]] = v
		}
	}
	vectors := make([]embed.Vector, len(texts))
	for i, t := range texts {
		vectors[i] = r.passages[t]
	}
	return vectors, nil
}

// made is an engine for measurements of speed. Passages get made-up vectors. For a question of made-up words, each of
// which is three to five tokens, a natural one is embedded.
type made struct {
	embed.Engine
	natural []string
}

// Embed implements embed.Engine.
func (m made) Embed(ctx context.Context, texts []string, purpose embed.Purpose) ([]embed.Vector, error) {
	vectors := make([]embed.Vector, len(texts))
	if purpose == embed.Question {
		asked := make([]string, len(texts))
		for i, t := range texts {
			asked[i] = m.natural[hash(t)%uint64(len(m.natural))]
		}
		return m.Engine.Embed(ctx, asked, purpose)
	}
	for i, t := range texts {
		random := rand.New(rand.NewPCG(hash(t), 1))
		vectors[i] = make(embed.Vector, m.Model().Size)
		for j := range vectors[i] {
			vectors[i][j] = float32(random.NormFloat64())
		}
		embed.Normalize(vectors[i])
	}
	return vectors, nil
}

func hash(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	return h.Sum64()
}

// vectors ranks by the model alone: a document by the cosine of its nearest passage, computed with every passage.
type vectors struct {
	set      *set
	model    embed.Engine
	document []uuid.UUID // by passage
	passages []embed.Vector
}

func openVectors(ctx context.Context, s *set, model embed.Engine) (*vectors, error) {
	v := &vectors{set: s, model: model}
	for _, d := range s.docs {
		var texts []string
		for _, c := range text.Cut(d.Body) {
			for _, p := range c.Passages {
				texts = append(texts, passageText(d.Title, p.Heading, d.Body[p.Start:p.End]))
				v.document = append(v.document, d.ID)
			}
		}
		for some := range slices.Chunk(texts, embed.MaxTexts) {
			made, err := model.Embed(ctx, some, embed.Passage)
			if err != nil {
				return nil, err
			}
			v.passages = append(v.passages, made...)
		}
	}
	return v, nil
}

// passageText returns what the index embeds for a passage, so that it is embedded once.
func passageText(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p = strings.TrimSpace(strings.ToValidUTF8(p, " ")); p != "" {
			kept = append(kept, p)
		}
	}
	return cmp.Or(strings.Join(kept, "\n"), "-")
}

func (v *vectors) name() string { return "vectors" }

func (v *vectors) close() error { return nil }

func (v *vectors) rank(ctx context.Context, question string, limit int) ([]string, error) {
	asked, err := v.model.Embed(ctx, []string{question}, embed.Question)
	if err != nil {
		return nil, err
	}
	best := map[uuid.UUID]float64{}
	for i, p := range v.passages {
		cosine := embed.Cosine(asked[0], p)
		if old, ok := best[v.document[i]]; !ok || cosine > old {
			best[v.document[i]] = cosine
		}
	}
	documents := make([]uuid.UUID, 0, len(best))
	for id := range best {
		documents = append(documents, id)
	}
	slices.SortFunc(documents, func(a, b uuid.UUID) int {
		return cmp.Or(cmp.Compare(best[b], best[a]), strings.Compare(a.String(), b.String()))
	})
	var ids []string
	for _, id := range documents[:min(limit, len(documents))] {
		ids = append(ids, v.set.idOf[id])
	}
	return ids, nil
}
