package bundle_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"strings"
	"testing"

	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

const (
	minted = "tenants/default/keys/minted.csv"
	notice = "tenants/default/keys/NOTICE.md"
)

func mintInput() bundle.Input {
	in := sampleInput()
	in.Options.Keys = bundle.KeysMint
	return in
}

// In an export without a gateway, keys.jsonl has the SHA-256 of each new key.
func TestMint_hashes(t *testing.T) {
	data, _ := write(t, mintInput())
	_, files := unzip(t, data)
	records, err := csv.NewReader(strings.NewReader(files[minted])).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for _, record := range records[1:] {
		sums[record[0]] = fmt.Sprintf("%x", policy.HashKey(record[5]))
	}
	ends := map[string]string{}
	for _, record := range records[1:] {
		ends[record[0]] = record[4]
	}
	if ends["key_01"] != "" || ends["key_04"] != "2001-01-01T00:00:00Z" ||
		ends["key_07"] != "2200-01-01T00:00:00.123Z" {
		t.Errorf("the new keys end at %v", ends)
	}
	if !strings.Contains(files[notice], "expires when the old one does: see expires_at") {
		t.Errorf("the notice does not say when new keys end:\n%s", files[notice])
	}
	active := 0
	for line := range strings.Lines(files[rows]) {
		var row struct {
			ID          string
			State       snapshot.KeyState
			OwnerFrozen bool `json:"owner_frozen"`
			SHA256      string
			Minted      string `json:"minted_sha256"`
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		renewed := row.State == snapshot.KeyActive && !row.OwnerFrozen
		if renewed {
			active++
		}
		if row.Minted != sums[row.ID] || row.Minted == row.SHA256 || (row.Minted != "") != renewed {
			t.Errorf("%s, %s: minted_sha256 %q, want that of the new key, %q",
				row.ID, row.State, row.Minted, sums[row.ID])
		}
	}
	if active == 0 || len(sums) != active {
		t.Errorf("%d new keys, want one for each of %d active ones", len(sums), active)
	}
	ofOthers := strings.Count(files["tenants/acme/keys/minted.csv"]+files["tenants/gone/keys/minted.csv"], `"pst_`)
	if got := strings.Count(files[report], `"code":"data.key.minted"`); got != active+ofOthers {
		t.Errorf("the ledger has %d new keys, want %d", got, active+ofOthers)
	}
	if _, err := verify(data); err != nil {
		t.Errorf("Verify: %v", err)
	}
	if !strings.Contains(files["SCHEMA.md"], "| `minted_sha256` |") {
		t.Error("SCHEMA.md does not describe minted_sha256")
	}
	data, _ = write(t, sampleInput())
	if _, files = unzip(t, data); strings.Contains(files["SCHEMA.md"]+files[rows], "minted_sha256") {
		t.Error("an export without new keys speaks of them")
	}
}

// The notice of an export without a gateway mentions files that are there.
func TestMint_noticeOfDataExport(t *testing.T) {
	data, _ := write(t, mintInput())
	_, files := unzip(t, data)
	for _, wrong := range []string{"gateway/", ".yaml", "gateway in this zip already", "gateway has only their"} {
		if strings.Contains(files[notice], wrong) {
			t.Errorf("the notice says %q:\n%s", wrong, files[notice])
		}
	}
	for _, right := range []string{"keys.jsonl", "minted_sha256", "minted.csv", "doesn't contain a gateway"} {
		if !strings.Contains(files[notice], right) {
			t.Errorf("the notice does not say %q:\n%s", right, files[notice])
		}
	}
}

func TestMint_keysNotAccepted(t *testing.T) {
	in := mintInput()
	k := sample.Keys()["active"].Key
	k.Prefix = "Über_prod_"
	in.Keys = func(context.Context) iter.Seq2[snapshot.Key, error] {
		return func(yield func(snapshot.Key, error) bool) { yield(k, nil) }
	}
	if _, err := bundle.Write(t.Context(), io.Discard, in); err == nil || !strings.Contains(err.Error(), k.ID) {
		t.Errorf("a key with prefix %q: %v, want an error that names %s", k.Prefix, err, k.ID)
	}
}

func TestVerify_newKeys(t *testing.T) {
	data, _ := write(t, mintInput())
	names, original := unzip(t, data)
	lines := strings.SplitAfter(original[minted], "\n")
	key := lines[1][strings.LastIndex(lines[1], `,"`)+2 : strings.LastIndex(lines[1], `"`)]
	sum := fmt.Sprintf(`,"minted_sha256":"%x"`, policy.HashKey(key))
	for name, c := range map[string]change{
		"another key":    {minted, "the SHA-256 of the new key", minted, key, key[:len(key)-1]},
		"key of another": {minted, `"key_99" instead of key_01`, minted, `"key_01"`, `"key_99"`},
		"key gone":       {minted, "instead of key_01", minted, lines[1], ""},
		"last key gone":  {minted, "it doesn't contain a key for", minted, lines[len(lines)-2], ""},
		"key too many": {
			minted, "more keys than there are rows", minted, lines[len(lines)-2], lines[len(lines)-2] + lines[1],
		},
		"another owner": {
			minted, "the owner, environment or description", minted, `"key_01","billing-service"`, `"key_01","mallory"`,
		},
		"another end": {minted, "the expiration time of", minted, `"2200-`, `"2201-`},
		"no head":     {minted, "doesn't begin with", minted, lines[0], ""},
		"no shape":    {minted, "expected format", minted, lines[1], "\"key_01\"\r\n"},
		"endless cell": {
			minted, "a row is larger than 1 MB",
			minted, `"key_01"`, `"` + strings.Repeat("abcdefgh ijklmnop\n", 1<<17) + `"`,
		},
		"row without its": {rows, "line 1 doesn't have the SHA-256 of a new key", rows, sum, ""},
		"row of a frozen": {
			rows, "of a new key, but shouldn't", rows, `"state":"frozen",`, `"state":"frozen"` + sum + ",",
		},
		"row of no new keys": {
			"tenants/acme/keys/keys.jsonl", "of a new key, but shouldn't",
			"MANIFEST.json", `"keys": "mint"`, `"keys": "hashes"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := &editable{names: names, files: maps.Clone(original)}
			e.refusesChange(t, c)
		})
	}
	e := &editable{names: names, files: original}
	e.drop(minted)
	e.reseal(t)
	refusedAs(t, e.pack(t), minted, "missing")
}
