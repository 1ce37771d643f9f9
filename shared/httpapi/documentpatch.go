package httpapi

import (
	"context"
	"encoding/json"

	"docent/shared/apierr"
	"docent/shared/document"
	"docent/shared/filter"
)

// ChangedDocument are the fields of a document that can change without its content; it is exported because huma reads
// embedded members only of exported types.
type ChangedDocument struct {
	Title    string          `json:"title" minLength:"1" maxLength:"1024"`
	Metadata filter.Metadata `json:"metadata,omitempty" doc:"All of its metadata, in place of what it has."`
	Access   *AccessBody     `json:"access,omitempty" doc:"Who may read it, besides team keys; up to 200 names. Without it the defaultAccess of its collection decides. Empty lists: no person. A name that its rule already has still means whom it meant when it was written first."`
}

type updateDocumentInput struct {
	DocumentPath
	Conditions
	Body struct{ patch[ChangedDocument] }
}

type updateDocumentOutput struct {
	ETag string `header:"ETag"`
	Body struct {
		DocumentEntry
		AccessUnknown *AccessBody `json:"accessUnknown,omitempty" doc:"The names in the given access that nobody has yet. A person or group that gets such a name may then read it."`
	}
}

func (h *documents) update(ctx context.Context, in *updateDocumentInput) (*updateDocumentOutput, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	if removesOne(in.Body.members["metadata"]) {
		return nil, apierr.BadField("/metadata", "must not have null members, because all metadata is replaced: send what stays")
	}
	var given ChangedDocument
	in.Body.apply(&given)
	rule, err := h.rule(ctx, p.TeamID, "/access", given.Access)
	if err != nil {
		return nil, err
	}
	d, err := h.Documents.Update(ctx, p.TeamID, in.ID, document.Change{
		Fields: func(f *document.Fields) {
			changed := ChangedDocument{Title: f.Title, Metadata: f.Metadata}
			in.Body.apply(&changed)
			f.Title, f.Metadata = changed.Title, changed.Metadata
		},
		SetsAccess: in.Body.has("access"), Access: rule,
		Match: in.check(), Who: whoOf(p), RequestID: requestFrom(ctx).id,
	})
	if err != nil {
		return nil, err
	}
	out := &updateDocumentOutput{ETag: etag(d.Version)}
	out.Body.DocumentEntry = entryOf(d.Entry)
	if in.Body.has("access") {
		out.Body.AccessUnknown = unknownOf(d.Access)
	}
	return out, nil
}

// removesOne reports whether the metadata of a merge patch has a null member. By RFC 7396 that removes the member alone. Here all
// metadata is replaced, so what the sender wants to keep would be lost.
func removesOne(metadata json.RawMessage) bool {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(metadata, &members) // it is absent, or was decoded as an object before
	for _, value := range members {
		if string(value) == "null" {
			return true
		}
	}
	return false
}
