package app

import (
	"context"
	"errors"
	"strings"
	"testing"

	"postern/platform/fault"
)

// Advice about the secrets key is only given where the key is the cause.
func TestExplainVault(t *testing.T) {
	down := fault.New(fault.Unavailable, "database_unavailable", "The database isn't responding.")
	for name, tc := range map[string]struct {
		err   error
		asKey bool
	}{
		"wrong key":     {errors.New("decryption failed"), true},
		"database down": {down, false},
		"stopped":       {context.Canceled, false},
	} {
		err := (&App{}).explainVault(tc.err)
		if !errors.Is(err, tc.err) || strings.Contains(err.Error(), "POSTERN_SECRETS_KEY") != tc.asKey {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (&App{}).explainVault(nil); err != nil {
		t.Error(err)
	}
}
