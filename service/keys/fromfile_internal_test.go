package keys

import (
	"testing"
	"time"

	"postern/core/contract"
	"postern/core/keyfile"
	"postern/models"
)

// A row with the time that is left names a later expiry each time its file is read, which never makes a key valid for
// longer. A row with a date can.
func TestImport_expiryOfUpdate(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	at := func(hours int) *time.Time {
		when := now.Add(time.Duration(hours) * time.Hour)
		return &when
	}
	for name, tc := range map[string]struct {
		was, row, want *time.Time
		relative       bool
	}{
		"time left, later":           {was: at(1), row: at(5), relative: true, want: at(1)},
		"time left, earlier":         {was: at(5), row: at(1), relative: true, want: at(1)},
		"time left, never before":    {row: at(5), relative: true, want: at(5)},
		"a date, later":              {was: at(1), row: at(5), want: at(5)},
		"a date, earlier":            {was: at(5), row: at(1), want: at(1)},
		"no expiry, a date before":   {was: at(5), want: at(5)},
		"time left that has run out": {was: at(-1), row: at(0), relative: true, want: at(-1)},
	} {
		t.Run(name, func(t *testing.T) {
			was := models.APIKey{ID: "key_1", Owner: "ana", State: contract.KeyActive, ExpiresAt: tc.was}
			key := was
			key.ID, key.ExpiresAt, key.Description = "key_2", tc.row, "new"
			in := &keyfile.Row{Number: 1, SHA256: [32]byte{1}, Relative: tc.relative}
			b := &batchOf{
				importing: &importing{in: contract.KeyImport{Update: true}, seen: map[uint64]prior{}},
				now:       now, at: map[[32]byte]int{}, existing: map[[32]byte]models.APIKey{in.SHA256: was},
			}
			if wrong := b.again(in, key, 1, b.priorOf(&was), "The project has this key"); len(wrong) > 0 {
				t.Fatal(wrong)
			}
			if len(b.updated) != 1 || b.updated[0].after.Description != "new" {
				t.Fatalf("updated %+v", b.updated)
			}
			got := b.updated[0].after.ExpiresAt
			if (got == nil) != (tc.want == nil) || got != nil && !got.Equal(*tc.want) {
				t.Errorf("the key expires at %v, want %v", got, tc.want)
			}
		})
	}
}
