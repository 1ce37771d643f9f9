package source

import (
	"context"
	"errors"
	"strings"
	"time"

	"docent/shared/apierr"
	"docent/shared/memory"
)

// probeTime bounds the check of new settings at the provider. A request waits for it.
const probeTime = 10 * time.Second

// MaxProbed bounds each reply of a provider to such a check, in bytes: nearly all have some kilobytes. Whoever names the
// server decides how long they are.
const MaxProbed = 2 << 20

// probeCost is the memory of one check, whose replies are decoded one after the other.
const probeCost = 8 * MaxProbed

// tried asks the provider whether a source with these settings and secrets can be read.
// Its error is a field error if not. If the provider cannot tell now, tried returns what
// to show on the source; the next sync finds out.
func (s *Service) tried(ctx context.Context, name ProviderName, a Access) (*SyncFailure, error) {
	if s.Probe == nil {
		return nil, nil
	}
	memory.Yield(ctx) // before the reservation, which would otherwise keep a turn while the provider is slow
	if err := memory.Reserve(ctx, probeCost); err != nil {
		return nil, err
	}
	defer memory.Return(ctx, probeCost)
	timed, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	err := s.Probe(timed, name, a)
	var wrong *apierr.Error
	var failed *SyncError
	switch {
	case err == nil:
		return nil, nil
	case errors.As(err, &wrong):
		return nil, wrong
	case errors.As(err, &failed):
		return &SyncFailure{failed.Code, failed.Detail, s.now()}, nil
	case timed.Err() != nil && ctx.Err() == nil:
		return &SyncFailure{Unreadable, "The provider did not answer in time.", s.now()}, nil
	default:
		return nil, err
	}
}

// BadSetting returns the error of a probe for a failure err of the provider. If err is a
// *SyncError whose code is in settings, that is a field error of the setting there, such
// as "accessToken" or "repositories/3"; otherwise it is err.
func BadSetting(err error, settings map[string]string) error {
	var failed *SyncError
	if !errors.As(err, &failed) || settings[failed.Code] == "" {
		return err
	}
	return apierr.BadField("/settings/"+settings[failed.Code], "%s", strings.TrimSuffix(failed.Detail, ".")).WithCause(err)
}
