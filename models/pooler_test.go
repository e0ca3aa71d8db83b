package models_test

import (
	"errors"
	"testing"

	"postern/models"
	"postern/testkit/pgbouncer"
	"postern/testkit/state"
)

func TestOpenPostgresThroughAPooler(t *testing.T) {
	tests := []struct {
		mode string
		want error
	}{
		{"session", nil},
		{"transaction", models.ErrTransactionPooling},
		{"statement", models.ErrTransactionPooling},
	}
	for _, tt := range tests {
		t.Run(tt.mode+" mode", func(t *testing.T) {
			db, err := models.Open(t.Context(), pgbouncer.Start(t, state.Postgres(t), tt.mode), "")
			if !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			if err != nil {
				return
			}
			write := func(tx *models.Tx) error { return tx.AddRevision("prj_1", "", models.Now()) }
			if err := db.Write(t.Context(), write); err != nil {
				t.Error(err)
			}
			if last, err := db.Feed(t.Context()).LastRevision(); err != nil || last.ProjectID != "prj_1" {
				t.Errorf("got %+v, %v", last, err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
