package httpapi

import (
	"slices"
	"strings"
)

// backgroundTasks are the beginning, and a later part, of the prompts by which Open WebUI and LibreChat have a model write titles, tags,
// further questions or a summary for a chat, merge the answers of several models, and choose tools or an emoji for a message.
var backgroundTasks = [][2]string{
	{"### Task:", "<chat_history>"},
	{"### Task:", "### Messages Being Compacted:\n"},
	{"You have been provided with a set of responses from various models to the latest user query: ", "\nResponses from models: "},
	{"Provide a concise, 5-word-or-less title for the conversation", "Conversation:\n"},
	{"Analyze this conversation and provide:\n1. The detected language of the conversation", "A concise title"},
	{"Hold on, before you continue I need you to write me a checkpoint of everything so far.", "\n## Checkpoint\n"},
	{"Hold on again, update your checkpoint.", "\nRules:\n"},
	{"Query: History:\n", "\nQuery: "},
	{"History:\n", "\nQuery: "},
	{"Your task is to reflect the speaker's likely facial expression through a fitting emoji.", "\nMessage: ```"},
}

// isBackgroundTask reports whether text is such a prompt. No document answers it, so it would only use up a question of
// the day and be listed as unanswered. Without a reply, Open WebUI takes the first message as the title, has no tags and no
// further questions, continues with the whole chat, and calls no tool before it asks the question itself; LibreChat keeps its own title
// and makes its summary without a model.
func isBackgroundTask(text string) bool {
	return slices.ContainsFunc(backgroundTasks, func(t [2]string) bool { return strings.HasPrefix(text, t[0]) && strings.Contains(text, t[1]) })
}

// taskInstructions are the beginnings of the system messages by which OpenCode has a model write titles and summaries of a session. A
// request for a title ends with the question itself, so that nothing else tells the two apart.
var taskInstructions = []string{
	"You are a title generator. You output ONLY a thread title. Nothing else.",
	"You are a context summarization agent. You are given a conversation between a user and an agent.",
}

// setsTask reports whether a system message makes the request a task of the chat program. The message of the user may be an ordinary
// question then.
func (c conversation) setsTask() bool {
	return setsTask(c.instructions) || slices.ContainsFunc(c.said, func(m said) bool {
		return (m.role == "system" || m.role == "developer") && setsTask(m.text())
	})
}

func setsTask(instructions string) bool {
	return choosesTools(instructions) || slices.ContainsFunc(taskInstructions, func(t string) bool { return strings.HasPrefix(instructions, t) })
}

// choosesTools reports whether instructions are those by which Open WebUI has a model choose tools. The instructions of a model that was
// given some come before them.
func choosesTools(instructions string) bool {
	_, rest, found := strings.Cut("\n"+instructions, "\nAvailable Tools: ")
	return found && strings.Contains(rest, "Your task is to choose and return the correct tool(s) from the list of available tools")
}

// codePrompts are the beginnings of the prompt by which Open WebUI instructs a model how to have code run. It writes the prompt after each
// text of the message.
var codePrompts = []string{
	"\n#### Code Interpreter\n\nYou have access to a Python code interpreter via: `<code_interpreter ",
	"\n#### Tools Available\n\n1. **Code Interpreter**: `<code_interpreter ", // of versions before
}

// codePromptEnds are the ends of its parts. The second part follows the first where the code runs in the browser.
var codePromptEnds = [2]string{"to achieve the highest-quality analysis for the user.", "to discover available files."}

// withoutCodePrompts returns text without those prompts. A prompt begins at the last beginning before its end, because a question or a
// passage may have a beginning without an end.
func withoutCodePrompts(text string) string {
	var kept strings.Builder
	for rest := text; ; {
		before, after, whole := strings.Cut(rest, codePromptEnds[0])
		if !whole {
			if len(rest) == len(text) {
				return text
			}
			kept.WriteString(rest)
			return kept.String()
		}
		rest = after
		start := max(strings.LastIndex(before, codePrompts[0]), strings.LastIndex(before, codePrompts[1]))
		if start < 0 {
			kept.WriteString(before)
			kept.WriteString(codePromptEnds[0])
			continue
		}
		kept.WriteString(strings.TrimSuffix(before[:start], "\n"))
		if strings.HasPrefix(after, "\n\n##### Pyodide Environment\n") {
			second, _, _ := strings.Cut(after, codePromptEnds[0]) // it ends before the next prompt does
			if at := strings.Index(second, codePromptEnds[1]); at >= 0 {
				rest = after[at+len(codePromptEnds[1]):]
			}
		}
	}
}

// typed returns what the user typed of a message. Open WebUI writes before it the passages of files and web pages that it found, and
// the list of files that the user attached, and after it how to have code run. They are none of Docent's documents, and would hide the
// question from the search.
func typed(text string) string {
	text = withoutCodePrompts(text)
	if strings.HasPrefix(text, "### Task:\nRespond to the user query using the provided context") {
		const end = "</source>\n</context>\n\n" // of the last passage; a question may have the rest of it
		if at := strings.LastIndex(text, end); at >= 0 {
			text = text[at+len(end):]
		}
		if rest, ok := strings.CutPrefix(text, "<user_query>\n"); ok { // an earlier template repeats the question
			if _, after, found := strings.Cut(rest, "\n</user_query>\n\n"); found {
				text = after
			}
		}
	}
	if rest, ok := strings.CutPrefix(text, "<attached_files>\n"); ok {
		if _, after, found := strings.Cut(rest, "\n</attached_files>\n\n"); found {
			text = strings.TrimPrefix(after, "\n") // between two parts of a content
		}
	}
	return text
}
