package source

import "context"

// Tried is tried.
func (s *Service) Tried(ctx context.Context, name ProviderName, a Access) (*SyncFailure, error) {
	return s.tried(ctx, name, a)
}
