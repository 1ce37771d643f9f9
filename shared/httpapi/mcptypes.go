package httpapi

import "docent/shared/source"

// What the tools take, and give: the bodies of the operations.
type (
	searchFields struct {
		Query       string `json:"query" jsonschema:"what is looked for, in plain words"`
		Instruction string `json:"instruction,omitempty" jsonschema:"changes the order of what is found"`
		Limit       int    `json:"limit,omitempty" jsonschema:"how many at most; 10 when left out"`
	}
	researchFields struct {
		Query       string        `json:"query" jsonschema:"the question"`
		Instruction string        `json:"instruction,omitempty" jsonschema:"changes the order of what is found"`
		Effort      source.Effort `json:"effort,omitempty" jsonschema:"low when left out"`
	}
	queryTool struct {
		Query    string   `json:"query" jsonschema:"a question, with states, people, projects, labels and dates in it"`
		Projects []string `json:"projects,omitempty" jsonschema:"any of these"`
		Labels   []string `json:"labels,omitempty" jsonschema:"all of these"`
		UserName string   `json:"userName,omitempty" jsonschema:"author or assignee; me is the caller"`
		Limit    int      `json:"limit,omitempty" jsonschema:"how many at most; 20 when left out"`
	}
	urlsTool struct {
		URLs []string `json:"urls" jsonschema:"absolute http or https URLs"`
	}
	askTool struct {
		Question string `json:"question"`
	}

	sourcesBody struct {
		Sources []source.Source `json:"sources" doc:"Best first."`
	}
	researchBody struct {
		Answer  string          `json:"answer" doc:"Markdown."`
		Sources []source.Source `json:"sources" doc:"What the answer was made from, best first."`
	}
	recordsBody struct {
		Sources     []RecordBody `json:"sources"`
		Interpreted interpreted  `json:"interpreted" doc:"How the query was understood."`
	}
	gottenBody struct {
		Results []gotten `json:"results" doc:"In the order of the request."`
	}
)
