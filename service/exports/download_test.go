package exports_test

import (
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/exports"
	"postern/testkit/state"
)

// New keys in plain text are for those who may create keys; every download is in the audit log with the account that
// made it.
func TestOpen_download(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		minted := w.request(t, exports.Options{Format: "data", Keys: "mint", Consumers: true})
		plain := w.request(t, exports.Options{Format: "data", Keys: "hashes", Consumers: true})
		for _, e := range []contract.Export{minted, plain} {
			if err := w.Build(t.Context(), e.ID, true); err != nil {
				t.Fatal(err)
			}
		}
		for _, tt := range []struct {
			name   string
			export string
			role   access.Role
			may    bool
		}{
			{"owner/minted", minted.ID, access.Owner, true},
			{"member/minted", minted.ID, access.Member, true},
			{"workspace/minted", minted.ID, access.Workspace, true},
			{"viewer/minted", minted.ID, access.Viewer, false},
			{"viewer/hashes", plain.ID, access.Viewer, true},
		} {
			t.Run(tt.name, func(t *testing.T) {
				who := access.Principal{Account: "acc_1", Roles: map[string]access.Role{w.owner.HomeTeam: tt.role}}
				before := downloads(t, db, tt.export)
				file, err := w.Open(t.Context(), who, exportAt(tt.export))
				added := downloads(t, db, tt.export) - before
				if !tt.may {
					if fault.KindOf(err) != fault.Forbidden || added != 0 {
						t.Fatalf("got %v and %d entries, want forbidden and none", err, added)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				defer file.Close()
				if added != 1 {
					t.Errorf("%d entries in the audit log, want 1", added)
				}
			})
		}
	})
}

// downloads counts the entries of the audit log about downloads of an export.
func downloads(t *testing.T, db *models.DB, id string) (n int) {
	t.Helper()
	row := db.SQL().QueryRowContext(t.Context(), "SELECT count(*) FROM audit_entries WHERE action = "+
		"'export.download' AND object = '"+id+"'")
	if err := row.Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
