package app

import "net/http"

// contextCosts are what the operations of the context may cost. They run after
// costCases: those of a query connect an eleventh source.
var contextCosts = []costCase{
	{operation: "POST context/search/documentation, 10 sources", ceiling: cost{2, 65, 0}, run: func(c *costs) spent {
		return c.context("/context/search/documentation", map[string]any{"query": questionBody["question"]})
	}},
	// The search, which writes down what was used, and what the answer quotes from is among what it read.
	{operation: "POST context/research, low, 10 sources", ceiling: cost{3, 65, 0}, run: func(c *costs) spent {
		return c.context("/context/research", map[string]any{"query": questionBody["question"]})
	}},
	// Two other wordings follow, in parallel.
	{operation: "POST context/research, medium, 10 sources", ceiling: cost{5, 180, 0}, run: func(c *costs) spent {
		return c.context("/context/research", map[string]any{"query": questionBody["question"], "effort": "medium"})
	}},
	{operation: "POST context/get, 1 URL", ceiling: cost{3, 6, 0}, run: func(c *costs) spent {
		return c.context("/context/get", map[string]any{"urls": []string{uriOf("page/0")}})
	}},
	// What to open, the candidates that the limit may need, and the rest of two hundred.
	{operation: "POST context/query/issues, with a text", ceiling: cost{4, 220, 0}, run: func(c *costs) spent {
		takes := c.pace.takes
		c.pace.takes = 0 // an import locks while it calls, and a counted clock stands still in the meantime
		c.importItems(1500, newItemWords())
		c.pace.takes = takes
		return c.context("/context/query/issues", map[string]any{"query": "open issues about " + word(1) + " " + word(2)})
	}},
	{operation: "POST context/query/prs, with a text, 10 wanted", ceiling: cost{3, 65, 0}, run: func(c *costs) spent {
		return c.context("/context/query/prs", map[string]any{"query": "merged PRs about " + word(1) + " " + word(2), "limit": 10})
	}},
	// What sources there are, a page of their items, and these whole.
	{operation: "POST context/query/issues, filters alone, 20 wanted", ceiling: cost{4, 40, 0}, run: func(c *costs) spent {
		return c.context("/context/query/issues", map[string]any{"query": "open issues", "limit": 20})
	}},
}

// context measures an operation whose segments are in memory.
func (c *costs) context(path string, body map[string]any) spent {
	c.t.Helper()
	ask := func() { c.do(c.teamKey, "POST", path, body, http.StatusOK) }
	ask()
	return c.pace.measure(ask)
}
