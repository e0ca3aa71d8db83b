package audit_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/audit"
	"postern/testkit/state"
)

var quiet = slog.New(slog.DiscardHandler)

func TestListFiltersAndPages(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		now := models.Now()
		project := models.Project{ID: "prj_1", TeamID: "team_a", Name: "shop", CreatedAt: now, UpdatedAt: now}
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			if err := tx.Insert(&models.Account{
				ID:        "acc_ana",
				Email:     "ana@example.com",
				CreatedAt: now,
			}, &models.Account{ID: "acc_eve", Email: "eve@example.com", CreatedAt: now},
				&models.Team{ID: "team_a", CreatedAt: now}, &models.Team{ID: "team_b", CreatedAt: now},
				&models.Membership{
					TeamID:    "team_a",
					AccountID: "acc_ana",
					Role:      "owner",
					CreatedAt: now,
				}, &project); err != nil {
				return err
			}
			for i := range 5 {
				if err := access.Record(tx, ana, access.Entry{
					Action:  access.KeyCreate,
					Object:  fmt.Sprint("key_", i),
					Project: "prj_1",
					Team:    "team_a",
				}); err != nil {
					return err
				}
			}
			eve := access.Principal{Account: "acc_eve", RemoteAddr: "198.51.100.7:1"}
			access.RecordRefused(tx, eve, access.Entry{
				Action: access.ProjectRead,
				Object: "prj_1",
				Team:   "team_a",
			}, "not_found")
			return access.Record(tx, eve, access.Entry{Action: access.KeyCreate, Object: "key_x", Team: "team_b"})
		})
		if err != nil {
			t.Fatal(err)
		}
		s := &audit.Service{DB: db}
		ask := func(q audit.Query) (numbers []int64, next string) {
			t.Helper()
			page, err := s.List(t.Context(), ana, q)
			if err != nil {
				t.Fatalf("%+v: %v", q, err)
			}
			for _, e := range page.Items {
				numbers = append(numbers, e.Number)
				if wantName := map[string]string{"acc_ana": "ana@example.com"}[e.Actor]; e.ActorName != wantName ||
					e.ProjectName != "shop" {
					t.Errorf("%s is called %q, the project %q", e.Actor, e.ActorName, e.ProjectName)
				}
			}
			return numbers, page.Next
		}
		tests := []struct {
			q    audit.Query
			want string
			next string
		}{
			{audit.Query{}, "[6 5 4 3 2 1]", ""},
			{audit.Query{Page: models.Page{Limit: 2}}, "[6 5]", "5"},
			{audit.Query{Page: models.Page{Cursor: "5", Limit: 2}}, "[4 3]", "3"},
			{audit.Query{Page: models.Page{Cursor: "3", Limit: 2}}, "[2 1]", ""},
			{audit.Query{Outcome: "refused"}, "[6]", ""},
			{audit.Query{Action: "key.create", Outcome: "refused"}, "[]", ""},
			{audit.Query{Actor: "ANA@example.com"}, "[5 4 3 2 1]", ""},
			{audit.Query{Actor: "nobody@example.com"}, "[]", ""},
			{audit.Query{Actor: "acc_eve"}, "[6]", ""},
			{audit.Query{Object: "key_3"}, "[4]", ""},
			{audit.Query{Project: "shop"}, "[6 5 4 3 2 1]", ""},
			{audit.Query{From: now.Add(time.Hour)}, "[]", ""},
			{audit.Query{To: now.Add(-time.Hour)}, "[]", ""},
			{audit.Query{From: now.Add(-time.Hour), To: now.Add(time.Hour)}, "[6 5 4 3 2 1]", ""},
		}
		for _, tt := range tests {
			if got, next := ask(tt.q); fmt.Sprint(got) != tt.want || next != tt.next {
				t.Errorf("%+v: %v and then %q, want %s and %q", tt.q, got, next, tt.want, tt.next)
			}
		}
		for _, tt := range []struct {
			who  access.Principal
			q    audit.Query
			want fault.Kind
		}{
			{access.Principal{}, audit.Query{}, fault.Unauthenticated},
			{ana, audit.Query{Team: "team_b"}, fault.NotFound},
			{ana, audit.Query{Team: audit.Installation}, fault.NotFound},
			{access.Principal{
				Account:  "v",
				HomeTeam: "team_a",
				Roles:    map[string]access.Role{"team_a": access.Viewer},
			}, audit.Query{}, fault.Forbidden},
			{ana, audit.Query{Page: models.Page{Cursor: "x"}}, fault.Invalid},
			{ana, audit.Query{From: now, To: now}, fault.Invalid},
		} {
			if _, err := s.List(t.Context(), tt.who, tt.q); err == nil || fault.KindOf(err) != tt.want {
				t.Errorf("%+v: %v", tt.q, err)
			}
		}
	})
}

// A flood leaves as many entries as its bounds allow, and one that says how many
// there were beyond.
func TestAFloodOfRefusalsIsBounded(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		now := models.Now()
		r := &audit.Refusals{DB: db, Log: quiet, PerSource: 3, PerMinute: 5, Now: func() time.Time { return now }}
		flood := func(remoteAddr string) {
			r.Add(
				t.Context(), access.Principal{RemoteAddr: remoteAddr},
				access.Entry{Action: access.CredentialUse}, "invalid_token",
			)
		}
		for i := range 20 {
			flood(fmt.Sprintf("192.0.2.1:%d", i))               // 3 of these
			flood(fmt.Sprintf("[2001:db8:1:2::%x]:1", i))       // 2 of these: one network
			flood(fmt.Sprintf("[::ffff:192.0.2.1]:%d", 1000+i)) // the first once more
		}
		r.Flush(t.Context())
		entries, err := db.Read(t.Context()).AuditOf("", 100)
		if err != nil || len(entries) != 6 {
			t.Fatalf("%d entries, error %v", len(entries), err)
		}
		if gap := entries[0]; gap.Action != string(access.AuditGap) || gap.Detail["dropped"] != "55" {
			t.Errorf("the last entry is %+v", gap)
		}

		// The next minute starts a new count, and reports what the one before dropped.
		now = now.Add(time.Minute)
		for range 4 {
			flood("192.0.2.1:1")
		}
		now = now.Add(time.Minute)
		flood("192.0.2.1:1")
		entries, err = db.Read(t.Context()).AuditOf("", 100)
		if err != nil || len(entries) != 11 || entries[1].Detail["dropped"] != "1" {
			t.Errorf("%d entries, the one before the last %+v, error %v", len(entries), entries[1], err)
		}
	})
}

// A caller can ask for any team that comes to mind. What does not exist gets no
// chain, and its made-up name, which may be a secret in the wrong place, is kept
// nowhere.
func TestARefusalNamesNoTeamThatDoesNotExist(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		r := &audit.Refusals{DB: db, Log: quiet}
		eve := access.Principal{Account: "acc_eve", RemoteAddr: "198.51.100.7:1"}
		const made = "postern_pat_in_the_wrong_place"
		r.Add(t.Context(), eve, access.Entry{
			Action:  access.ProjectRead,
			Object:  made,
			Project: made,
			Team:    made,
		}, "not_found")
		for _, table := range []string{"audit_entries", "audit_chains"} {
			var found int
			query := "SELECT count(*) FROM " + table + " WHERE team_id <> ''"
			if err := db.SQL().QueryRowContext(t.Context(), query).Scan(&found); err != nil || found != 0 {
				t.Errorf("%s: %d rows of a team, %v", table, found, err)
			}
		}
		var object string
		if err := db.SQL().QueryRowContext(t.Context(), "SELECT object || project_id FROM audit_entries").Scan(&object); err != nil ||
			object != "" {
			t.Errorf("the entry tells of %q, %v", object, err)
		}
	})
}
