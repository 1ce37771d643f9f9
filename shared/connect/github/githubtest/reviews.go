package githubtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Review is what a reviewer says of a pull request as a whole.
type Review struct {
	ID          int       `json:"id"`
	Pull        int       `json:"-"` // number
	HTMLURL     string    `json:"html_url"`
	Body        string    `json:"body"`
	User        *User     `json:"user"`
	Bot         bool      `json:"-"`
	SubmittedAt time.Time `json:"submitted_at"`
}

// NewVerdict returns a review of i, submitted id minutes after Day.
func (s *Server) NewVerdict(id int, of Issue, text string) Review {
	return Review{ID: id, Pull: of.Number, HTMLURL: fmt.Sprintf("%s#pullrequestreview-%d", of.HTMLURL, id), Body: text, User: &User{"grace"},
		SubmittedAt: Day.Add(time.Duration(id) * time.Minute)}
}

func review(r *Repository, w http.ResponseWriter, q *http.Request) {
	one(w, r.Verdicts, func(v Review) bool {
		return strconv.Itoa(v.ID) == q.PathValue("id") && strconv.Itoa(v.Pull) == q.PathValue("number")
	})
}

// variables are those of the queries that the server answers: about pull requests, with or without their reviews, and about the reviews of one.
type variables struct {
	Owner, Name, After string
	First, Number      int
}

// graphQL answers queries about a repository, under its current name.
func (s *Server) graphQL(w http.ResponseWriter, q *http.Request) {
	var body struct {
		Query     string
		Variables variables
	}
	if err := json.NewDecoder(q.Body).Decode(&body); err != nil || q.Header.Get("Authorization") == "" {
		refuse(w, http.StatusUnauthorized, "This endpoint requires you to be authenticated.")
		return
	}
	s.mu.Lock()
	name := body.Variables.Owner + "/" + body.Variables.Name
	if r := s.repositories[strings.ToLower(name)]; r != nil && r.Moved != "" {
		name = r.Moved
	}
	s.mu.Unlock()
	owner, rest, _ := strings.Cut(name, "/")
	q.SetPathValue("owner", owner)
	q.SetPathValue("name", rest)
	q.URL.Path = "/api/v3/repos/" + name + "/graphql"
	s.serve(w, q, func(r *Repository, w http.ResponseWriter, _ *http.Request) {
		v := body.Variables
		if r.NoPulls {
			answer(w, map[string]any{"data": map[string]any{"repository": map[string]any{"pullRequests": nil}},
				"errors": []any{map[string]any{"type": "NOT_FOUND", "path": []any{"repository", "pullRequests"}, "message": "Not Found"}}})
			return
		}
		if strings.Contains(body.Query, "$after:String!") && v.After == "" {
			refuse(w, http.StatusBadRequest, "Variable $after of type String! was provided invalid value.")
			return
		}
		if !strings.Contains(body.Query, "reviews(") {
			pulls, _, failed := r.pulls(v.After, v.First, false)
			answerData(w, map[string]any{"pullRequests": pulls}, failed...)
			return
		}
		if !strings.Contains(body.Query, "states:[APPROVED,CHANGES_REQUESTED,COMMENTED,DISMISSED]") { // else it returns drafts
			refuse(w, http.StatusBadRequest, "not recorded")
			return
		}
		if strings.Contains(body.Query, "pullRequest(number:$number)") {
			if slices.Contains(r.Slow, v.Number) {
				refuse(w, http.StatusBadGateway, "This took too long.")
				return
			}
			if !slices.ContainsFunc(r.Issues, func(i Issue) bool { return i.Number == v.Number }) {
				answer(w, map[string]any{"data": map[string]any{"repository": map[string]any{"pullRequest": nil}},
					"errors": []any{map[string]any{"type": "NOT_FOUND", "message": "Could not resolve to a PullRequest."}}})
				return
			}
			answerData(w, map[string]any{"pullRequest": map[string]any{"reviews": r.reviews(v.Number, v.After, 100)}})
			return
		}
		pulls, slow, failed := r.pulls(v.After, v.First, true)
		if slow {
			refuse(w, http.StatusBadGateway, "This took too long.")
			return
		}
		answerData(w, map[string]any{"pullRequests": pulls}, failed...)
	})
}

func answerData(w http.ResponseWriter, repository any, failed ...any) {
	reply := map[string]any{"data": map[string]any{"repository": repository}}
	if len(failed) > 0 {
		reply["errors"] = failed
	}
	answer(w, reply)
}

// pulls returns a page of the pull requests, the one that changed last first, whether the verdicts on one of them are slow, and the errors
// for those that are null. A cursor is the time and number of one, as GitHub's is.
func (r *Repository) pulls(after string, first int, reviews bool) (page any, slow bool, failed []any) {
	pulls := slices.DeleteFunc(slices.Clone(r.Issues), func(i Issue) bool { return i.Pull == nil })
	slices.SortFunc(pulls, func(a, b Issue) int { return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), b.Number-a.Number) })
	cursor := func(i Issue) string { return fmt.Sprintf("%020d %09d", i.UpdatedAt.Unix(), i.Number) }
	pulls = slices.DeleteFunc(pulls, func(i Issue) bool { return after != "" && cursor(i) >= after })
	edges := []any{}
	for n, i := range pulls[:min(first, len(pulls))] {
		if slices.Contains(r.Null, i.Number) {
			edges = append(edges, map[string]any{"cursor": cursor(i), "node": nil})
			failed = append(failed, map[string]any{"message": "Something went wrong.", "path": []any{"repository", "pullRequests", "edges", n, "node"}})
			continue
		}
		node := map[string]any{"number": i.Number, "url": i.HTMLURL, "updatedAt": i.UpdatedAt}
		if reviews {
			node["reviews"] = r.reviews(i.Number, "", 25)
			slow = slow || slices.Contains(r.Slow, i.Number)
		}
		edges = append(edges, map[string]any{"cursor": cursor(i), "node": node})
	}
	return map[string]any{"edges": edges, "pageInfo": map[string]any{"hasNextPage": len(pulls) > first}}, slow, failed
}

// reviews returns a page of the reviews of a pull request, oldest first.
func (r *Repository) reviews(pull int, after string, first int) any {
	of := slices.DeleteFunc(slices.Clone(r.Verdicts), func(v Review) bool { return v.Pull != pull })
	skip, _ := strconv.Atoi(after)
	of = of[min(skip, len(of)):]
	nodes := []any{}
	for _, v := range of[:min(first, len(of))] {
		var author any
		if v.User != nil {
			author = map[string]any{"login": v.User.Login, "__typename": map[bool]string{true: "Bot", false: "User"}[v.Bot]}
		}
		nodes = append(nodes, map[string]any{"url": v.HTMLURL, "body": v.Body, "submittedAt": v.SubmittedAt, "updatedAt": v.SubmittedAt, "author": author})
	}
	return map[string]any{"nodes": nodes, "pageInfo": map[string]any{"hasNextPage": len(of) > first, "endCursor": strconv.Itoa(skip + len(nodes))}}
}
