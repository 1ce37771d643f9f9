package search

// Explanation says why a hit is where it is.
type Explanation struct {
	Score        float64         `json:"score" doc:"Orders the results: (1 - cosineWeight) * words + cosineWeight * cosine. Comments of a found issue or pull request follow after everything else."`
	Words        float64         `json:"words" doc:"The score by words, divided by the highest that the query can reach."`
	Cosine       *float64        `json:"cosine,omitempty" doc:"How near the passage is to the query by meaning, -1 to 1. Absent if meaning was not compared: the passage has no vector yet, or there is no model, or it did not answer. The result is then placed by its words, with the mean cosine of the others."`
	CosineWeight float64         `json:"cosineWeight" doc:"The share of the cosine, 0 to 1. It is larger the less the words of the query are found."`
	Confidence   float64         `json:"confidence" doc:"That the passage answers the query; an answer is given from about 0.33 on, less in a small collection."`
	Terms        []ExplainedTerm `json:"terms" doc:"The terms of the query that the passage, its heading or its title contains."`
	Heading      string          `json:"heading" doc:"The heading path of the best passage."`
}

// ExplainedTerm is a term of a question that a passage contains.
type ExplainedTerm struct {
	Term   string  `json:"term" doc:"A word without its ending, as it is looked up."`
	Times  int     `json:"times" doc:"How often it occurs."`
	Weight float64 `json:"weight" doc:"How rare it is (its inverse document frequency)."`
}

// explain returns why v is where it is.
func (v *verified) explain() *Explanation {
	e := &Explanation{Score: v.hit.Normalised, Words: v.hit.words, CosineWeight: v.weight, Confidence: v.hit.Confidence,
		Heading: v.hit.Heading, Terms: []ExplainedTerm{}}
	if v.near != nil {
		e.Cosine = &v.near.cosine
	}
	for i, t := range v.ranking.terms {
		if n := len(v.at[i]); n > 0 {
			e.Terms = append(e.Terms, ExplainedTerm{Term: t.text, Times: n, Weight: t.idf})
		}
	}
	return e
}
