package models_test

import (
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/testkit/state"
)

const directory = "https://acme.test/dir"

// hold tries to hold the certificate of a host name for a minute.
func hold(t *testing.T, db *models.DB, host, at, holder string) (held bool) {
	t.Helper()
	err := db.Write(t.Context(), func(tx *models.Tx) (err error) {
		held, err = tx.HoldCertificate(host, at, holder, time.Minute)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// release ends a hold, with the next attempt due then.
func release(t *testing.T, db *models.DB, host, holder string, due time.Time) {
	t.Helper()
	err := db.Write(t.Context(), func(tx *models.Tx) error {
		return tx.ReleaseCertificate(models.Certificate{Host: host, DueAt: due, Problem: holder}, holder)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func certificateOf(t *testing.T, db *models.DB, host string) []models.Certificate {
	t.Helper()
	rows, err := db.Read(t.Context()).CertificatesOf([]string{host})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestHoldCertificate(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		const host = "api.shop.test"
		for _, step := range []struct {
			name, at, holder string
			before           func()
			want             bool
		}{
			{name: "a new name", at: directory, holder: "a", want: true},
			{name: "another holder in the meantime", at: directory, holder: "b"},
			{name: "another holder in the meantime, for another server", at: "https://other.test/dir", holder: "b"},
			{
				name:   "after a failure, before it is due",
				at:     directory,
				holder: "b",
				before: func() { release(t, db, host, "a", models.Now().Add(time.Hour)) },
			},
			{name: "another server", at: "https://other.test/dir", holder: "b", want: true},
			{
				name:   "when it is due",
				at:     "https://other.test/dir",
				holder: "c",
				before: func() { release(t, db, host, "b", models.Now().Add(-time.Hour)) },
				want:   true,
			},
		} {
			if step.before != nil {
				step.before()
			}
			if got := hold(t, db, host, step.at, step.holder); got != step.want {
				t.Errorf("%s: held %v, want %v", step.name, got, step.want)
			}
		}
		release(t, db, host, "b", models.Now())
		if rows := certificateOf(t, db, host); len(rows) != 1 || rows[0].Holder != "c" || rows[0].HeldUntil == nil {
			t.Errorf("a holder whose time is over changed the row: %+v", rows)
		}
	})
}

func TestDeleteUnusedCertificates(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		project, now := seed(t, db), models.Now()
		version := models.Version{
			ID:           models.NewID("ver"),
			ProjectID:    project.ID,
			Name:         "1.0.0",
			RequestsAuth: contract.RequestsAuth{Methods: []string{"api_key"}},
			CreatedAt:    now,
			UpdatedAt:    now,
		}
		environment := models.Environment{
			ID:        models.NewID("env"),
			VersionID: version.ID,
			Name:      "prod",
			Target:    "https://up.test",
			CreatedAt: now,
			UpdatedAt: now,
		}
		rows := []any{&version, &environment}
		for _, host := range []string{"verified.test", "pending.test"} {
			domain := models.Domain{
				ID:            models.NewID("dom"),
				ProjectID:     project.ID,
				EnvironmentID: environment.ID,
				Host:          host,
				CreatedAt:     now,
				UpdatedAt:     now,
			}
			if host == "verified.test" {
				domain.VerifiedAt = &now
			}
			rows = append(rows, &domain)
		}
		if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(rows...) }); err != nil {
			t.Fatal(err)
		}
		for _, host := range []string{"verified.test", "pending.test", "removed.test", "held.test"} {
			hold(t, db, host, directory, "a")
			if host != "held.test" {
				release(t, db, host, "a", now.Add(time.Hour))
			}
		}
		var deleted int64
		err := db.Write(t.Context(), func(tx *models.Tx) (err error) {
			deleted, err = tx.DeleteUnusedCertificates()
			return err
		})
		if err != nil || deleted != 2 {
			t.Errorf("%d deleted, %v; want 2", deleted, err)
		}
		for host, want := range map[string]int{
			"verified.test": 1, "pending.test": 0, "removed.test": 0, "held.test": 1,
		} {
			if got := len(certificateOf(t, db, host)); got != want {
				t.Errorf("%s has %d certificates, want %d", host, got, want)
			}
		}
	})
}
