package table

import "context"

type freeingKey struct{}

// Freeing marks the Writes of ctx as parts of removing data. On a full disk, an engine of one machine keeps some
// room for them, because each stores a little before the data is gone. So do the counts of calls, without which
// nobody could ask for that.
func Freeing(ctx context.Context) context.Context {
	return context.WithValue(ctx, freeingKey{}, true)
}

// IsFreeing reports whether Freeing marked ctx.
func IsFreeing(ctx context.Context) bool {
	return ctx.Value(freeingKey{}) != nil
}
