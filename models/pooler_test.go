package models_test

import (
	"errors"
	"testing"

	"postern/models"
	"postern/testkit/servers"
	"postern/testkit/state"
)

func TestOpen_throughPoolerOfPostgres(t *testing.T) {
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
			db, err := models.Open(t.Context(), servers.StartPgBouncer(t, state.Postgres(t), tt.mode, 40), "")
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

// A pooler with too few sessions is refused at the start: later, the change feed would wait for one.
func TestOpen_poolTooSmall(t *testing.T) {
	for sessions, want := range map[int]error{models.MinConns: nil, models.MinConns - 1: models.ErrPoolTooSmall} {
		db, err := models.OpenWith(t.Context(), models.Options{
			DatabaseURL: servers.StartPgBouncer(t, state.Postgres(t), "session", sessions),
			MaxConns:    models.MinConns,
		})
		if !errors.Is(err, want) {
			t.Errorf("%d sessions: %v, want %v", sessions, err, want)
		}
		if err == nil {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
