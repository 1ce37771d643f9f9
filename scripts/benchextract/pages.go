package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"docent/shared/uri"
)

// asMany is how many passages are asked for; a page behind them counts as not found.
const asMany = 50

// measurePages asks docent serve every question, by words and meaning and by words alone, and prints how far ahead the
// pages with the answers are.
func (o options) measurePages(ctx context.Context, all []file, asked []question) error {
	var names []string
	sum := 0
	for _, f := range all {
		if f.Pages == 0 {
			continue
		}
		name, err := fetch(o.have, o.folder, f)
		if err != nil {
			return err
		}
		names, sum = append(names, name), sum+f.Pages
	}
	ways := []struct {
		name    string
		meaning bool
	}{{"words and meaning", true}, {"words alone", false}}
	var results [][]place
	for _, way := range ways {
		fmt.Fprintf(os.Stderr, "by %s: putting %d files\n", way.name, len(names))
		places, err := o.places(ctx, names, asked, way.meaning)
		if err != nil {
			return fmt.Errorf("by %s: %w", way.name, err)
		}
		results = append(results, places)
	}
	fmt.Printf("%d questions; %d PDF files with %d pages\n\n", len(asked), len(names), sum)
	fmt.Println("| Search by | Right page first | Among 3 | Among 10 | MRR | Named in the first source | Right file first |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
	for i, way := range ways {
		fmt.Println(summarize(results[i]).row(way.name))
	}
	for i, way := range ways {
		fmt.Printf("\nNot first by %s:\n\n| Question | File | Page | Place | Named | First |\n| --- | --- | --- | ---: | --- | --- |\n", way.name)
		for j, p := range results[i] {
			if p.Page != 1 {
				fmt.Println(miss(asked[j], p))
			}
		}
	}
	return nil
}

// places puts the files into one installation and asks it the questions, by words and meaning or by words alone.
func (o options) places(ctx context.Context, names []string, asked []question, meaning bool) (_ []place, err error) {
	i, err := install(ctx, o.program, meaning)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, i.close()) }()
	if err := i.put(ctx, names); err != nil {
		return nil, err
	}
	var all []place
	for _, q := range asked {
		found, err := i.search(ctx, q.Question)
		if err != nil {
			return nil, fmt.Errorf("search %q: %w", q.Question, err)
		}
		if o.show {
			fmt.Fprintf(os.Stderr, "%s %s %v\n", q.Question, q.File, q.Pages)
			for _, s := range found[:min(3, len(found))] {
				fmt.Fprintf(os.Stderr, "    %s: %.200s\n", s.URL, strings.Join(strings.Fields(s.Content), " "))
			}
		}
		all = append(all, placeOf(q, found))
	}
	return all, nil
}

// place is where the first source of a right page and the first of the right file are among those found, from 1;
// 0: nowhere.
type place struct {
	Page, File int
	Named      bool   // the first source leads to a right page, or has text of one under its number
	First      string // address of the first source
}

// pageLine is the line that begins the text of another page in a source's content.
var pageLine = regexp.MustCompile(`(?m)^Page (\d+):$`)

// placeOf looks for a question's pages among sources, best first.
func placeOf(q question, sources []source) place {
	file := addressOf(q.File)
	p := place{}
	for i, s := range sources {
		isFile := uri.WithoutPage(s.URL) == file
		if p.File == 0 && isFile {
			p.File = i + 1
		}
		right := slices.ContainsFunc(q.Pages, func(page int) bool { return s.URL == uri.AtPage(file, page) })
		if p.Page == 0 && right {
			p.Page = i + 1
		}
		if i == 0 {
			p.First, p.Named = s.URL, right || isFile && slices.ContainsFunc(pageLine.FindAllStringSubmatch(s.Content, -1), func(match []string) bool {
				page, err := strconv.Atoi(match[1])
				return err == nil && slices.Contains(q.Pages, page)
			})
		}
	}
	return p
}

// tally is the measurement of all questions.
type tally struct {
	Questions, First, Among3, Among10, Named, FileFirst int
	MRR                                                 float64 // mean of 1 / place
}

func summarize(places []place) tally {
	t := tally{Questions: len(places)}
	for _, p := range places {
		if p.File == 1 {
			t.FileFirst++
		}
		if p.Named {
			t.Named++
		}
		if p.Page == 0 {
			continue
		}
		t.MRR += 1 / float64(p.Page) / float64(len(places))
		t.Among10 += among(p.Page, 10)
		t.Among3 += among(p.Page, 3)
		t.First += among(p.Page, 1)
	}
	return t
}

func among(place, best int) int {
	if place <= best {
		return 1
	}
	return 0
}

func (t tally) row(name string) string {
	share := func(n int) string { return fmt.Sprintf("%d (%.0f %%)", n, percent(n, t.Questions)) }
	return fmt.Sprintf("| %s | %s | %s | %s | %.3f | %s | %s |", name, share(t.First), share(t.Among3), share(t.Among10), t.MRR, share(t.Named), share(t.FileFirst))
}

// miss describes a question whose page is not first.
func miss(q question, p place) string {
	place := "–"
	if p.Page > 0 {
		place = fmt.Sprint(p.Page)
	}
	named := "no"
	if p.Named {
		named = "yes"
	}
	first := strings.Replace(strings.TrimPrefix(p.First, addressOf("")), "#page=", ", page ", 1)
	pages := strings.ReplaceAll(strings.Trim(fmt.Sprint(q.Pages), "[]"), " ", ", ")
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s |", q.Question, q.File, pages, place, named, strings.TrimPrefix(first, q.File+", "))
}
