package audit_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"postern/core/contract"
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

// tampering changes the chain of team_a, of five entries, from outside.
type tampering struct {
	statements []string
	number     int64 // of the break, 0 for an entry outside of the chain
}

const ofTeam = " WHERE team_id = 'team_a' AND number "

// copyEntry inserts a copy of the second entry under its own place.
func copyEntry(number, hash string) string {
	const rest = "actor, token_id, action, object, project_id, outcome, detail, changes, " +
		"remote_addr, request_id, created_at"
	return "INSERT INTO audit_entries (id, team_id, number, hash, " + rest + ") " +
		"SELECT 'zzz', team_id, " + number + ", " + hash + ", " + rest + " FROM audit_entries" + ofTeam + "= 2"
}

func tamperings() map[string]tampering {
	const deleteWhere, set = "DELETE FROM audit_entries" + ofTeam, "UPDATE audit_entries SET "
	out := map[string]tampering{
		"an entry is removed":         {[]string{deleteWhere + "= 3"}, 3},
		"the first is removed":        {[]string{deleteWhere + "= 1"}, 1},
		"the last is removed":         {[]string{deleteWhere + "= 5"}, 5},
		"all are removed":             {[]string{"DELETE FROM audit_entries WHERE team_id = 'team_a'"}, 1},
		"the recorded end is removed": {[]string{"DELETE FROM audit_chains WHERE team_id = 'team_a'"}, 0},
		"the last and its place": {[]string{
			deleteWhere + "= 5",
			"UPDATE audit_chains SET number = 4 WHERE team_id = 'team_a'",
		}, 4},
		"closed up after a removal": {[]string{
			deleteWhere + "= 2",
			set + "number = number - 1" + ofTeam + "> 2",
		}, 2},
		"two change places": {[]string{
			set + "number = 100" + ofTeam + "= 2",
			set + "number = 2" + ofTeam + "= 3",
			set + "number = 3" + ofTeam + "= 100",
		}, 2},
		"a copy is put in":              {[]string{copyEntry("number", "hash")}, 2},
		"one is put in without a place": {[]string{copyEntry("0", "''")}, 0},
		"one moves to another team":     {[]string{set + "team_id = 'team_c'" + ofTeam + "= 3"}, 3},
	}
	for column, value := range map[string]string{
		"id":          "changed",
		"actor":       "changed",
		"token_id":    "changed",
		"action":      "changed",
		"object":      "changed",
		"project_id":  "changed",
		"outcome":     "changed",
		"remote_addr": "changed",
		"request_id":  "changed",
		"hash":        "changed",
		"detail":      `{"name":"changed"}`,
		"changes":     "{}",
		"created_at":  "2020-01-01 00:00:00+00:00",
	} {
		out["another "+column] = tampering{[]string{set + column + " = '" + value + "'" + ofTeam + "= 4"}, 4}
	}
	return out
}

// Whatever is done to a chain of five from outside is found, at the first place
// where it is not what it was.
func TestVerify_everyChange(t *testing.T) {
	for name, tt := range tamperings() {
		t.Run(name, func(t *testing.T) {
			state.Each(t, func(t *testing.T, db *models.DB) {
				for range 5 {
					record(t, db, "team_a", "team_b")
				}
				s := &audit.Service{DB: db}
				if verdict := verified(t, s, ""); verdict.Entries != 5 {
					t.Fatalf("%d entries before, want 5", verdict.Entries)
				}
				for _, statement := range tt.statements {
					run(t, db, statement)
				}
				if broken := brokenAt(t, s, "team_a", ""); broken.Number != tt.number {
					t.Errorf("broken at %+v, want number %d", broken, tt.number)
				}
				all, err := audit.VerifyAll(t.Context(), db, contract.AuditVerification{})
				if err != nil {
					t.Fatal(err)
				}
				for _, verdict := range all {
					if verdict.Intact != (verdict.Team == nil || *verdict.Team == "team_b") {
						t.Errorf("of all: %+v, broken %+v", verdict, verdict.Broken)
					}
				}
			})
		})
	}
}

// verified returns the verdict of a chain that is intact and has the head, any for "".
func verified(t *testing.T, s *audit.Service, head string) contract.AuditVerdict {
	t.Helper()
	verdict, err := s.Verify(t.Context(), ana, contract.AuditVerification{Head: head})
	if err != nil {
		t.Fatalf("verify: %v", err)
	}
	if !verdict.Intact || verdict.Broken != nil {
		t.Fatalf("the chain is broken: %+v", verdict.Broken)
	}
	return verdict
}

// brokenAt returns where a chain is broken, when it is compared with a head.
func brokenAt(t *testing.T, s *audit.Service, team, head string) *contract.AuditBreak {
	t.Helper()
	verdict, err := s.Verify(t.Context(), ana, contract.AuditVerification{Team: team, Head: head})
	if err != nil {
		t.Fatalf("verify: %v", err)
	}
	if verdict.Intact || verdict.Broken == nil {
		t.Fatalf("the chain is not broken: %+v", verdict)
	}
	return verdict.Broken
}

// An attacker who rewrites a whole chain creates one that fits; not one that fits what others have kept of it.
func TestVerify_rewrittenChain(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := &audit.Service{DB: db}
		record(t, db, "team_a", "team_a", "team_a")
		kept := verified(t, s, "").Head
		record(t, db, "team_a")
		verified(t, s, kept)
		run(t, db, "DELETE FROM audit_entries WHERE team_id = 'team_a'")
		run(t, db, "DELETE FROM audit_chains WHERE team_id = 'team_a'")
		record(t, db, "team_a", "team_a", "team_a", "team_a")
		verified(t, s, "")
		if broken := brokenAt(t, s, "", kept); broken.Number != 3 {
			t.Errorf("against the head that was kept: %+v, want number 3", broken)
		}
		brokenAt(t, s, "", strings.Replace(kept, "3:", "9:", 1)) // of a longer chain
	})
}

// Transactions that write into the same chains in different orders neither meet in
// a deadlock nor leave gaps.
func TestChain_concurrentWriters(t *testing.T) {
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
		all, err := audit.VerifyAll(t.Context(), db, contract.AuditVerification{})
		if err != nil || len(all) != 3 {
			t.Fatalf("%+v, %v", all, err)
		}
		for _, verdict := range all {
			if !verdict.Intact || (verdict.Team != nil && verdict.Entries != writers*each) {
				t.Errorf("%+v, broken %+v", verdict, verdict.Broken)
			}
		}
	})
}

// A transaction that fails leaves no entry and does not move the chain.
func TestChain_rollback(t *testing.T) {
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
		if verdict := verified(t, &audit.Service{DB: db}, ""); !strings.HasPrefix(verdict.Head, "1:") {
			t.Errorf("the chain ends at %s, want 1", verdict.Head)
		}
	})
}

// Readers of a log cannot keep the database busy with verifications.
func TestVerify_oneAtATime(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		record(t, db, "team_a")
		s := &audit.Service{DB: db}
		release, ofA := audit.BeginVerification(s, "team_a"), contract.AuditVerification{Team: "team_a"}
		_, err := s.Verify(t.Context(), ana, ofA)
		if fault.CodeOf(err) != "verification_under_way" || fault.KindOf(err) != fault.TooMany {
			t.Errorf("a second one: %v, want verification_under_way", err)
		}
		if after := fault.RetryAfter(err); after <= 0 {
			t.Errorf("a second one may be tried after %v", after)
		}
		ben := access.Principal{
			Account:  "acc_ben",
			HomeTeam: "team_b",
			Roles:    map[string]access.Role{"team_b": access.Owner},
		}
		if _, err := s.Verify(t.Context(), ben, contract.AuditVerification{}); err != nil {
			t.Errorf("another team's: %v", err)
		}
		release()
		for range 2 {
			if _, err := s.Verify(t.Context(), ana, ofA); err != nil {
				t.Errorf("after it: %v", err)
			}
		}
		for _, team := range []string{"team_c", "team_d", "team_e", "team_f"} {
			defer audit.BeginVerification(s, team)()
		}
		_, err = s.Verify(t.Context(), ana, ofA)
		if fault.CodeOf(err) != "verification_under_way" {
			t.Errorf("as many at once as there may be: %v", err)
		}
		impatient := &audit.Service{DB: db, VerifyWithin: 1}
		_, err = impatient.Verify(t.Context(), ana, ofA)
		if fault.CodeOf(err) != "verification_too_long" {
			t.Errorf("one that takes too long: %v", err)
		}
	})
}
