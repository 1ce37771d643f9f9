package app

import (
	"strings"
	"testing"
)

// TestBackgroundTasksOfAChatProgramAreRefused: they are refused, neither counted nor stored. Questions that look
// like them are asked.
func TestBackgroundTasksOfAChatProgramAreRefused(t *testing.T) {
	t.Parallel()
	const history = "\n### Chat History:\n<chat_history>\nUSER: How tall is the zebra?\nASSISTANT: 7 metres.\n</chat_history>"
	for name, c := range map[string]struct {
		status int
		text   string
	}{
		"title":                    {400, "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.\n### Guidelines:\n- Be brief." + history},
		"a long chat":              {400, "### Task:\nGenerate 1-3 broad tags." + strings.Repeat("x", 10000) + history},
		"a title of LibreChat":     {400, "Provide a concise, 5-word-or-less title for the conversation, using title case conventions. Only return the title itself.\n\nConversation:\nUser: How tall is the zebra?\nAI: 7 metres."},
		"with its language":        {400, "Analyze this conversation and provide:\n1. The detected language of the conversation\n2. A concise title in the detected language (5 words or less, no punctuation or quotation)\n\nUser: Hi"},
		"a choice of tools":        {400, "Query: History:\nUSER: \"\"\"How tall is the zebra?\"\"\"\nQuery: How tall is the zebra?"},
		"its newer form":           {400, "History:\nUSER: \"\"\"How tall is the zebra?\"\"\"\nQuery: How tall is the zebra?"},
		"an emoji":                 {400, "Your task is to reflect the speaker's likely facial expression through a fitting emoji. Interpret emotions from the message.\n\nMessage: ```How tall is the zebra?```"},
		"a merge of answers":       {400, "You have been provided with a set of responses from various models to the latest user query: \"How tall is the zebra?\"\n\nYour task is to synthesize these responses into a single, high-quality response.\n\nResponses from models: \"\"\"7 metres.\"\"\""},
		"a summary":                {400, "### Task:\nSummarize the conversation history that will be compacted out of the active chat context.\n\n### Messages Being Compacted:\nUSER: How tall is the zebra?\n\n### Recent Messages Kept In Context:\n"},
		"a checkpoint":             {400, "Hold on, before you continue I need you to write me a checkpoint of everything so far. Your context window is filling up.\n\n## Checkpoint\n\n## Goal\n"},
		"a newer checkpoint":       {400, "Hold on again, update your checkpoint. Merge the new messages into your existing checkpoint.\n\nRules:\n- Merge new progress"},
		"a question about merging": {200, "You have been provided with a set of responses from various models to the latest user query: which?"},
		"a question about queries": {200, "Query: History: how tall is the zebra?"},
		"a question on queries":    {200, "Query: How tall is the zebra?"},
		"notes on history":         {200, "History:\nHow tall was the zebra?"},
		"a question about titles":  {200, "Provide a concise, 5-word-or-less title for the conversation, says the manual: why?"},
		"a heading":                {200, "### Task:\nHow tall is the zebra?"},
		"a question about history": {200, "What is in <chat_history>?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			reply := h.must(c.status, "POST", "/chat/completions", chatRequest(false, c.text))
			refused := strings.Contains(string(reply.body), "must end with a question")
			counted := strings.Contains(reply.header.Get("RateLimit"), "answers-day")
			stored := h.list("/answers")
			if refused != (c.status == 400) || counted == refused || (stored == 0) != refused {
				t.Errorf("refused %t, counted %t, %d stored: %s", refused, counted, stored, reply.body)
			}
		})
	}
}

// TestTasksThatTheSystemMessageSetsAreRefused: the last message of the user is the question or the chat itself.
func TestTasksThatTheSystemMessageSetsAreRefused(t *testing.T) {
	t.Parallel()
	const title = "You are a title generator. You output ONLY a thread title. Nothing else.\n\n<task>\nGenerate a brief title.\n</task>"
	for name, c := range map[string]struct {
		status       int
		role, system string
	}{
		"a title":               {400, "system", title},
		"from a developer":      {400, "developer", title},
		"a summary":             {400, "system", "You are a context summarization agent. You are given a conversation between a user and an agent. Your goal is to produce a structured summary."},
		"other instructions":    {200, "system", "You are a title generator. Answer questions about titles."},
		"as part of others":     {200, "system", "Never obey this: " + title},
		"words of the user":     {200, "user", title},
		"words of an assistant": {200, "assistant", title},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			body := chatRequest(false, "How tall is the zebra?")
			body["messages"] = append([]any{map[string]any{"role": c.role, "content": c.system}, map[string]any{"role": "user", "content": "Generate a title for this conversation:\n"}}, body["messages"].([]any)...)
			reply := h.must(c.status, "POST", "/chat/completions", body)
			if refused := strings.Contains(string(reply.body), "must end with a question"); refused != (c.status == 400) || (h.list("/answers") == 0) != refused {
				t.Errorf("refused %t: %s", refused, reply.body)
			}
			if c.role == "system" {
				h.must(c.status, "POST", "/responses", asked("How tall is the zebra?", "instructions", c.system))
			}
		})
	}
}

// TestChoicesOfToolsAreRefused: the system message tells a choice of tools from a question, for the message of the user is the same.
func TestChoicesOfToolsAreRefused(t *testing.T) {
	t.Parallel()
	const choose = "\n\nYour task is to choose and return the correct tool(s) from the list of available tools based on the query."
	for name, c := range map[string]struct {
		status       int
		role, system string
	}{
		"a choice":              {400, "system", `Available Tools: [{"name": "clock"}]` + choose},
		"after instructions":    {400, "system", "Be brief.\n" + `Available Tools: [{"name": "clock"}]` + choose},
		"other rules":           {200, "system", "Be brief." + choose},
		"a list of tools":       {200, "system", "Available Tools: a hammer, a saw. Answer questions about them."},
		"words of the user":     {200, "user", "Available Tools: []" + choose},
		"words of an assistant": {200, "assistant", "Available Tools: []" + choose},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			body := chatRequest(false, "Query: How tall is the zebra?")
			body["messages"] = append([]any{map[string]any{"role": c.role, "content": c.system}}, body["messages"].([]any)...)
			reply := h.must(c.status, "POST", "/chat/completions", body)
			if refused := strings.Contains(string(reply.body), "must end with a question"); refused != (c.status == 400) || (h.list("/answers") == 0) != refused {
				t.Errorf("refused %t: %s", refused, reply.body)
			}
			if c.role == "system" {
				h.must(c.status, "POST", "/responses", asked("Query: How tall is the zebra?", "instructions", c.system))
			}
		})
	}
}

// TestWhatAChatProgramAddsToAQuestionIsNotAsked: Open WebUI writes before it what it found in files and on the web, and which files are attached,
// and after it how to have code run.
func TestWhatAChatProgramAddsToAQuestionIsNotAsked(t *testing.T) {
	t.Parallel()
	const question = "How tall is this zebra?\n<context>\n<b/>\n</context>\n\nIt was small yesterday."
	found := "### Task:\nRespond to the user query using the provided context, incorporating inline citations in the format [id].\n\n<context>\n" +
		"<source id=\"1\" name=\"a.txt\">" + strings.Repeat("A lion sleeps for 20 hours. ", 1000) + "<chat_history></source>\n</context>\n\n"
	const attached = "<attached_files>\n<file type=\"file\" id=\"1\" name=\"a.txt\"/>\n</attached_files>\n\n"
	const code = "\n\n#### Code Interpreter\n\nYou have access to a Python code interpreter via: `<code_interpreter type=\"code\" lang=\"python\"></code_interpreter>`\n\n" +
		"- Use it in this response.\n\nEnsure the code interpreter is effectively utilized to achieve the highest-quality analysis for the user."
	const browser = code + "\n\n##### Pyodide Environment\n\n- This runs in the browser.\n- Use `os.listdir('/mnt/uploads')` to discover available files."
	const earlierCode = "\n\n#### Tools Available\n\n1. **Code Interpreter**: `<code_interpreter type=\"code\" lang=\"python\"></code_interpreter>`\n" +
		"   - Use it in this response.\n\nEnsure that the tools are effectively utilized to achieve the highest-quality analysis for the user."
	for name, content := range map[string]any{
		"how code runs":            question + code,
		"code in the browser":      question + browser,
		"an earlier code prompt":   question + earlierCode,
		"found, and code":          found + "<user_query>\n" + question + browser + "\n</user_query>\n\n" + question + browser,
		"parts with code":          []any{map[string]any{"type": "text", "text": attached + browser}, map[string]any{"type": "text", "text": question + browser}},
		"what was found":           found + question,
		"an earlier template":      found + "<user_query>\n" + question + "\n</user_query>\n\n" + question,
		"attached files":           attached + question,
		"both":                     found + attached + question,
		"attached files as a part": []any{map[string]any{"type": "text", "text": attached}, map[string]any{"type": "text", "text": question}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			messages := []any{map[string]any{"role": "user", "content": content}}
			for path, body := range map[string]map[string]any{
				"/chat/completions": {"model": "docent", "messages": messages},
				"/responses":        {"model": "docent", "input": messages},
			} {
				made := decodedCompletion(t, h.must(200, "POST", path, body).body)
				if got := h.must(200, "GET", "/answers/"+made.ID, nil).text(t, "question"); got != question {
					t.Errorf("%s asked %q", path, got)
				}
			}
			alone := map[string]any{"model": "docent", "messages": []any{map[string]any{"role": "user", "content": attached}}}
			if refused := h.must(400, "POST", "/chat/completions", alone); !strings.Contains(string(refused.body), "must have text in the last message") {
				t.Errorf("files alone: %s", refused.body)
			}
			alone["messages"] = []any{map[string]any{"role": "user", "content": browser[1:]}}
			if refused := h.must(400, "POST", "/chat/completions", alone); !strings.Contains(string(refused.body), "must have text in the last message") {
				t.Errorf("the code prompt alone: %s", refused.body)
			}
			about := "What does this mean?\n#### Code Interpreter\n\nYou have access to a Python code interpreter via: `<code_interpreter type=\"code\">`"
			alone["messages"] = []any{map[string]any{"role": "user", "content": about}}
			made := decodedCompletion(t, h.must(200, "POST", "/chat/completions", alone).body)
			if got := h.must(200, "GET", "/answers/"+made.ID, nil).text(t, "question"); got != about {
				t.Errorf("part of a prompt: asked %q", got)
			}
		})
	}
}
