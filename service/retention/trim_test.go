package retention_test

import (
	"log/slog"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/service/audit"
	"postern/service/retention"
	"postern/testkit"
	"postern/testkit/state"
)

func TestPurge_usage(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		l := newHarness(t, db)
		project := l.make("shop").Project.ID
		now := models.Now().Unix()
		today := now / models.TrafficDay
		for _, age := range []int64{0, 30, 39, 41, 50, 400} { // days
			slot := models.TrafficSlot{ProjectID: project, Level: models.TrafficOfProject}
			daily, hourly := slot, slot
			daily.Period, daily.Since = models.TrafficDay, today-age
			hourly.Period, hourly.Since = models.TrafficHour, (today-age)*24
			l.insert(
				&models.UsageHour{ProjectID: project, Hour: (today - age) * 24, EnvironmentID: "env", Calls: 1},
				&models.UsageDay{ProjectID: project, Day: today - age, EnvironmentID: "env", Calls: 1},
				&models.Traffic{TrafficSlot: daily, FirstByte: []byte{}, Total: []byte{}},
				&models.Traffic{TrafficSlot: hourly, FirstByte: []byte{}, Total: []byte{}},
			)
		}
		s := &retention.Service{DB: db, Files: l.files, Changed: l.feed.Changed, Log: slog.New(slog.DiscardHandler)}
		want := func(days string, usage time.Duration) {
			t.Helper()
			s.Usage = usage
			if err := s.Purge(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, count := range []string{
				"usage_hours WHERE environment_id = 'env'", "usage_days WHERE true",
				"usage_traffic WHERE period = 86400", "usage_traffic WHERE period = 3600",
			} {
				query := "SELECT CAST(count(*) AS TEXT) FROM " + count + " AND project_id = '" + project + "'"
				if got := l.strings(query)[0]; got != days {
					t.Errorf("%s of %s are left, want %s", got, count, days)
				}
			}
		}
		want("6", 0)
		want("3", 40*24*time.Hour)
	})
}

func TestPurge_audit(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		l := newHarness(t, db)
		m := l.make("shop")
		s := &retention.Service{
			DB:      db,
			Files:   l.files,
			Changed: l.feed.Changed,
			Trimmer: &audit.Trimmer{DB: db},
			Log:     slog.New(slog.DiscardHandler),
		}
		purge := func(kept time.Duration) contract.AuditVerdict {
			t.Helper()
			if s.Audit = kept; s.Purge(t.Context()) != nil {
				t.Fatal("the purge failed")
			}
			verdicts, err := audit.VerifyAll(t.Context(), db, contract.AuditVerification{})
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range verdicts {
				if !v.Intact {
					t.Errorf("%+v", v.Broken)
				}
				if v.Team != nil && *v.Team == m.Workspace.Team {
					return v
				}
			}
			t.Fatal("the workspace has no log")
			return contract.AuditVerdict{}
		}
		whole := purge(0)
		if whole.Removed != 0 || purge(time.Hour).Head != whole.Head {
			t.Errorf("entries are removed before their time: %+v", whole)
		}
		purged := time.Now()
		testkit.Eventually(t, "entries that are older", func() bool { return time.Since(purged) > 2*time.Millisecond })
		if got := purge(time.Millisecond); got.Removed != whole.Entries-1 {
			t.Errorf("%+v, want all but the newest removed", got)
		}
	})
}

// The hashes of removed revoked keys stay, whether they were removed alone or with their project.
func TestPurge_revokedKeys(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		l := newHarness(t, db)
		kept, gone := l.make("kept"), l.make("gone")
		revoke := func(m made) {
			t.Helper()
			_, err := db.SQL().ExecContext(t.Context(), "UPDATE api_keys SET state = 'revoked', updated_at = "+
				"'2020-01-01 00:00:00+00:00', old_hash = hash WHERE project_id = '"+m.Project.ID+"'")
			if err != nil {
				t.Fatal(err)
			}
		}
		left := func(keys, hashes string) {
			t.Helper()
			for query, want := range map[string]string{"api_keys": keys, "revoked_hashes": hashes} {
				if got := l.strings("SELECT CAST(count(*) AS TEXT) FROM " + query)[0]; got != want {
					t.Errorf("%s has %s rows, want %s", query, got, want)
				}
			}
		}
		revoke(gone)
		if err := l.purge(); err != nil {
			t.Fatal(err)
		}
		left("2", "0") // they are kept for ever, unless it is set
		l.end(gone)
		if err := l.purge(); err != nil {
			t.Fatal(err)
		}
		left("1", "1")
		s := &retention.Service{
			DB: db, Files: l.files, Changed: l.feed.Changed, Revoked: time.Hour, Log: slog.New(slog.DiscardHandler),
		}
		if err := s.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		left("1", "1") // it is not revoked
		revoke(kept)
		if err := s.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		left("0", "2")
	})
}

// The hashes of keys that were frozen when their project was removed stay, so that no import makes them valid. Those
// of valid keys don't.
func TestPurge_frozenKeys(t *testing.T) {
	for keyState, want := range map[string]string{"frozen": "1", "active": "0"} {
		t.Run(keyState, func(t *testing.T) {
			state.Each(t, func(t *testing.T, db *models.DB) {
				l := newHarness(t, db)
				gone := l.make("gone")
				_, err := db.SQL().ExecContext(t.Context(), "UPDATE api_keys SET state = '"+keyState+"'")
				if err != nil {
					t.Fatal(err)
				}
				l.end(gone)
				if err := l.purge(); err != nil {
					t.Fatal(err)
				}
				for query, want := range map[string]string{"api_keys": "0", "revoked_hashes": want} {
					if got := l.strings("SELECT CAST(count(*) AS TEXT) FROM " + query)[0]; got != want {
						t.Errorf("%s has %s rows, want %s", query, got, want)
					}
				}
			})
		})
	}
}
