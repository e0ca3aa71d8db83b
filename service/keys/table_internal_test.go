package keys

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
)

func someNames() names {
	return names{
		types:   map[string]models.KeyType{"kty_1": {ID: "kty_1", Name: "full", Scopes: []string{"*"}}},
		tenants: map[string]string{"tnt_1": "default"},
	}
}

// team is that of the rows.
const team = "team_01"

func someRow(i int) models.APIKey {
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64(nil, uint64(i)))
	return models.APIKey{ID: models.NewID("key"), TeamID: team, ProjectID: "prj_1", TenantID: "tnt_1",
		KeyTypeID: "kty_1", Owner: fmt.Sprintf("customer-%07d", i), State: "active", Hash: sum[:]}
}

func fill(t testing.TB, table *Table, n int) {
	t.Helper()
	names := someNames()
	table.reserve(n)
	for i := range n {
		row := someRow(i)
		if err := table.put(names, &row); err != nil {
			t.Fatal(err)
		}
	}
}

// A million keys, each of another owner, must fit in memory next to everything else.
func TestTable_bytesPerKey(t *testing.T) {
	const n = 1_000_000
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	table := NewTable()
	fill(t, table, n)
	each := float64(heap()-before) / n
	t.Logf("%.0f bytes a key", each)
	if each > 200 {
		t.Errorf("a key takes %.0f bytes", each)
	}
	runtime.KeepAlive(table)
}

// The table must answer as a plain map does, whatever is put, changed, rotated
// and removed in whatever order.
func TestTable_sameAsMap(t *testing.T) {
	table, names := NewTable(), someNames()
	random := rand.New(rand.NewPCG(1, 2))
	byHash := map[[32]byte]string{}
	var rows []models.APIKey
	secrets := 0
	secret := func() []byte { secrets++; sum := sha256.Sum256(fmt.Appendf(nil, "s%d", secrets)); return sum[:] }
	forget := func(row models.APIKey) {
		delete(byHash, [32]byte(row.Hash))
		if row.OldHash != nil {
			delete(byHash, [32]byte(row.OldHash))
		}
	}
	// As a connection does: one caller's, for one secret after the other, of which some
	// were revoked or have been rotated since it was found.
	var connection snapshot.Key
	for step := range 20_000 {
		hash := sha256.Sum256(fmt.Appendf(nil, "s%d", max(1, secrets-random.IntN(4))))
		for range 2 {
			found, old := table.Lookup(team, hash, &connection)
			if id := byHash[hash]; found != (id != "") ||
				found && (connection.ID != id || old != (connection.Hash != hash)) {
				t.Fatalf("step %d, %x: got %+v, %v, old %v, want %q", step, hash[:4], connection, found, old, id)
			}
		}
		switch choice := random.IntN(10); {
		case choice < 4 || len(rows) == 0:
			row := someRow(step)
			row.Hash = secret()
			rows = append(rows, row)
			byHash[[32]byte(row.Hash)] = row.ID
			must(t, table.put(names, &row))
		case choice < 8:
			row := &rows[random.IntN(len(rows))]
			forget(*row)
			ends := models.Now().Add(time.Hour)
			row.OldHash, row.GraceEndsAt, row.Hash = row.Hash, &ends, secret()
			byHash[[32]byte(row.Hash)], byHash[[32]byte(row.OldHash)] = row.ID, row.ID
			must(t, table.put(names, row))
		default:
			at := random.IntN(len(rows))
			forget(rows[at])
			must(t, table.remove(rows[at].ID))
			rows = append(rows[:at], rows[at+1:]...)
		}
	}
	for hash, id := range byHash {
		var key snapshot.Key
		found, old := table.Lookup(team, hash, &key)
		if !found || key.ID != id || old != (key.Hash != hash) {
			t.Fatalf("%x: got %+v, old %v, want %s", hash[:4], key, old, id)
		}
	}
	for i := range secrets {
		hash := sha256.Sum256(fmt.Appendf(nil, "s%d", i+1))
		var key snapshot.Key
		if found, _ := table.Lookup(team, hash, &key); found && byHash[hash] == "" {
			t.Fatalf("a secret that is gone finds %s", key.ID)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The same secret is another key in another team, whatever is changed in one of them.
func TestTable_sameSecretInTwoTeams(t *testing.T) {
	table, names := NewTable(), someNames()
	first, second := someRow(1), someRow(1)
	second.TeamID, second.ProjectID = "team_02", "prj_2"
	must(t, table.put(names, &first))
	must(t, table.put(names, &second))
	hash := [32]byte(first.Hash)
	var connection snapshot.Key // one that calls projects of both teams
	expect := func(teamID, id string) {
		t.Helper()
		for range 2 {
			found, old := table.Lookup(teamID, hash, &connection)
			if found != (id != "") || found && (connection.ID != id || old != (connection.Hash != hash)) {
				t.Errorf("%s finds %q, %v, want %q", teamID, connection.ID, found, id)
			}
		}
	}
	expect(team, first.ID)
	expect("team_02", second.ID)
	expect("team_03", "")
	ends := models.Now().Add(time.Hour)
	other := sha256.Sum256([]byte("rotated"))
	first.OldHash, first.GraceEndsAt, first.Hash = first.Hash, &ends, other[:]
	must(t, table.put(names, &first))
	expect(team, first.ID)
	expect("team_02", second.ID)
	must(t, table.remove(second.ID))
	expect("team_02", "")
	expect(team, first.ID)
	first.TeamID = "team_02" // its project moved
	must(t, table.put(names, &first))
	expect(team, "")
	expect("team_02", first.ID)
}

// Only keys that have an identity from another gateway take memory for it.
func TestTable_identity(t *testing.T) {
	table, names := NewTable(), someNames()
	plain, kept := someRow(1), someRow(2)
	kept.KeyIdentity = contract.KeyIdentity{Metadata: `{"plan":"gold"}`, CredentialID: new("c-1")}
	must(t, table.put(names, &plain))
	must(t, table.put(names, &kept))
	if len(table.kept) != 1 {
		t.Errorf("%d keys have an identity", len(table.kept))
	}
	var key snapshot.Key
	for range 2 {
		table.Lookup(team, [32]byte(kept.Hash), &key)
		if key.Metadata != kept.Metadata || *key.CredentialID != "c-1" {
			t.Errorf("got %+v", key.KeyIdentity)
		}
		table.Lookup(team, [32]byte(plain.Hash), &key)
		if !key.IsZero() {
			t.Errorf("another key has %+v", key.KeyIdentity)
		}
	}
	kept.KeyIdentity = contract.KeyIdentity{}
	must(t, table.put(names, &kept))
	if len(table.kept) != 0 {
		t.Error("an identity that is gone is kept")
	}
}

func TestTable_changedScopesOfType(t *testing.T) {
	table, names := NewTable(), someNames()
	first, second := someRow(1), someRow(2)
	must(t, table.put(names, &first))
	names.types["kty_1"] = models.KeyType{ID: "kty_1", Name: "full", Scopes: []string{"read"}}
	must(t, table.put(names, &second))
	var key snapshot.Key
	if table.Lookup(team, [32]byte(first.Hash), &key); len(key.Scopes) != 1 || key.Scopes[0] != "read" {
		t.Errorf("got %v", key.Scopes)
	}
}

func BenchmarkLookup(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		table := NewTable()
		fill(b, table, n)
		hashes := make([][32]byte, 1024)
		for i := range hashes {
			row := someRow(rand.IntN(n))
			hashes[i] = [32]byte(row.Hash)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			var key snapshot.Key
			for i := 0; b.Loop(); i++ {
				if found, _ := table.Lookup(team, hashes[i&1023], &key); !found {
					b.Fatal("not found")
				}
			}
		})
	}
}

// Ids that were counted up must be found as fast as random ones.
func TestTable_countedIDs(t *testing.T) {
	var x index
	const n = 100_000
	keyOf := func(i uint32) uint64 { return uint64(i) << 48 }
	for i := range uint32(n) {
		x.add(keyOf(i), i, keyOf)
	}
	longest, chain := 0, 0
	for _, slot := range x.slots {
		chain++
		if slot == slotFree {
			chain = 0
		}
		longest = max(longest, chain)
	}
	if longest > 200 {
		t.Errorf("a chain of %d slots", longest)
	}
}
