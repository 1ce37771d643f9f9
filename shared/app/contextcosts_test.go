package app

import "net/http"

// contextCosts are the ceilings of the context operations. They run after costCases, because the
// queries connect an eleventh source.
var contextCosts = []costCase{
	{operation: "POST context/search/documentation, 10 sources", ceiling: cost{2, 65, 0}, run: func(c *costs) spent {
		return c.context("/context/search/documentation", map[string]any{"query": questionBody["question"]})
	}},
	// The search reads everything that the answer quotes.
	{operation: "POST context/research, low, 10 sources", ceiling: cost{3, 65, 0}, run: func(c *costs) spent {
		return c.context("/context/research", map[string]any{"query": questionBody["question"]})
	}},
	// Two other wordings are searched in parallel after it.
	{operation: "POST context/research, medium, 10 sources", ceiling: cost{5, 180, 0}, run: func(c *costs) spent {
		return c.context("/context/research", map[string]any{"query": questionBody["question"], "effort": "medium"})
	}},
	{operation: "POST context/get, 1 URL", ceiling: cost{3, 6, 0}, run: func(c *costs) spent {
		return c.context("/context/get", map[string]any{"urls": []string{uriOf("page/0")}})
	}},
	// The list of segments, the candidates that the limit may need, and the rest of two hundred.
	{operation: "POST context/query/issues, with a text", ceiling: cost{4, 225, 0}, run: func(c *costs) spent {
		takes := c.pace.takes
		c.pace.takes = 0 // an import holds a lock while it calls, and the clock of a bubble does not advance then
		c.importItems(1500, newItemWords())
		c.pace.takes = takes
		return c.context("/context/query/issues", map[string]any{"query": "open issues about " + word(1) + " " + word(2)})
	}},
	// The lists of segments of words and of vectors are 7 units each here.
	{operation: "POST context/query/prs, with a text, 10 wanted", ceiling: cost{3, 75, 0}, run: func(c *costs) spent {
		return c.context("/context/query/prs", map[string]any{"query": "merged PRs about " + word(1) + " " + word(2), "limit": 10})
	}},
	// The sources, a page of their items, and these items' content.
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
