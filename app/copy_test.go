package app_test

import (
	"context"
	"testing"
	"time"

	"postern/app"
	"postern/core/contract"
	"postern/models"
	"postern/platform/config"
	"postern/service/access"
	"postern/service/audit"
	"postern/testkit"
)

// A log that retention has trimmed is copied, and is as whole in the copy.
func TestCopy_trimmedAudit(t *testing.T) {
	c := settings(t.TempDir(), "")
	if err := newApp(t, c).Close(); err != nil {
		t.Fatal(err)
	}
	trimLog(t, c)
	target := c
	target.DatabaseURL = config.Secret(testkit.Postgres(t))
	if _, err := app.Copy(t.Context(), c, target, func(string) {}); err != nil {
		t.Fatal(err)
	}
	verdicts, err := app.VerifyAudit(t.Context(), target, contract.AuditVerification{})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range verdicts {
		if !v.Intact || v.Team != nil && *v.Team == "team_a" && v.Removed != 7 {
			t.Errorf("%+v, broken %+v", v, v.Broken)
		}
	}
}

// trimLog writes eight entries of a team, and removes all but the newest.
func trimLog(t *testing.T, c config.Config) {
	t.Helper()
	db, err := models.Open(t.Context(), "", c.SQLitePath())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for range 8 {
		err := db.Write(context.Background(), func(tx *models.Tx) error {
			entry := access.Entry{Action: access.ProjectUpdate, Object: "prj_1", Team: "team_a"}
			return access.Record(tx, access.System(), entry)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := (&audit.Trimmer{DB: db}).Trim(t.Context(), models.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
}
