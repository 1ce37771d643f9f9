// Package probetest checks what the connectors say of settings that are tried at a provider.
package probetest

import (
	"errors"
	"strings"
	"testing"

	"docent/shared/apierr"
	"docent/shared/source"
)

// Check compares the error of a Probe with the text that it must contain; says is "" if there must be none. A pointer names
// the setting that it must be about. Without one it is a *source.SyncError, which says nothing about the settings.
func Check(t *testing.T, err error, pointer, says string) {
	t.Helper()
	var wrong *apierr.Error
	var failed *source.SyncError
	switch {
	case says == "" && err == nil:
	case says == "" || err == nil || !strings.Contains(err.Error(), says):
		t.Errorf("%v, want %q", err, says)
	case pointer == "" && !errors.As(err, &failed):
		t.Errorf("%v is not a SyncError", err)
	case pointer != "" && (!errors.As(err, &wrong) || wrong.Fields[0].Pointer != pointer):
		t.Errorf("%v is not about %s", err, pointer)
	}
}
