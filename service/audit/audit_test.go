package audit_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/audit"
	"postern/testkit/state"
)

var quiet = slog.New(slog.DiscardHandler)

// recordTeams records five changes and a refusal in team_a, numbered from 1, and one
// change in team_b.
func recordTeams(t *testing.T, db *models.DB, now time.Time) {
	t.Helper()
	err := db.Write(t.Context(), func(tx *models.Tx) error {
		err := tx.Insert(
			&models.Account{ID: "acc_ana", Email: "ana@example.com", CreatedAt: now},
			&models.Account{ID: "acc_eve", Email: "eve@example.com", CreatedAt: now},
			&models.Team{ID: "team_a", CreatedAt: now},
			&models.Team{ID: "team_b", CreatedAt: now},
			&models.Membership{TeamID: "team_a", AccountID: "acc_ana", Role: "owner", CreatedAt: now},
			&models.Project{ID: "prj_1", TeamID: "team_a", Name: "shop", CreatedAt: now, UpdatedAt: now},
		)
		if err != nil {
			return err
		}
		for i := range 5 {
			err := access.Record(tx, ana, access.Entry{
				Action:  access.KeyCreate,
				Object:  fmt.Sprint("key_", i),
				Project: "prj_1",
				Team:    "team_a",
			})
			if err != nil {
				return err
			}
		}
		eve := access.Principal{Account: "acc_eve", RemoteAddr: "198.51.100.7:1"}
		refused := access.Entry{Action: access.ProjectRead, Object: "prj_1", Team: "team_a"}
		access.RecordRefused(tx, eve, refused, "not_found")
		return access.Record(tx, eve, access.Entry{Action: access.KeyCreate, Object: "key_x", Team: "team_b"})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestList_filtersAndPages(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		now := models.Now()
		recordTeams(t, db, now)
		s := &audit.Service{DB: db}
		for name, tt := range map[string]struct {
			in   contract.AuditList
			want string
			next string
		}{
			"all":             {contract.AuditList{}, "[6 5 4 3 2 1]", ""},
			"first page":      {contract.AuditList{Page: contract.Page{Limit: 2}}, "[6 5]", "5"},
			"second page":     {contract.AuditList{Page: contract.Page{Cursor: "5", Limit: 2}}, "[4 3]", "3"},
			"last page":       {contract.AuditList{Page: contract.Page{Cursor: "3", Limit: 2}}, "[2 1]", ""},
			"outcome":         {contract.AuditList{Outcome: "refused"}, "[6]", ""},
			"two filters":     {contract.AuditList{Action: "key.create", Outcome: "refused"}, "[]", ""},
			"actor by email":  {contract.AuditList{Actor: "ANA@example.com"}, "[5 4 3 2 1]", ""},
			"unknown email":   {contract.AuditList{Actor: "unknown@example.com"}, "[]", ""},
			"actor by id":     {contract.AuditList{Actor: "acc_eve"}, "[6]", ""},
			"object":          {contract.AuditList{Object: "key_3"}, "[4]", ""},
			"project by name": {contract.AuditList{Project: "shop"}, "[6 5 4 3 2 1]", ""},
			"from later":      {contract.AuditList{From: now.Add(time.Hour)}, "[]", ""},
			"to earlier":      {contract.AuditList{To: now.Add(-time.Hour)}, "[]", ""},
			"oldest first":    {contract.AuditList{Sort: "created"}, "[1 2 3 4 5 6]", ""},
			"oldest, page 1":  {contract.AuditList{Page: contract.Page{Limit: 2}, Sort: "created"}, "[1 2]", "2"},
			"oldest, page 2": {
				contract.AuditList{Page: contract.Page{Limit: 2, Cursor: "2"}, Sort: "created"}, "[3 4]", "4",
			},
			"newest first":    {contract.AuditList{Sort: "-created"}, "[6 5 4 3 2 1]", ""},
			"text in email":   {contract.AuditList{Text: "ANA@"}, "[5 4 3 2 1]", ""},
			"text in object":  {contract.AuditList{Text: "key_3"}, "[4]", ""},
			"text in address": {contract.AuditList{Text: "198.51.100"}, "[6]", ""},
			"text in detail":  {contract.AuditList{Text: "not_found"}, "[6]", ""},
			"text and action": {contract.AuditList{Action: "key.create", Text: "not_found"}, "[]", ""},
			"outsider's mail": {contract.AuditList{Text: "eve@"}, "[]", ""},
			"not a pattern":   {contract.AuditList{Text: "key_%"}, "[]", ""},
			"from and to": {
				contract.AuditList{From: now.Add(-time.Hour), To: now.Add(time.Hour)}, "[6 5 4 3 2 1]", "",
			},
		} {
			t.Run(name, func(t *testing.T) {
				page, err := s.List(t.Context(), ana, tt.in)
				if err != nil {
					t.Fatal(err)
				}
				numbers := []int64{}
				for _, e := range page.Items {
					numbers = append(numbers, e.Number)
					want := map[string]*string{"acc_ana": new("ana@example.com")}[e.Actor.ID]
					if diff := cmp.Diff(want, e.Actor.Email); diff != "" {
						t.Errorf("the email address of %s (-want +got):\n%s", e.Actor.ID, diff)
					}
					if e.ProjectName != "shop" {
						t.Errorf("the project is called %q", e.ProjectName)
					}
				}
				if got := fmt.Sprint(numbers); got != tt.want {
					t.Errorf("entries %s, want %s", got, tt.want)
				}
				if page.Next != tt.next {
					t.Errorf("next %q, want %q", page.Next, tt.next)
				}
			})
		}
	})
}

func TestList_refused(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		now := models.Now()
		recordTeams(t, db, now)
		s := &audit.Service{DB: db}
		viewer := access.Principal{
			Account:  "v",
			HomeTeam: "team_a",
			Roles:    map[string]access.Role{"team_a": access.Viewer},
		}
		for name, tt := range map[string]struct {
			caller access.Principal
			in     contract.AuditList
			want   fault.Kind
		}{
			"a caller without an account": {access.Principal{}, contract.AuditList{}, fault.Unauthenticated},
			"another team":                {ana, contract.AuditList{Team: "team_b"}, fault.NotFound},
			"the installation":            {ana, contract.AuditList{Team: contract.Installation}, fault.NotFound},
			"a viewer":                    {viewer, contract.AuditList{}, fault.Forbidden},
			"an invalid cursor":           {ana, contract.AuditList{Page: contract.Page{Cursor: "x"}}, fault.Invalid},
			"an empty period":             {ana, contract.AuditList{From: now, To: now}, fault.Invalid},
		} {
			t.Run(name, func(t *testing.T) {
				if _, err := s.List(t.Context(), tt.caller, tt.in); err == nil || fault.KindOf(err) != tt.want {
					t.Errorf("%v, want an error of kind %v", err, tt.want)
				}
			})
		}
	})
}

func TestGet(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		recordTeams(t, db, models.Now())
		if err := db.Write(t.Context(), func(tx *models.Tx) error { // in the installation's log
			access.RecordRefused(tx, access.Principal{}, access.Entry{Action: access.CredentialUse}, "invalid_token")
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		s := &audit.Service{DB: db}
		of := func(team string) contract.AuditPath {
			t.Helper()
			list, err := db.Read(t.Context()).AuditOf(team, 1)
			if err != nil {
				t.Fatal(err)
			}
			return contract.AuditPath{Entry: list[0].ID}
		}
		got, err := s.Get(t.Context(), ana, of("team_a"))
		if err != nil || got.Number != 6 || got.Outcome != "refused" || got.ProjectName != "shop" {
			t.Errorf("%+v, %v", got, err)
		}
		viewer := access.Principal{Account: "v", Roles: map[string]access.Role{"team_a": access.Viewer}}
		for name, tt := range map[string]struct {
			caller access.Principal
			in     contract.AuditPath
			want   fault.Kind
		}{
			"a caller without an account": {access.Principal{}, of("team_a"), fault.Unauthenticated},
			"another team":                {ana, of("team_b"), fault.NotFound},
			"the installation":            {ana, of(""), fault.NotFound},
			"no entry":                    {ana, contract.AuditPath{Entry: "aud_none"}, fault.NotFound},
			"a viewer":                    {viewer, of("team_a"), fault.Forbidden},
		} {
			if _, err := s.Get(t.Context(), tt.caller, tt.in); err == nil || fault.KindOf(err) != tt.want {
				t.Errorf("%s: %v, want an error of kind %v", name, err, tt.want)
			}
		}
	})
}

// A flood leaves as many entries as its bounds allow, and one that says how many
// there were beyond.
func TestRefusals_bounded(t *testing.T) {
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
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) != 6 {
			t.Fatalf("%d entries, want 6", len(entries))
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
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) != 11 {
			t.Fatalf("%d entries, want 11", len(entries))
		}
		if dropped := entries[1].Detail["dropped"]; dropped != "1" {
			t.Errorf("the entry before the last reports %q dropped, want 1", dropped)
		}
	})
}

// A caller can name any team. A team that does not exist gets no chain, and its made-up name, which may be a secret in
// the wrong place, is kept nowhere.
func TestRefusals_unknownTeam(t *testing.T) {
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
		row := db.SQL().QueryRowContext(t.Context(), "SELECT object || project_id FROM audit_entries")
		if err := row.Scan(&object); err != nil {
			t.Fatal(err)
		}
		if object != "" {
			t.Errorf("the entry tells of %q", object)
		}
	})
}
