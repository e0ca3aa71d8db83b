package keys

import (
	"bufio"
	"bytes"
	"maps"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/testkit"
)

// variedTable has keys of every form, one that was removed, and more than are written
// at once. It returns all hashes that find a key.
func variedTable(t *testing.T) (*Table, [][32]byte) {
	t.Helper()
	table, names := NewTable(), someNames()
	table.importing[team] = true
	var hashes [][32]byte
	product := "prd_1"
	later := models.Now().Add(time.Hour)
	for i := range 3*storedAtOnce + 7 {
		row := someRow(i)
		switch i % 9 {
		case 1:
			row.State = "frozen"
		case 2:
			row.State = "revoked"
		case 3:
			row.ExpiresAt = &later
		case 4:
			old := someRow(1_000_000 + i).Hash
			row.OldHash, row.GraceEndsAt = old, &later
			hashes = append(hashes, [32]byte(old))
		case 5:
			row.Limits = &models.Limits{"minute": int64(1 + i%3)}
		case 6:
			row.AllowedCIDRs = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
		case 7:
			row.ProductID, row.Environment = &product, "prod"
		case 8:
			row.Metadata, row.Consumer = `{"n":1}`, &contract.Consumer{Username: "ana"}
		}
		must(t, table.put(names, &row))
		if i == 100 {
			must(t, table.remove(row.ID))
			continue
		}
		hashes = append(hashes, [32]byte(row.Hash))
	}
	theirs := someRow(0)
	theirs.TeamID, theirs.Owner = "team_02", "of another team"
	must(t, table.put(names, &theirs))
	return table, hashes
}

func stored(t *testing.T, table *Table) []byte {
	t.Helper()
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	must(t, table.Write(w))
	must(t, w.Flush())
	return out.Bytes()
}

func TestReadTable_roundTrip(t *testing.T) {
	table, hashes := variedTable(t)
	got, err := ReadTable(bufio.NewReader(bytes.NewReader(stored(t, table))))
	if err != nil {
		t.Fatal(err)
	}
	equal := []cmp.Option{
		cmpopts.IgnoreFields(snapshot.Key{}, "FoundIn"),
		cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
	}
	for _, hash := range hashes {
		var want, have snapshot.Key
		wantFound, wantOld := table.Lookup(team, hash, &want)
		found, old := got.Lookup(team, hash, &have)
		if !wantFound || !found || old != wantOld {
			t.Fatalf("%x is found %v, by its old secret %v", hash[:4], found, old)
		}
		if diff := cmp.Diff(want, have, equal...); diff != "" {
			t.Fatalf("a key (-written +read):\n%s", diff)
		}
	}
	if !maps.Equal(got.importing, table.importing) {
		t.Errorf("teams that import: written %v, read %v", table.importing, got.importing)
	}
	if len(table.gone) == 0 || !maps.Equal(got.gone, table.gone) {
		t.Errorf("%d former secrets were written, and %d read", len(table.gone), len(got.gone))
	}
	removed := someRow(100)
	var key snapshot.Key
	if found, _ := got.Lookup("team_02", hashes[0], &key); !found || key.Owner != "of another team" {
		t.Errorf("in the other team, the first hash finds %q, %v", key.Owner, found)
	}
	if found, _ := got.Lookup(team, [32]byte(removed.Hash), &key); found {
		t.Error("a key that was removed is back")
	}
	// It can be changed as any other.
	row := someRow(0)
	row.ID, row.State = table.records[0].id.String("key"), "revoked"
	must(t, got.put(someNames(), &row))
	if found, _ := got.Lookup(team, [32]byte(row.Hash), &key); !found || key.State != snapshot.KeyRevoked {
		t.Errorf("after a change a key is found %v, %s", found, key.State)
	}
}

func TestReadTable_truncated(t *testing.T) {
	table, _ := variedTable(t)
	whole := stored(t, table)
	for _, size := range []int{0, 1, 40, len(whole) / 2, len(whole) - 2} {
		if _, err := ReadTable(bufio.NewReader(bytes.NewReader(whole[:size]))); err == nil {
			t.Errorf("%d of %d bytes are read as a table", size, len(whole))
		}
	}
	for name, change := range testkit.ByName(map[string]func(string) string{
		"a field that is not known": func(s string) string {
			return strings.Replace(s, `"Common":`, `"Quota":1,"Common":`, 1)
		},
		"records without what they share": func(s string) string {
			return s[:strings.LastIndex(s, `{"Common"`)] + "{\"Bounds\":[{}]}\n"
		},
	}) {
		t.Run(name, func(t *testing.T) {
			if _, err := ReadTable(bufio.NewReader(strings.NewReader(change(string(whole))))); err == nil {
				t.Error("it is read")
			}
		})
	}
}

// Keys may change while the table is written: each is then written as it was before
// or after.
func TestWrite_concurrentChanges(t *testing.T) {
	table, _ := variedTable(t)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		names := someNames()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			row := someRow(2_000_000 + i)
			row.KeyTypeID = models.NewID("kty") // something new that records refer to
			if table.put(names, &row) != nil {
				return
			}
		}
	}()
	for range 5 {
		if _, err := ReadTable(bufio.NewReader(bytes.NewReader(stored(t, table)))); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	<-stopped
}
