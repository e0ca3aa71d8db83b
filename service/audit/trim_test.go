package audit_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/service/audit"
	"postern/testkit/state"
)

// soon is after every entry that a test has recorded.
func soon() time.Time { return models.Now().Add(time.Hour) }

// teamOf returns the team of a verdict, "" for the installation.
func teamOf(v contract.AuditVerdict) string {
	if v.Team == nil {
		return ""
	}
	return *v.Team
}

func trim(t *testing.T, db *models.DB, before time.Time, streams ...*audit.Stream) {
	t.Helper()
	if err := (&audit.Trimmer{DB: db, Streams: streams}).Trim(t.Context(), before); err != nil {
		t.Fatal(err)
	}
}

func TestTrim(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := &audit.Service{DB: db}
		record(t, db, slices.Repeat([]string{"team_a"}, 3)...)
		early := verified(t, s, "").Head
		record(t, db, "team_a", "team_b")
		fourth := verified(t, s, "").Head
		record(t, db, "team_a")
		newest := verified(t, s, "").Head

		trim(t, db, models.Now().Add(-time.Hour))
		if got := verified(t, s, ""); got.Removed != 0 || got.Entries != 5 {
			t.Fatalf("before their time is over: %+v", got)
		}
		trim(t, db, soon())
		got := verified(t, s, newest)
		if got.Removed != 4 || got.Entries != 2 || !strings.HasPrefix(got.Head, "6:") {
			t.Errorf("after it: %+v, want 4 removed, and the newest with a record of it", got)
		}
		verified(t, s, fourth)
		broken := brokenAt(t, s, "team_a", early)
		if broken.Number != 3 || !strings.Contains(broken.Reason, "use a newer") {
			t.Errorf("an older head: %+v", broken)
		}
		wrong := strings.Replace(newest, "5:", "4:", 1)
		if broken := brokenAt(t, s, "team_a", wrong); broken.Number != 4 {
			t.Errorf("another hash of the last that was removed: %+v", broken)
		}
		for range 3 { // the second and the third find but records of removals
			trim(t, db, soon())
		}
		if got := verified(t, s, ""); !strings.HasPrefix(got.Head, "7:") || got.Removed != 5 {
			t.Errorf("trimmed again: %+v", got)
		}
		record(t, db, "team_a")
		if got := verified(t, s, ""); !strings.HasPrefix(got.Head, "8:") {
			t.Errorf("with another entry: %+v", got)
		}
	})
}

// More than one batch is removed at once.
func TestTrim_batches(t *testing.T) {
	db := state.OpenSQLite(t)
	record(t, db, slices.Repeat([]string{"team_a"}, 2003)...)
	trim(t, db, soon())
	if got := verified(t, &audit.Service{DB: db}, ""); got.Removed != 2002 {
		t.Errorf("%+v", got)
	}
}

func TestTrim_changedFromOutside(t *testing.T) {
	const ofRecord = " WHERE action = 'audit.trim' AND team_id = 'team_a'"
	for name, statement := range map[string]string{
		"the first that is left is removed": "DELETE FROM audit_entries" + ofTeam + "= 5",
		"it is changed":                     "UPDATE audit_entries SET actor = 'changed'" + ofTeam + "= 5",
		"the record is removed":             "DELETE FROM audit_entries" + ofRecord,
		"the record is changed":             `UPDATE audit_entries SET detail = '{"number":"5","hash":"x"}'` + ofRecord,
		"the record is not a number":        `UPDATE audit_entries SET detail = '{"number":"x"}'` + ofRecord,
		"one that was removed is back":      copyOfFifth("4"),
		"one is put in before":              copyOfFifth("1"),
	} {
		t.Run(name, func(t *testing.T) {
			state.Each(t, func(t *testing.T, db *models.DB) {
				s := &audit.Service{DB: db}
				record(t, db, slices.Repeat([]string{"team_a"}, 5)...)
				trim(t, db, soon())
				record(t, db, "team_a")
				if got := verified(t, s, ""); got.Removed != 4 {
					t.Fatalf("before: %+v", got)
				}
				run(t, db, statement)
				brokenAt(t, s, "team_a", "")
			})
		})
	}
}

// copyOfFifth inserts a copy of the fifth entry under another number.
func copyOfFifth(number string) string {
	const rest = "actor, token_id, action, object, project_id, outcome, detail, changes, " +
		"remote_addr, request_id, created_at"
	return "INSERT INTO audit_entries (id, team_id, number, hash, " + rest + ") SELECT 'zzz', team_id, " + number +
		", hash, " + rest + " FROM audit_entries" + ofTeam + "= 5"
}

// Changed entries are not removed: the removal would hide the change.
func TestTrim_brokenChain(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		record(t, db, slices.Repeat([]string{"team_a", "team_b"}, 5)...)
		run(t, db, "UPDATE audit_entries SET actor = 'changed'"+ofTeam+"= 2")
		err := (&audit.Trimmer{DB: db}).Trim(t.Context(), soon())
		if err == nil || !strings.Contains(err.Error(), `"team_a": entry number 2 was changed`) {
			t.Errorf("error %v, want one about number 2 of team_a", err)
		}
		verdicts, err := audit.VerifyAll(t.Context(), db, contract.AuditVerification{})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range verdicts {
			switch team := teamOf(v); {
			case team == "team_a" && (v.Removed != 0 || v.Intact || v.Broken.Number != 2):
				t.Errorf("team_a: %+v, broken %+v, want it as it was", v, v.Broken)
			case team == "team_b" && v.Removed != 4:
				t.Errorf("team_b: %+v, want it trimmed", v)
			}
		}
	})
}

func TestTrim_streams(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		stream := newStream(t, db, audit.FileSink(filepath.Join(t.TempDir(), "audit.jsonl")))
		record(t, db, slices.Repeat([]string{"team_a"}, 3)...)
		if err := stream.Once(t.Context()); err != nil {
			t.Fatal(err)
		}
		record(t, db, slices.Repeat([]string{"team_a"}, 3)...)
		trim(t, db, soon(), stream)
		if got := verified(t, &audit.Service{DB: db}, ""); got.Removed != 3 {
			t.Errorf("%d are removed, want those that were delivered", got.Removed)
		}
		if err := stream.Once(t.Context()); err != nil {
			t.Fatal(err)
		}

		file := filepath.Join(t.TempDir(), "later.jsonl")
		if err := newStream(t, db, audit.FileSink(file)).Once(t.Context()); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(text), "\n")
		if !strings.Contains(first, `"Number":4,`) || strings.Count(string(text), "\n") != 4 {
			t.Errorf("a stream that is new begins with %s", first)
		}
		var line struct {
			Hash  string
			Entry json.RawMessage
		}
		if err := json.Unmarshal([]byte(first), &line); err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(line.Entry); hex.EncodeToString(sum[:]) != line.Hash {
			t.Error("the hash of its first line is not that of the entry")
		}
	})
}

// The log of a team that does not exist any more goes as a whole: not while a stream lacks some of it, and not if
// something was added since it was listed.
func TestTrimmer_drop(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		stream := newStream(t, db, audit.FileSink(filepath.Join(t.TempDir(), "audit.jsonl")))
		deliver := func() {
			t.Helper()
			if err := stream.Once(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		trimmer := &audit.Trimmer{DB: db, Streams: []*audit.Stream{stream}}
		record(t, db, slices.Repeat([]string{"team_gone"}, 1100)...)
		record(t, db, "team_here", "team_written")
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			return tx.Insert(&models.Team{ID: "team_here", CreatedAt: models.Now()})
		})
		if err != nil {
			t.Fatal(err)
		}
		listed := func(action string) (teams []string) {
			t.Helper()
			gone, err := db.Read(t.Context()).ChainsOfGoneTeams(action, soon())
			if err != nil {
				t.Fatal(err)
			}
			for _, chain := range gone {
				teams = append(teams, chain.TeamID)
			}
			return teams
		}
		if got := listed(""); !slices.Equal(got, []string{"team_gone", "team_written"}) {
			t.Errorf("gone are %q", got)
		}
		if got := listed("workspace.purge"); len(got) > 0 {
			t.Errorf("gone unclaimed workspaces are %q", got)
		}
		gone, err := db.Read(t.Context()).ChainsOfGoneTeams("", soon())
		if err != nil {
			t.Fatal(err)
		}
		drop := func(left ...string) {
			t.Helper()
			if err := trimmer.Drop(t.Context(), gone); err != nil {
				t.Fatal(err)
			}
			verdicts, err := audit.VerifyAll(t.Context(), db, contract.AuditVerification{})
			if err != nil {
				t.Fatal(err)
			}
			var teams []string
			for _, v := range verdicts {
				team := teamOf(v)
				if !v.Intact {
					t.Errorf("%s: %+v", team, v.Broken)
				}
				if team != "" {
					teams = append(teams, team)
				}
			}
			if !slices.Equal(teams, left) {
				t.Errorf("logs of %q are left, want %q", teams, left)
			}
		}
		drop("team_gone", "team_here", "team_written") // nothing was delivered
		deliver()
		record(t, db, "team_written")
		drop("team_here", "team_written")
	})
}
