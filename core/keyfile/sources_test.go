package keyfile_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"postern/core/keyfile"
	"postern/testkit/keyfiles"
)

var now = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

func read(t *testing.T, text []byte, mapping map[string]string) (rows []keyfile.Row, refused []keyfile.Refusal,
	r *keyfile.Reader, err error,
) {
	t.Helper()
	r, err = keyfile.Open(bytes.NewReader(text), keyfile.Options{Map: mapping, Now: now})
	if err != nil {
		return nil, nil, nil, err
	}
	for {
		row, wrong, err := r.Next()
		if errors.Is(err, io.EOF) {
			return rows, refused, r, nil
		}
		if err != nil {
			return rows, refused, r, err
		}
		if len(wrong) > 0 {
			refused = append(refused, wrong...)
		} else {
			rows = append(rows, row)
		}
	}
}

func outcome(r keyfile.Row) keyfiles.Outcome {
	if r.State == "active" && !r.ExpiresAt.IsZero() && !r.ExpiresAt.After(now) {
		return keyfiles.Expired
	}
	return keyfiles.Outcome(r.State)
}

func TestOpen_sources(t *testing.T) {
	t.Parallel()
	for _, file := range keyfiles.All() {
		t.Run(file.Name, func(t *testing.T) {
			t.Parallel()
			text := file.Text(t)
			rows, refused, r, err := read(t, text, file.Map)
			if file.Code != "" {
				checkError(t, err, file.Code)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.Source() != file.Source {
				t.Fatalf("read as %s, want %s", r.Source(), file.Source)
			}
			total := 0
			for _, key := range file.Keys {
				if key.Outcome == keyfiles.Refused {
					checkRefused(t, refused, key)
					continue
				}
				total++
				checkTaken(t, rows, key)
			}
			if len(rows) != total {
				t.Errorf("%d rows, want %d", len(rows), total)
			}
			for _, wrong := range refused {
				checkHidden(t, file, wrong.Pointer+" "+wrong.Detail)
			}
			for _, note := range r.Notes() {
				if note.Detail == "" || note.Rows == 0 || note.First == 0 {
					t.Errorf("the note %s is %+v", note.Code, note)
				}
			}
		})
	}
}

func checkError(t *testing.T, err error, code string) *keyfile.Error {
	t.Helper()
	var refused *keyfile.Error
	if !errors.As(err, &refused) {
		t.Fatalf("the error is %v, want %s", err, code)
	}
	if refused.Code != code {
		t.Errorf("the error is %s: %s, want %s", refused.Code, refused.Detail, code)
	}
	return refused
}

func checkTaken(t *testing.T, rows []keyfile.Row, key keyfiles.Key) {
	t.Helper()
	for _, row := range rows {
		if row.Number != key.Row || row.Part != key.Part {
			continue
		}
		if row.SHA256 != sha256.Sum256([]byte(key.Plaintext)) {
			t.Errorf("row %d has another key than %s", key.Row, key.Plaintext)
		}
		if got := outcome(row); got != key.Outcome {
			t.Errorf("row %d is %s until %s, want %s", key.Row, row.State, row.ExpiresAt, key.Outcome)
		}
		if key.Owner != "" && row.Owner != key.Owner || row.Owner == "" {
			t.Errorf("row %d is of %q, want %q", key.Row, row.Owner, key.Owner)
		}
		return
	}
	t.Errorf("row %d.%d was not taken", key.Row, key.Part)
}

func checkRefused(t *testing.T, refused []keyfile.Refusal, key keyfiles.Key) {
	t.Helper()
	for _, wrong := range refused {
		if wrong.Row == key.Row && wrong.Code == key.Code {
			if len(wrong.Detail) < 30 {
				t.Errorf("row %d is refused without a fix: %s", key.Row, wrong.Detail)
			}
			return
		}
	}
	t.Errorf("row %d was not refused with %s: %+v", key.Row, key.Code, refused)
}

// checkHidden checks that a text has no more than four characters of any key.
func checkHidden(t *testing.T, file keyfiles.File, text string) {
	t.Helper()
	for _, key := range file.Keys {
		for i := 0; i+5 <= len(key.Plaintext); i++ {
			if strings.Contains(text, key.Plaintext[i:i+5]) {
				t.Errorf("%q has a part of %s", text, key.Plaintext)
				return
			}
		}
	}
}

// fileNamed returns what is read of a sample.
func fileNamed(t *testing.T, name string) (map[int64]keyfile.Row, map[string]keyfile.Note) {
	t.Helper()
	for _, file := range keyfiles.All() {
		if file.Name != name {
			continue
		}
		rows, _, r, err := read(t, file.Text(t), file.Map)
		if err != nil {
			t.Fatal(err)
		}
		byNumber, notes := map[int64]keyfile.Row{}, map[string]keyfile.Note{}
		for _, row := range rows {
			byNumber[row.Number] = row
		}
		for _, note := range r.Notes() {
			notes[note.Code] = note
		}
		return byNumber, notes
	}
	t.Fatalf("no sample is named %s", name)
	return nil, nil
}

func checkNotes(t *testing.T, got map[string]keyfile.Note, want map[string]int64) {
	t.Helper()
	for code, rows := range want {
		if got[code].Rows != rows {
			t.Errorf("the note %s is of %d rows, want %d", code, got[code].Rows, rows)
		}
	}
	for code, note := range got {
		if want[code] == 0 {
			t.Errorf("there is a note %s: %s", code, note.Detail)
		}
	}
}

func TestNext_unkey(t *testing.T) {
	t.Parallel()
	rows, notes := fileNamed(t, "unkey-migration.json")
	row := rows[1]
	if string(row.Metadata) != `{"plan":"pro"}` || row.Name != "production" || len(row.Limits) != 1 ||
		row.Limits["minute"] != 100 || !row.ExpiresAt.Equal(time.UnixMilli(3976300800000)) {
		t.Errorf("%+v", row)
	}
	if row.Scopes != nil {
		t.Errorf("permissions became the scopes %q", row.Scopes)
	}
	checkNotes(t, notes, map[string]int64{
		"check_hashes": 3, "credits": 1, "hashes": 3, "permissions": 1, "rate_limits": 1, "roles": 1,
	})
	rows, notes = fileNamed(t, "unkey-table.csv")
	if row := rows[2]; row.CredentialID != "key_3ZsAq1" || row.Prefix != "uk_3ZxX" || row.Last4 != "" ||
		string(row.Metadata) != `{"plan":"pro","seats":5}` || row.CreatedAt.UnixMilli() != 1700000000000 {
		t.Errorf("%+v", row)
	}
	checkNotes(t, notes, map[string]int64{"check_hashes": 4, "hashes": 4, "credits": 1, "environment": 1, "utc": 2})
	// A permission is a scope only if it was mapped, and documents.* stays what it is.
	text := `{"hash":"` + strings.Repeat("A", 42) + `E=","meta":null,"externalId":"a","permissions":["documents.*"]}`
	got := one(t, text, map[string]string{"permissions": "scopes"}).Scopes
	if len(got) != 1 || got[0] != "documents.*" {
		t.Errorf("scopes are %q", got)
	}
	// The hash of a migrated key in a row that has its value too. [internal/services/keys/get_migrated.go]
	checkOneRefused(t, `{"keyId":"k","start":"a","hash":"`+strings.Repeat("A", 42)+`E=","plaintext":"`+strong+`"}`, nil,
		keyfile.CodeHash, "isn't the SHA-256 of the key")
}

func TestNext_kong(t *testing.T) {
	t.Parallel()
	rows, notes := fileNamed(t, "kong-admin.json")
	want := keyfile.Consumer{ID: "4f2a6b1c-0001-4000-8000-000000000001", Username: "acme", CustomID: "cus_1"}
	if row := rows[3]; row.Consumer != want || row.CredentialID != "9d0c8a11-0001-4000-8000-000000000001" ||
		!row.ExpiresAt.IsZero() || row.CreatedAt.Unix() != 1600000000 {
		t.Errorf("%+v", row)
	}
	if row := rows[4]; !row.ExpiresAt.Equal(now.Add(90_000_000 * time.Second)) {
		t.Errorf("%d seconds left end on %s", 90_000_000, row.ExpiresAt)
	}
	checkNotes(t, notes, map[string]int64{"tags": 1, "ttl_left": 2})

	// What is left counts from when the file was written.
	text := `{"data":[{"key":"` + strong + `","consumer":{"id":"c"},"ttl":3600}]}`
	r, err := keyfile.Open(strings.NewReader(text), keyfile.Options{Now: now, Written: now.Add(-time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if row, _, err := r.Next(); err != nil || !row.ExpiresAt.Equal(now) || outcome(row) != keyfiles.Expired {
		t.Errorf("%+v, %v", row, err)
	}
	rows, notes = fileNamed(t, "kong-dbless.json")
	if got := rows[1]; !got.ExpiresAt.Equal(time.Unix(3976300800, 0)) || got.Consumer.CustomID != "cus_1" {
		t.Errorf("%+v", got)
	}
	checkNotes(t, notes, map[string]int64{"groups": 1, "other_credentials": 1, "ttl_end": 1})
	rows, notes = fileNamed(t, "kong-table.csv")
	if got := rows[3]; got.ExpiresAt.Year() != 2096 || got.Consumer.ID == "" {
		t.Errorf("%+v", got)
	}
	checkNotes(t, notes, map[string]int64{"consumer_later": 3, "tags": 1})
}

func TestNext_aws(t *testing.T) {
	t.Parallel()
	rows, notes := fileNamed(t, "aws.json")
	row := rows[6]
	if len(row.Limits) != 3 || row.Limits["second"] != 100 || row.Limits["day"] != 100 || row.Limits["month"] != 5000 {
		t.Errorf("limits are %v", row.Limits)
	}
	if row.CredentialID != "k1" || row.Description != "orders" ||
		row.CreatedAt.Format(time.RFC3339) != "2022-03-01T09:00:00Z" {
		t.Errorf("%+v", row)
	}
	checkNotes(t, notes, map[string]int64{
		"tags": 1, "stages": 1, "throttle": 2, "week_quota": 1, "quota_offset": 1, "no_usage_plan": 1,
	})
	_, notes = fileNamed(t, "aws.csv")
	checkNotes(t, notes, map[string]int64{"usage_plans": 4})
}

func TestNext_tyk(t *testing.T) {
	t.Parallel()
	rows, notes := fileNamed(t, "tyk.ndjson")
	row := rows[1]
	if row.Limits["minute"] != 100 || row.Limits["day"] != 5000 || string(row.Metadata) != `{"plan":"gold"}` ||
		!row.ExpiresAt.IsZero() || row.Name != "acme" {
		t.Errorf("%+v", row)
	}
	if !strings.HasPrefix(rows[3].Owner, "tyk-") || rows[2].Limits != nil {
		t.Errorf("%+v", rows[3])
	}
	checkNotes(t, notes, map[string]int64{"access_rights": 1, "hashes": 3})

	for _, session := range []string{
		`"basic_auth_data":{"password":"x"}`, `"hmac_enabled":true`, `"jwt_data":{"secret":"x"}`,
		`"oauth_client_id":"x"`, `"certificate":"x"`,
	} {
		name, _, _ := strings.Cut(strings.Trim(session, `"`), `"`)
		checkOneRefused(t, `{"key_hash":"`+strings.Repeat("ab", 32)+`","org_id":"o",`+session+`}`, nil,
			keyfile.CodeCredential, "The session contains "+name)
	}
	// Without hash_keys, Redis has the keys: an organization of 24 hex digits and 32 of a UUID.
	raw := strings.Repeat("5e9d9544", 3) + strings.Repeat("a1b2c3d4", 4)
	got := one(t, `{"key":"apikey-`+raw+`","value":{"org_id":"o","alias":"a"}}`, nil)
	if !got.ByValue || got.SHA256 != sha256.Sum256([]byte(raw)) {
		t.Errorf("%+v", got)
	}
}

func TestOpen_recognized(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]keyfile.Source{
		"owner,key,hash,meta\n":                                  keyfile.Native,
		`{"key":"k","consumer":{"id":"c"},"scopes":["a"]}`:       keyfile.Native, // the owner is missing
		`{"owner":"a","key":"k","consumer":{"id":"c"}}`:          keyfile.Native,
		`{"key":"k","consumer":{"id":"c"}}`:                      keyfile.Kong,
		`{"username":"a","keyauth_credentials":[{"key":"k"}]}`:   keyfile.Kong,
		"consumer_id,key\n":                                      keyfile.Kong,
		"Key,name\n":                                             keyfile.AWS,
		"Name,key,description,Enabled,usageplanIds\n":            keyfile.AWS,
		`{"items":[{"id":"k","name":"n","stageKeys":[]}]}`:       keyfile.AWS,
		`{"items":[{"id":"p","throttle":{"rateLimit":10}}]}`:     keyfile.AWS,
		`{"items":[{"id":"p","quota":{"limit":9}}]}`:             keyfile.AWS,
		`{"item":[{"id":"k","value":"v","enabled":true}]}`:       keyfile.AWS,
		`{"keys":[{"hash":"h","externalId":"a"}]}`:               keyfile.Unkey,
		`{"data":[{"keyId":"k","start":"s"}]}`:                   keyfile.Unkey,
		`{"key_hash":"h","org_id":"o"}`:                          keyfile.Tyk,
		`{"key":"apikey-h","value":{"org_id":"o"}}`:              keyfile.Tyk,
		`{"hash":"h","owner":"a","enabled":true,"meta":{"a":1}}`: keyfile.Native,
	} {
		mapping := map[string]string{"hash": "sha256", "meta": "-"}
		if !strings.HasPrefix(text, "owner,") {
			mapping = nil
		}
		r, err := keyfile.Open(strings.NewReader(text), keyfile.Options{Map: mapping, Now: now})
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if r.Source() != want {
			t.Errorf("%s is read as %s, want %s", text, r.Source(), want)
		}
	}
}

// The names of columns can be keys, if a file lacks its first row.
func TestOpen_noHeader(t *testing.T) {
	t.Parallel()
	for _, key := range []string{
		strong, "sk_live_4eC39HqLyjWDarjtT1zdp7dc", "QwErTyUiOpAsDfGhJkLz", "0a1b2c3d4e5f6071", "zpqmxnwobcivruty",
	} {
		_, _, _, err := read(t, []byte(key+",active\n"+key+",active\n"), nil)
		var refused *keyfile.Error
		if !errors.As(err, &refused) || strings.Contains(refused.Detail, key[:5]) {
			t.Errorf("%s: %v", key, err)
		}
		for _, c := range refused.Columns {
			if strings.Contains(c.Name, key[:5]) {
				t.Errorf("%s is the name of a column", key)
			}
		}
		for _, p := range refused.Proposals {
			if strings.Contains(p.Column, key[:5]) {
				t.Errorf("%s is proposed", key)
			}
		}
	}
	for _, name := range []string{
		"subscriptionIdOfCustomer", "sha256_hash", "key_sha256", "authorizationServerId", "User ID",
		"properties.primaryKey",
		"x-api-key", "lastUsedAt", "organizationId", "last_refill_at2",
	} {
		_, _, _, err := read(t, []byte("owner,key,"+name+"\na,b,c\n"), nil)
		if refused := checkError(t, err, keyfile.CodeUnknown); !strings.Contains(refused.Detail, name) {
			t.Errorf("%q doesn't name %s", refused.Detail, name)
		}
	}
}
