package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/document"
	"docent/shared/team"
)

// AccessBody says in requests and replies who may read. An absent list is empty.
// A request with other members is refused.
type AccessBody struct {
	Users  []string `json:"users,omitzero" doc:"The userName or id of each person who may read it."`
	Groups []string `json:"groups,omitzero" doc:"The displayName, externalId or id of each group whose members may read it."`
}

// UnmarshalJSON decodes the body, and refuses unknown members.
func (b *AccessBody) UnmarshalJSON(text []byte) error {
	names, err := access.DecodeNames(text)
	var refused *access.NamesError
	if errors.As(err, &refused) {
		return apierr.BadField(refused.Pointer, "%s", refused.Detail)
	}
	if err != nil {
		return err
	}
	*b = AccessBody{names.Users, names.Groups}
	return nil
}

// names returns b as the domain takes it, nil for no rule.
func (b *AccessBody) names() *access.Names {
	if b == nil {
		return nil
	}
	return &access.Names{Users: b.Users, Groups: b.Groups}
}

// accessOf returns a rule as it was written, nil for none.
func accessOf(r *access.Rule) *AccessBody {
	n := r.Names()
	if n == nil {
		return nil
	}
	return &AccessBody{n.Users, n.Groups}
}

// unknownOf returns the names of a rule that nobody has, nil if all are known.
func unknownOf(r *access.Rule) *AccessBody {
	u := r.Unresolved()
	if len(u.Users)+len(u.Groups) == 0 {
		return nil
	}
	return &AccessBody{append([]string{}, u.Users...), append([]string{}, u.Groups...)}
}

// rule checks b, the member of a body at pointer, and resolves its names; nil means that there is no rule.
func (s Services) rule(ctx context.Context, teamID, pointer string, b *AccessBody) (*access.Rule, error) {
	names := b.names()
	var refused *access.NamesError
	if err := names.Check(); errors.As(err, &refused) {
		return nil, apierr.BadField(pointer+refused.Pointer, "%s", refused.Detail)
	}
	if names == nil {
		return nil, nil
	}
	rules, err := s.SCIM.Resolve(ctx, teamID, names)
	if err != nil {
		return nil, err
	}
	return rules[0], nil
}

// whoOf returns the person, or key, that reads and writes documents by p.
func whoOf(p team.Principal) document.Who { return document.Who{Reader: p.Reader, Sources: p.Sources} }

// readingPatterns are the operations that read documents, or what was made from them.
// Only for these the edge reads the groups of a person. In all others the Reader reads
// nothing, so an operation that is missing here shows no document.
var readingPatterns = []string{
	"GET /documents", "PUT /documents", "GET /documents/{documentId}", "GET /documents/{documentId}/original",
	"PATCH /documents/{documentId}", "DELETE /documents/{documentId}",
	"GET /answers", "PUT /answers/{questionId}", "GET /answers/{questionId}", "DELETE /answers/{questionId}",
	"POST /chat/completions", "POST /responses",
	"POST /context/search", "POST /context/search/code", "POST /context/search/prs", "POST /context/search/issues",
	"POST /context/search/documentation", "POST /context/search/messages", "POST /context/research",
	"POST /context/query/issues", "POST /context/query/prs", "POST /context/get", "POST /mcp",
	"DELETE /collections/{collectionId}",
}

// reads reports whether the operation at pattern reads documents.
func reads(pattern string) bool { return slices.Contains(readingPatterns, pattern) }

// shows reports whether the reply of the operation at pattern shows documents, or what was made from them.
func shows(pattern string) bool {
	method, _, _ := strings.Cut(pattern, " ")
	return reads(pattern) && (method == http.MethodGet || method == http.MethodPost)
}

type documentAccessInput struct {
	DocumentPath
	User string `query:"user" required:"true" minLength:"1" maxLength:"256" doc:"The userName or id of the person."`
}

type documentAccessOutput struct {
	Body struct {
		MayRead bool        `json:"mayRead"`
		Rule    string      `json:"rule" enum:"document,default,none" doc:"Which rule decides: the document's own, the default of its collection, or none, so that everyone in the team may read it."`
		By      *AccessBody `json:"by,omitempty" doc:"The entries of the rule that let the person read it."`
	}
}

// access answers who may read, for admins and team keys. It shows nothing of the
// document.
func (h *documents) access(ctx context.Context, in *documentAccessInput) (*documentAccessOutput, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	if err := team.RequireTeamOrAdmin(p); err != nil {
		return nil, err
	}
	reader, err := h.Teams.ReaderNamed(ctx, p.TeamID, canonicalID(in.User))
	if err != nil {
		return nil, err
	}
	own, byDefault, err := h.Documents.Rules(ctx, p.TeamID, in.ID)
	if err != nil {
		return nil, err
	}
	out := &documentAccessOutput{}
	out.Body.MayRead, out.Body.Rule = reader.MayRead(own, byDefault), "none"
	rule := own
	switch {
	case own != nil:
		out.Body.Rule = "document"
	case byDefault != nil:
		out.Body.Rule, rule = "default", byDefault
	}
	if by := reader.By(rule); len(by.Users)+len(by.Groups) > 0 {
		out.Body.By = accessOf(&by)
	}
	return out, nil
}
