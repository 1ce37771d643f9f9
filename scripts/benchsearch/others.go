package main

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/blevesearch/bleve/v2"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/en" // the analyzer "en"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/mapping"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// fts5 is SQLite's full-text search: Porter stems, all words of a question joined by OR.
type fts5 struct{ db *sql.DB }

func openFTS5(ctx context.Context, s *set, folder string) (*fts5, error) {
	db, err := sql.Open("sqlite", filepath.Join(folder, s.name+".sqlite"))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, `CREATE VIRTUAL TABLE docs USING fts5(id UNINDEXED, title, body, tokenize = 'porter unicode61')`); err != nil {
		return nil, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	for _, d := range s.docs {
		if _, err := tx.ExecContext(ctx, `INSERT INTO docs VALUES (?, ?, ?)`, s.idOf[d.ID], d.Title, d.Body); err != nil {
			return nil, err
		}
	}
	return &fts5{db}, tx.Commit()
}

func (f *fts5) name() string { return "FTS5" }

func (f *fts5) close() error { return f.db.Close() }

func (f *fts5) rank(ctx context.Context, question string, limit int) (ids []string, err error) {
	words := strings.FieldsFunc(question, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
	if len(words) == 0 {
		return nil, nil
	}
	rows, err := f.db.QueryContext(ctx, `SELECT id FROM docs WHERE docs MATCH ? ORDER BY rank LIMIT ?`, `"`+strings.Join(words, `" OR "`)+`"`, limit)
	if err != nil {
		return nil, fmt.Errorf("FTS5: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// bleveIndex is Bleve with title and body as one field and the analyzer "en".
type bleveIndex struct {
	index bleve.Index
	model string
}

func openBleve(s *set, folder, model string) (*bleveIndex, error) {
	m := bleve.NewIndexMapping()
	m.ScoringModel = model
	m.DefaultAnalyzer = "en"
	m.DefaultMapping = mapping.NewDocumentStaticMapping()
	text := bleve.NewTextFieldMapping()
	text.Analyzer, text.Store, text.IncludeInAll, text.IncludeTermVectors = "en", false, false, false
	m.DefaultMapping.AddFieldMappingsAt("text", text)
	x, err := bleve.NewUsing(filepath.Join(folder, s.name+"-"+model), m, scorch.Name, scorch.Name, nil)
	if err != nil {
		return nil, err
	}
	batch := x.NewBatch()
	for i, d := range s.docs {
		if err := batch.Index(s.idOf[d.ID], map[string]string{"text": d.Title + "\n" + d.Body}); err != nil {
			return nil, err
		}
		if batch.Size() == 1000 || i == len(s.docs)-1 {
			if err := x.Batch(batch); err != nil {
				return nil, err
			}
			batch = x.NewBatch()
		}
	}
	return &bleveIndex{x, model}, nil
}

func (b *bleveIndex) name() string { return "Bleve " + b.model }

func (b *bleveIndex) close() error { return b.index.Close() }

func (b *bleveIndex) rank(ctx context.Context, question string, limit int) (ids []string, err error) {
	q := bleve.NewMatchQuery(question)
	q.SetField("text")
	r, err := b.index.SearchInContext(ctx, bleve.NewSearchRequestOptions(q, limit, 0, false))
	if err != nil {
		return nil, fmt.Errorf("Bleve: %w", err)
	}
	for _, h := range r.Hits {
		ids = append(ids, h.ID)
	}
	return ids, nil
}
