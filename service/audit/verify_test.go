package audit_test

import (
	"fmt"
	"sync"
	"testing"

	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/audit"
	"postern/testkit/state"
)

var ana = access.Principal{
	Account:    "acc_ana",
	HomeTeam:   "team_a",
	Roles:      map[string]access.Role{"team_a": access.Owner},
	Token:      "ses_1",
	RemoteAddr: "192.0.2.1:4711",
	RequestID:  "req_1",
}

type setting struct {
	Name   string
	Weight float64
	Tags   []string
	Count  int64
	On     bool
}

func record(t *testing.T, db *models.DB, teams ...string) {
	t.Helper()
	err := db.Write(t.Context(), func(tx *models.Tx) error {
		for _, team := range teams {
			err := access.Record(tx, ana, access.Entry{
				Action: access.ProjectUpdate,
				Object: "prj_1",
				Team:   team,
				Detail: map[string]string{"name": "<shop> & \u202e\xff"},
				Before: setting{Name: "a", Weight: 0.1, Tags: []string{}},
				After:  setting{Name: "é\u2028", Weight: 1e21, Tags: []string{"x"}, Count: 1 << 40, On: true},
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, db *models.DB, statement string) {
	t.Helper()
	result, err := db.SQL().ExecContext(t.Context(), statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		t.Fatalf("%s: changed %d rows, error %v", statement, n, err)
	}
}

// Whatever is done to a chain of five from outside is found, at the first place
// where it is not what it was.
func TestEveryChangeFromOutsideIsFound(t *testing.T) {
	const copied = "id, team_id, number, hash, actor, token_id, action, object, project_id, outcome, detail, " +
		"changes, remote_addr, request_id, created_at"
	tests := map[string]struct {
		statements []string
		number     int64 // of the break, 0 for an entry outside of the chain
	}{
		"an entry is removed": {
			[]string{"DELETE FROM audit_entries WHERE team_id = 'team_a' AND number = 3"},
			3,
		},
		"the first is removed": {
			[]string{"DELETE FROM audit_entries WHERE team_id = 'team_a' AND number = 1"},
			1,
		},
		"the last is removed": {
			[]string{"DELETE FROM audit_entries WHERE team_id = 'team_a' AND number = 5"},
			5,
		},
		"the last and its place": {
			[]string{
				"DELETE FROM audit_entries WHERE team_id = 'team_a' AND number = 5",
				"UPDATE audit_chains SET number = 4 WHERE team_id = 'team_a'",
			},
			4,
		},
		"all are removed":             {[]string{"DELETE FROM audit_entries WHERE team_id = 'team_a'"}, 1},
		"the recorded end is removed": {[]string{"DELETE FROM audit_chains WHERE team_id = 'team_a'"}, 0},
		"closed up after a removal": {
			[]string{
				"DELETE FROM audit_entries WHERE team_id = 'team_a' AND number = 2",
				"UPDATE audit_entries SET number = number - 1 WHERE team_id = 'team_a' AND number > 2",
			},
			2,
		},
		"two change places": {[]string{"UPDATE audit_entries SET number = 100 WHERE team_id = 'team_a' AND number = 2",
			"UPDATE audit_entries SET number = 2 WHERE team_id = 'team_a' AND number = 3", "UPDATE audit_entries SET number = 3 WHERE team_id = 'team_a' AND number = 100"}, 2},
		"a copy is put in": {
			[]string{
				"INSERT INTO audit_entries (" + copied + ") SELECT 'zzz', team_id, number, hash, actor, token_id, action, object, project_id, outcome, detail, changes, remote_addr, request_id, created_at FROM audit_entries WHERE team_id = 'team_a' AND number = 2",
			},
			2,
		},
		"one is put in without a place": {
			[]string{
				"INSERT INTO audit_entries (" + copied + ") SELECT 'zzz', team_id, 0, '', actor, token_id, action, object, project_id, outcome, detail, changes, remote_addr, request_id, created_at FROM audit_entries WHERE team_id = 'team_a' AND number = 2",
			},
			0,
		},
		"one moves to another team": {[]string{"UPDATE audit_entries SET team_id = 'team_c' WHERE team_id = " +
			"'team_a' AND number = 3"}, 3},
	}
	for _, column := range []string{"id", "actor", "token_id", "action", "object", "project_id", "outcome", "remote_addr", "request_id", "hash"} {
		tests["another "+column] = struct {
			statements []string
			number     int64
		}{[]string{"UPDATE audit_entries SET " + column + " = 'changed' WHERE team_id = 'team_a' AND number = 4"}, 4}
	}
	for column, value := range map[string]string{
		"detail":     `{"name":"changed"}`,
		"changes":    "{}",
		"created_at": "2020-01-01 00:00:00+00:00",
	} {
		tests["another "+column] = struct {
			statements []string
			number     int64
		}{[]string{"UPDATE audit_entries SET " + column + " = '" + value + "' WHERE team_id = 'team_a' AND number = 4"}, 4}
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			state.Each(t, func(t *testing.T, db *models.DB) {
				for range 5 {
					record(t, db, "team_a", "team_b")
				}
				s := &audit.Service{DB: db}
				verdict, err := s.Verify(t.Context(), ana, "", audit.Head{})
				if err != nil || verdict.Broken != nil || verdict.Entries != 5 {
					t.Fatalf("before: %+v, %v", verdict, err)
				}
				for _, statement := range tt.statements {
					run(t, db, statement)
				}
				verdict, err = s.Verify(t.Context(), ana, "team_a", audit.Head{})
				if err != nil || verdict.Broken == nil || verdict.Broken.Number != tt.number {
					t.Errorf("got %+v, broken %+v, error %v", verdict, verdict.Broken, err)
				}
				all, err := audit.VerifyAll(t.Context(), db)
				if err != nil {
					t.Fatal(err)
				}
				for _, verdict := range all {
					if broken := verdict.Broken != nil; broken == (verdict.Team == "team_b" || verdict.Team == "") {
						t.Errorf("of all: %+v, broken %+v", verdict, verdict.Broken)
					}
				}
			})
		})
	}
}

// Who rewrites a whole chain makes one that fits; not one that fits what others
// have kept of it.
func TestARewrittenChainDoesNotLeadThroughAKeptHead(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := &audit.Service{DB: db}
		record(t, db, "team_a", "team_a", "team_a")
		verdict, err := s.Verify(t.Context(), ana, "", audit.Head{})
		if err != nil {
			t.Fatal(err)
		}
		kept := verdict.Head
		record(t, db, "team_a")
		if verdict, err = s.Verify(t.Context(), ana, "", kept); err != nil || verdict.Broken != nil {
			t.Fatalf("grown: %+v, %v", verdict.Broken, err)
		}
		run(t, db, "DELETE FROM audit_entries WHERE team_id = 'team_a'")
		run(t, db, "DELETE FROM audit_chains WHERE team_id = 'team_a'")
		record(t, db, "team_a", "team_a", "team_a", "team_a")
		if verdict, err = s.Verify(t.Context(), ana, "", audit.Head{}); err != nil || verdict.Broken != nil {
			t.Fatalf("rewritten: %+v, %v", verdict.Broken, err)
		}
		if verdict, err = s.Verify(t.Context(), ana, "", kept); err != nil || verdict.Broken == nil ||
			verdict.Broken.Number != 3 {
			t.Errorf("against what was kept: %+v, %v", verdict.Broken, err)
		}
		if verdict, err = s.Verify(t.Context(), ana, "", audit.Head{
			Number: 9,
			Hash:   kept.Hash,
		}); err != nil || verdict.Broken == nil {
			t.Errorf("against a longer one: %+v, %v", verdict.Broken, err)
		}
	})
}

// Transactions that write into the same chains in different orders neither meet in
// a deadlock nor leave gaps.
func TestManyWritersMakeOneChain(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		const writers, each = 8, 5
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for range each {
					if w%2 == 0 {
						record(t, db, "team_a", "team_b")
					} else {
						record(t, db, "team_b", "team_a")
					}
				}
			})
		}
		wg.Wait()
		all, err := audit.VerifyAll(t.Context(), db)
		if err != nil || len(all) != 3 {
			t.Fatalf("%+v, %v", all, err)
		}
		for _, verdict := range all {
			if verdict.Broken != nil || (verdict.Team != "" && verdict.Entries != writers*each) {
				t.Errorf("%+v, broken %+v", verdict, verdict.Broken)
			}
		}
	})
}

// What was recorded before there were chains is taken in once, by the first start
// that knows of them.
func TestEarlierEntriesAreChainedOnce(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		run(t, db, "DELETE FROM audit_chains")
		old := func(id, team string) string {
			return fmt.Sprintf(
				`INSERT INTO audit_entries (id, actor, action, object, team_id, outcome, detail, remote_addr, request_id, created_at)
				VALUES ('%s', 'acc_ana', 'key.create', 'key_1', '%s', 'done', '{"owner": "billing",  "a": "b"}', '', '', '2026-01-02 03:04:05.678901+00:00')`,
				id,
				team,
			)
		}
		for i := range 700 {
			run(t, db, old(fmt.Sprintf("aud_%04d", i), "team_a"))
		}
		run(t, db, old("aud_other", "team_b"))
		for range 2 {
			if _, _, err := db.Migrate(t.Context(), quiet); err != nil {
				t.Fatal(err)
			}
		}
		record(t, db, "team_a")
		s := &audit.Service{DB: db}
		verdict, err := s.Verify(t.Context(), ana, "", audit.Head{})
		if err != nil || verdict.Broken != nil || verdict.Entries != 701 {
			t.Errorf("%+v, broken %+v, error %v", verdict, verdict.Broken, err)
		}
		run(t, db, old("aud_later", "team_a"))
		if _, _, err := db.Migrate(t.Context(), quiet); err != nil {
			t.Fatal(err)
		}
		verdict, err = s.Verify(t.Context(), ana, "", audit.Head{})
		if err != nil || verdict.Broken == nil || verdict.Broken.Entry != "aud_later" {
			t.Errorf("put in later: %+v, broken %+v, error %v", verdict, verdict.Broken, err)
		}
	})
}

// A transaction that fails leaves no entry and does not move the chain.
func TestWhatIsRolledBackIsNotInTheChain(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		record(t, db, "team_a")
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			if err := access.Record(tx, ana, access.Entry{Action: access.KeyCreate, Team: "team_a"}); err != nil {
				return err
			}
			return fmt.Errorf("no")
		})
		if err == nil {
			t.Fatal("it was written")
		}
		verdict, err := (&audit.Service{DB: db}).Verify(t.Context(), ana, "", audit.Head{})
		if err != nil || verdict.Broken != nil || verdict.Head.Number != 1 {
			t.Errorf("%+v, broken %+v, error %v", verdict, verdict.Broken, err)
		}
	})
}

// Readers of a log cannot keep the database busy with verifications.
func TestATeamHasOneVerificationAtATime(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		record(t, db, "team_a")
		s := &audit.Service{DB: db}
		release := audit.BeginVerification(s, "team_a")
		_, err := s.Verify(t.Context(), ana, "team_a", audit.Head{})
		if fault.CodeOf(err) != "verification_under_way" || fault.KindOf(err) != fault.TooMany ||
			fault.RetryAfter(err) <= 0 {
			t.Errorf("a second one: %v", err)
		}
		if _, err := s.Verify(t.Context(), access.Principal{
			Account:  "acc_ben",
			HomeTeam: "team_b",
			Roles:    map[string]access.Role{"team_b": access.Owner},
		}, "", audit.Head{}); err != nil {
			t.Errorf("another team's: %v", err)
		}
		release()
		for range 2 {
			if _, err := s.Verify(t.Context(), ana, "team_a", audit.Head{}); err != nil {
				t.Errorf("after it: %v", err)
			}
		}
		for _, team := range []string{"team_c", "team_d", "team_e", "team_f"} {
			defer audit.BeginVerification(s, team)()
		}
		if _, err := s.Verify(t.Context(), ana, "team_a", audit.Head{}); fault.CodeOf(err) != "verification_under_way" {
			t.Errorf("as many at once as there may be: %v", err)
		}
		impatient := &audit.Service{DB: db, VerifyWithin: 1}
		if _, err := impatient.Verify(t.Context(), ana, "team_a", audit.Head{}); fault.CodeOf(
			err,
		) != "verification_too_long" {
			t.Errorf("one that takes too long: %v", err)
		}
	})
}
