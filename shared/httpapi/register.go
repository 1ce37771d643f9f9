package httpapi

import (
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"docent/shared/apierr"
	"docent/shared/memory"
	"docent/shared/team"
)

// register adds one operation. It is the only caller of huma.Register, so every error of a
// handler passes through toProblem, and every operation documents the common statuses.
func register[I, O any](api huma.API, op huma.Operation, handle func(context.Context, *I) (*O, error)) {
	op.MaxBodyBytes = -1 // readBody has bounded it
	op.BodyReadTimeout = -1
	common := []int{401, 403, 405, 429, 500, 503}
	if op.Method == http.MethodPost || op.Method == http.MethodPut || op.Method == http.MethodPatch {
		common = append(common, 400, 413, 415)
	}
	if shows(op.Method + " " + op.Path) {
		common = append(common, 409)
	}
	op.Errors = slices.Compact(slices.Sorted(slices.Values(append(common, op.Errors...))))
	op.Middlewares = append(op.Middlewares, readParameters(api))
	huma.Register(api, op, func(ctx context.Context, in *I) (*O, error) {
		if op.Method == http.MethodGet {
			ctx = memory.WithReads(ctx, readCost) // it replies what it reads
		}
		out, err := handle(ctx, in)
		if err != nil {
			return nil, toProblem(ctx, err)
		}
		return out, nil
	})
}

// caller returns the principal of the request.
func caller(ctx context.Context) (team.Principal, error) {
	p, ok := team.PrincipalFrom(ctx)
	if !ok {
		return p, apierr.New(apierr.Unauthenticated, apierr.CodeUnauthorized, unauthorizedDetail)
	}
	return p, nil
}
