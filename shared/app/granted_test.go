package app

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"docent/shared/table"
)

// reviewedStack describes the stack, with what each function may do. A test of infra compares it with the template.
const reviewedStack = "../../infra/testdata/stack.txt"

// grants are the tables that each function may read, and those that it may also write, as "read {table}" and "write {table}".
func grants() (map[string][]string, error) {
	text, err := os.ReadFile(reviewedStack)
	if err != nil {
		return nil, err
	}
	_, who, _ := strings.Cut(string(text), "\nWho may do what\n")
	all, function := map[string][]string{}, ""
	for line := range strings.Lines(who) {
		name, deeper := strings.CutPrefix(line, "    ")
		if !deeper {
			function = strings.TrimSpace(line)
			continue
		}
		name, what, _ := strings.Cut(strings.TrimSpace(name), "}: ")
		for _, t := range table.Names {
			if name != "${Table"+strings.ToUpper(t[:1])+t[1:] {
				continue
			}
			all[function] = append(all[function], "read "+t)
			if what == "read and write items" {
				all[function] = append(all[function], "write "+t)
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s grants no table to any function", reviewedStack)
	}
	return all, nil
}

// granted is a store that refuses a function what the stack does not allow it, as AWS does.
type granted struct {
	table.Store
	function string
	allowed  []string
}

func (g granted) check(action, name string) error {
	if slices.Contains(g.allowed, action+" "+name) {
		return nil
	}
	return fmt.Errorf("AccessDeniedException: the function %s may not %s the table %s: see functions in infra", g.function, action, name)
}

func (g granted) Get(ctx context.Context, k table.Key, opts ...table.ReadOption) (table.Item, error) {
	if err := g.check("read", k.Table); err != nil {
		return table.Item{}, err
	}
	return g.Store.Get(ctx, k, opts...)
}

func (g granted) BatchGet(ctx context.Context, keys []table.Key, opts ...table.ReadOption) ([]table.Item, error) {
	for _, k := range keys {
		if err := g.check("read", k.Table); err != nil {
			return nil, err
		}
	}
	return g.Store.BatchGet(ctx, keys, opts...)
}

func (g granted) Query(ctx context.Context, q table.Query) (table.Page, error) {
	if err := g.check("read", q.Table); err != nil {
		return table.Page{}, err
	}
	return g.Store.Query(ctx, q)
}

func (g granted) Add(ctx context.Context, a table.Add) (table.Item, error) {
	if err := g.check("write", a.Key.Table); err != nil {
		return table.Item{}, err
	}
	return g.Store.Add(ctx, a)
}

func (g granted) Write(ctx context.Context, ops ...table.Op) error {
	for _, op := range ops {
		action := "write"
		if _, only := op.(table.Check); only {
			action = "read"
		}
		if err := g.check(action, table.KeyOf(op).Table); err != nil {
			return err
		}
	}
	return g.Store.Write(ctx, ops...)
}
