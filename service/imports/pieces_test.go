package imports_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"postern/bundle"
	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/login"
	"postern/testkit/state"
)

// rowsOfPiece is how many rows a piece of an import may write, and many how many keys, users and relations there are.
const (
	rowsOfPiece = 500
	many        = 2*rowsOfPiece + 100
)

// large is sample with many keys, users and relations.
func large(t *testing.T) made {
	t.Helper()
	m := sample(t)
	acme := slices.IndexFunc(m.project.Tenants, func(one snapshot.Tenant) bool { return one.Name == "acme" })
	tenant := m.project.Tenants[acme]
	key := m.keys[slices.IndexFunc(m.keys, func(k snapshot.Key) bool { return k.TenantID == tenant.ID })]
	key.OldHash, key.GraceEndsAt = nil, time.Time{}
	key.Owner, key.OwnerFrozen = "billing-service", false
	user := snapshot.User{State: "active", CreatedAt: key.CreatedAt, UpdatedAt: key.CreatedAt}
	id := models.RawID{1} // after those of the sample
	tenant.Directory.Users += many
	m.relations = nil
	for i := range many {
		binary.BigEndian.PutUint16(id[1:], uint16(i))
		key.ID, key.Hash = id.String("key"), sha256.Sum256(fmt.Append(nil, i))
		m.keys = append(m.keys, key)
		user.ID, user.Email = id.String("usr"), fmt.Sprintf("user%d@example.com", i)
		m.users[tenant.ID] = append(m.users[tenant.ID], user)
		m.relations = append(m.relations, snapshot.Relation{
			TenantID: tenant.ID, Tenant: tenant.Name, User: user.ID, Relation: policy.OwnerRelation,
			Object: fmt.Sprintf("order:%04d", i),
		})
	}
	return m
}

// between calls do before each read of a zip: between two pieces of an import.
type between struct {
	io.ReaderAt
	do func()
}

func (b between) ReadAt(p []byte, off int64) (int, error) {
	b.do()
	return b.ReaderAt.ReadAt(p, off)
}

func count(t *testing.T, db *models.DB, query string) (n int64) {
	t.Helper()
	err := db.Consistent(t.Context(), func(tx *models.Tx) error {
		return tx.SQL().QueryRowContext(t.Context(), "SELECT count(*) FROM "+query).Scan(&n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func openFile(t *testing.T, path string) *models.DB {
	t.Helper()
	db, err := models.Open(t.Context(), "", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// On SQLite no transaction of an import keeps others from writing for longer than some hundred rows take.
func TestImport_rowsOfTransaction(t *testing.T) {
	path := state.SQLite(t)
	db, reader := openFile(t, path), openFile(t, path)
	w := newWorld(t, db)
	zip := large(t).zip(t, bundle.FormatData)
	rows := func() (n int64) {
		for _, table := range []string{
			"projects", "versions", "environments", "key_types", "tenants", "api_keys", "app_clients", "providers",
			"user_groups", "group_members", "end_users", "identities", "login_consents", "relations",
		} {
			n += count(t, reader, table)
		}
		return n
	}
	var before, most int64
	commit := func() {
		now := rows()
		most, before = max(most, now-before), now
	}
	commit()
	if err := db.OnStatement(func(context.Context) { commit() }); err != nil { // at most one commit after the last one
		t.Fatal(err)
	}
	w.take(t, zip, contract.NewImport{})
	commit()
	if before < 3*many || most > rowsOfPiece {
		t.Errorf("it wrote %d rows, up to %d of them in one transaction", before, most)
	}
}

// Other changes are made between two pieces of an import, and nothing of it can be found before its end.
func TestImport_pieces(t *testing.T) {
	path := state.SQLite(t)
	db, reader := openFile(t, path), openFile(t, path)
	w := newWorld(t, db)
	m := large(t)
	zip := m.zip(t, bundle.FormatData)
	other := func(tx *models.Tx) error { return tx.AddRevision("prj_other", "", models.Now()) }
	if err := db.Write(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	var changes, keys int64
	reading := between{bytes.NewReader(zip), func() {
		if count(t, reader, "projects") == 0 {
			return
		}
		keys = max(keys, count(t, reader, "api_keys"))
		changes++
		rename := func(tx *models.Tx) error { return tx.RenameTeam(w.owner.HomeTeam, fmt.Sprint("team ", changes)) }
		if err := db.Write(t.Context(), rename); err != nil {
			t.Errorf("a change during the import: %v", err)
		}
		w.findsNothing(t, m)
	}}
	if _, err := w.Import(t.Context(), w.owner, contract.NewImport{}, reading, int64(len(zip))); err != nil {
		t.Fatal(err)
	}
	if changes < 2 || keys < rowsOfPiece {
		t.Errorf("%d changes were made during the import, at most after %d keys", changes, keys)
	}
	if n := count(t, reader, "revisions"); n != 2 {
		t.Errorf("%d revisions, want the first one and that of the import", n)
	}
	if n := count(t, reader, "teams"); n != 1 {
		t.Errorf("%d teams, want the one that imported", n)
	}
}

// findsNothing looks for parts of a project as its team, its callers and its users do.
func (w *world) findsNothing(t *testing.T, m made) {
	t.Helper()
	tx := w.DB.Read(t.Context())
	found, err := tx.ProjectsOfTeam(w.owner.HomeTeam)
	if err != nil || len(found) > 0 {
		t.Errorf("the team has projects: %v, %v", found, err)
	}
	if taken, err := tx.ProjectNameTaken(m.project.Name); err != nil || taken {
		t.Errorf("the name is taken: %v", err)
	}
	if one, err := tx.TenantByName(w.owner.HomeTeam, "acme"); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("the team has the tenant %+v, %v", one, err)
	}
	if entries := count(t, w.DB, "audit_entries"); entries > 0 {
		t.Errorf("%d audit entries", entries)
	}
	if last, err := tx.LastRevision(); err != nil || last.ProjectID != "prj_other" {
		t.Errorf("the newest revision is %+v, %v", last, err)
	}
	for _, c := range m.project.Clients {
		if _, err := login.New(w.AppClients).Brand(t.Context(), c.ID); fault.KindOf(err) != fault.NotFound {
			t.Errorf("hosted login has the app client %s: %v", c.ID, err)
		}
	}
	if served, err := tx.AllProjectIDs(); err != nil || len(served) > 0 {
		t.Errorf("gateways load %q, %v", served, err)
	}
}

// The rows of a killed process's import are removed before the next import, and at a start.
func TestImport_killed(t *testing.T) {
	for name, c := range map[string]struct{ remove bool }{"a start": {true}, "the next import": {false}} {
		t.Run(name, func(t *testing.T) {
			path := state.SQLite(t)
			db, reader := openFile(t, path), openFile(t, path)
			w := newWorld(t, db)
			m := large(t)
			zip := m.zip(t, bundle.FormatData)
			before := rows(t, reader)
			killed := between{bytes.NewReader(zip), func() {
				if count(t, reader, "api_keys") >= rowsOfPiece {
					_ = db.Close() // nothing can be written from now on
				}
			}}
			if _, err := w.Import(t.Context(), w.owner, contract.NewImport{}, killed, int64(len(zip))); err == nil {
				t.Fatal("the import has finished")
			}
			if rows(t, reader) == before {
				t.Fatal("the import has left nothing behind")
			}
			w.DB = reader
			w.Projects.DB, w.AppClients.DB = reader, reader
			if c.remove {
				if err := reader.RemoveUnfinishedImports(t.Context()); err != nil {
					t.Fatal(err)
				}
				if after := rows(t, reader); after != before || count(t, reader, "teams") != 1 {
					t.Errorf("it left behind: %s, before: %s", after, before)
				}
			}
			out := w.take(t, zip, contract.NewImport{})
			if out.Project.ID != m.project.ID || out.Made.Keys != int64(len(m.keys)) {
				t.Errorf("the next import made %+v as %s: %+v", out.Made, out.Project.ID, codes(out.LeftOut))
			}
		})
	}
}

// On PostgreSQL an import is one transaction: the server drops it with the connection of a process that is gone.
func TestImport_killedOnPostgres(t *testing.T) {
	address := state.Postgres(t)
	open := func() *models.DB {
		db, err := models.Open(t.Context(), address, "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	db, reader := open(), open()
	w := newWorld(t, db)
	m := large(t)
	zip := m.zip(t, bundle.FormatData)
	before := rows(t, reader)
	var ended int64
	killed := between{bytes.NewReader(zip), func() {
		// OFFSET keeps the server from ending connections before it has compared their database.
		ended += count(t, reader, `(SELECT pid FROM pg_stat_activity WHERE datname = current_database()
			AND backend_xid IS NOT NULL AND query LIKE 'INSERT INTO "api_keys"%' OFFSET 0) AS writing
			WHERE pg_terminate_backend(pid)`)
	}}
	_, err := w.Import(t.Context(), w.owner, contract.NewImport{}, killed, int64(len(zip)))
	if err == nil || ended == 0 {
		t.Fatalf("%d connections were ended while they wrote keys, and the import returned %v", ended, err)
	}
	if after := rows(t, reader); after != before {
		t.Errorf("it left behind: %s, before: %s", after, before)
	}
	out := w.take(t, zip, contract.NewImport{})
	if out.Project.ID != m.project.ID || out.Made.Keys != int64(len(m.keys)) {
		t.Errorf("the next import made %+v as %s: %+v", out.Made, out.Project.ID, codes(out.LeftOut))
	}
}
