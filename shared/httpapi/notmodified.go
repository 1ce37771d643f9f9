package httpapi

import (
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// describeNotModified adds the status 304 to every GET whose reply has an ETag. The edge
// sends it when If-None-Match names that ETag.
func describeNotModified(doc *huma.OpenAPI) {
	for _, item := range doc.Paths {
		op := item.Get
		if op == nil || op.Responses["200"] == nil || op.Responses["200"].Headers["ETag"] == nil {
			continue
		}
		op.Responses["304"] = &huma.Response{Description: "Not Modified", Headers: map[string]*huma.Param{"ETag": op.Responses["200"].Headers["ETag"]}}
		if !slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.In == "header" && p.Name == "If-None-Match" }) {
			op.Parameters = append(op.Parameters, &huma.Param{Name: "If-None-Match", In: "header",
				Description: "Entity tags: one that names the current version gives 304.", Schema: &huma.Schema{Type: huma.TypeString}})
		}
	}
}
