package keyfile_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/core/keyfile"
)

const strong = "Zx9Cv8Bn7Mq6Wl5Ek4Rj3Th2Yg1Uf0Id"

// one reads the only row of a file.
func one(t *testing.T, text string, mapping map[string]string) keyfile.Row {
	t.Helper()
	rows, refused, _, err := read(t, []byte(text), mapping)
	if err != nil || len(refused) > 0 || len(rows) != 1 {
		t.Fatalf("%.200q: %d rows, refused %+v, %v", text, len(rows), refused, err)
	}
	return rows[0]
}

func TestNext_native(t *testing.T) {
	t.Parallel()
	row := one(t, `{"owner":" acme ","key":"`+strong+`","credential_id":7,"name":"web","key_type":"full","tenant":"t",`+
		`"product":"p","environment":"prod","created_at":"2022-01-01T01:00:00+01:00",`+
		`"expires_at":"2096-01-01T00:00:00Z","description":"d",`+
		`"metadata":{"plan":"pro","n":1.50,"list":[1,"a",null,true,{}]},"limits":{"minute":100},`+
		`"allowed_cidrs":["203.0.113.0/24"],"consumer":{"id":"c1","username":"u","custom_id":"x"}}`, nil)
	want := keyfile.Row{
		Number: 1, Owner: "acme", SHA256: sha256.Sum256([]byte(strong)), ByValue: true, Last4: "f0Id",
		CredentialID: "7", Name: "web", Description: "d", State: "active", KeyType: "full", Tenant: "t", Product: "p",
		Environment: "prod", CreatedAt: time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC),
		ExpiresAt: time.Date(2096, 1, 1, 0, 0, 0, 0, time.UTC),
		Consumer:  keyfile.Consumer{ID: "c1", Username: "u", CustomID: "x"},
	}
	if string(row.Metadata) != `{"plan":"pro","n":1.50,"list":[1,"a",null,true,{}]}` {
		t.Errorf("the metadata is %s", row.Metadata)
	}
	if row.Limits["minute"] != 100 || len(row.Limits) != 1 || len(row.AllowedCIDRs) != 1 ||
		row.AllowedCIDRs[0] != "203.0.113.0/24" {
		t.Errorf("limits %v, ranges %v", row.Limits, row.AllowedCIDRs)
	}
	row.Metadata, row.Limits, row.AllowedCIDRs = nil, nil, nil
	if !equal(row, want) {
		t.Errorf("%+v, want %+v", row, want)
	}
}

func equal(a, b keyfile.Row) bool {
	return a.Number == b.Number && a.Part == b.Part && a.Owner == b.Owner && a.SHA256 == b.SHA256 &&
		a.ByValue == b.ByValue && a.Weak == b.Weak && a.Prefix == b.Prefix && a.Last4 == b.Last4 &&
		a.CredentialID == b.CredentialID && a.Name == b.Name && a.Description == b.Description && a.State == b.State &&
		a.KeyType == b.KeyType && slices.Equal(a.Scopes, b.Scopes) && a.Tenant == b.Tenant && a.Product == b.Product &&
		a.Environment == b.Environment && a.CreatedAt.Equal(b.CreatedAt) && a.ExpiresAt.Equal(b.ExpiresAt) &&
		a.Consumer == b.Consumer
}

func TestNext_layouts(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"NDJSON":            `{"owner":"a","key":"` + strong + `"}` + "\n",
		"NDJSON, CRLF":      "\r\n" + `{"owner":"a","key":"` + strong + `"}` + "\r\n\r\n",
		"no line break":     `{"owner":"a","key":"` + strong + `"}`,
		"array":             ` [ {"owner":"a","key":"` + strong + `"} ] `,
		"pretty":            "{\n  \"owner\": \"a\",\n  \"key\": \"" + strong + "\"\n}\n",
		"pretty array":      "[\n  {\n    \"owner\": \"a\",\n    \"key\": \"" + strong + "\"\n  }\n]\n",
		"items":             `{"next_cursor":null,"items":[{"owner":"a","key":"` + strong + `"}]}`,
		"byte order mark":   "\ufeff" + `[{"owner":"a","key":"` + strong + `"}]`,
		"two on a line":     `{"items":[]}{"items":[{"owner":"a","key":"` + strong + `"}]}`,
		"two and a line":    `{"items":[]}{"items":[{"owner":"a","key":"` + strong + "\"}]}\n{\"items\":[]}\n",
		"two with a break":  `{"items":[]}` + "\n" + `{"items":[{"owner":"a","key":"` + strong + `"}]}`,
		"any case":          `{"Owner":"a","KEY":"` + strong + `"}`,
		"comma":             "owner,key\na," + strong,
		"semicolon":         "Owner;Key\r\na;" + strong + "\r\n",
		"tab":               "KEY\towner\n" + strong + "\ta\n",
		"quoted":            "\"owner\",\"key\"\n\"a\",\"" + strong + "\"\n\n",
		"CSV with mark":     "\ufeffowner,key\na," + strong + "\n",
		"trailing commas":   "owner,key\na," + strong + ",,\n",
		"comma in a header": "\"owner\";\"key\";\"metadata.a,b,c\"\na;" + strong + ";\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if row := one(t, text, nil); row.Owner != "a" || row.SHA256 != sha256.Sum256([]byte(strong)) {
				t.Errorf("%+v", row)
			}
		})
	}
}

// In a spreadsheet a record has one number, however many lines it has.
func TestNext_numbers(t *testing.T) {
	t.Parallel()
	text := "owner,key,description\na," + strong + ",\"1\n2\r\n3\"\nb,,\n\nc,\"" + strong + "\",\"say \"\"hi\"\"\"\n"
	rows, refused, _, err := read(t, []byte(text), nil)
	if err != nil || len(rows) != 2 || len(refused) != 1 {
		t.Fatalf("%d rows, refused %+v, %v", len(rows), refused, err)
	}
	if rows[0].Number != 2 || refused[0].Row != 3 || rows[1].Number != 5 {
		t.Errorf("rows %d, %d and %d, want 2, 3 and 5", rows[0].Number, refused[0].Row, rows[1].Number)
	}
	if rows[0].Description != "1\n2\r\n3" || rows[1].Description != `say "hi"` {
		t.Errorf("%q, %q", rows[0].Description, rows[1].Description)
	}
}

func TestNext_hashes(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256([]byte("a key whose hash has a plus and a slash: 12"))
	for _, encoded := range []string{
		hex.EncodeToString(sum[:]), strings.ToUpper(hex.EncodeToString(sum[:])), "sha256:" + hex.EncodeToString(sum[:]),
		base64.StdEncoding.EncodeToString(sum[:]), base64.RawStdEncoding.EncodeToString(sum[:]),
		base64.URLEncoding.EncodeToString(sum[:]), base64.RawURLEncoding.EncodeToString(sum[:]),
	} {
		row := one(t, `{"owner":"a","sha256":"`+encoded+`"}`, nil)
		if row.SHA256 != sum || row.ByValue || row.Weak || row.Prefix != "" || row.Last4 != "" {
			t.Errorf("%s: %+v", encoded, row)
		}
	}
	if !strings.ContainsAny(base64.StdEncoding.EncodeToString(sum[:]), "+/") {
		t.Error("the hash is the same in both kinds of base64")
	}
	for _, encoded := range []string{
		base64.StdEncoding.EncodeToString(sum[:31]), hex.EncodeToString(sum[:31]),
		base64.StdEncoding.EncodeToString(append(sum[:], 0)), base64.RawStdEncoding.EncodeToString(sum[:]) + "==",
		hex.EncodeToString(sum[:])[:63], strings.Repeat("0", 64), "zz" + hex.EncodeToString(sum[:])[2:],
	} {
		checkOneRefused(t, `{"owner":"a","sha256":"`+encoded+`"}`, nil, keyfile.CodeHash, "")
	}
}

// checkOneRefused checks that the only row of a file is refused with a detail that has says.
func checkOneRefused(t *testing.T, text string, mapping map[string]string, code, says string) {
	t.Helper()
	rows, refused, _, err := read(t, []byte(text), mapping)
	if err != nil || len(rows) != 0 || len(refused) != 1 {
		t.Errorf("%.200q: %d rows, refused %+v, %v", text, len(rows), refused, err)
		return
	}
	if refused[0].Code != code || !strings.Contains(refused[0].Detail, says) {
		t.Errorf("%.200q: %s %s, want %s with %q", text, refused[0].Code, refused[0].Detail, code, says)
	}
}

func TestNext_hashesOfOthers(t *testing.T) {
	t.Parallel()
	for hash, says := range map[string]string{
		"$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy":             "bcrypt",
		"bcrypt_sha256$$2b$12$abcdefghijklmnopqrstuv":                              "bcrypt",
		"$argon2i$v=19$m=16,t=2,p=1$c2FsdA$abc":                                    "argon2",
		"argon2$argon2id$v=19$m=102400,t=2,p=8$abc$def":                            "argon2",
		"$scrypt$ln=16,r=8,p=1$abc$def":                                            "scrypt",
		"pbkdf2_sha256$600000$abc$def=":                                            "PBKDF2",
		"pbkdf2:sha256:260000$abc$def":                                             "PBKDF2",
		"sha512$$b109f3bbbc244eb8":                                                 "djangorestframework-api-key",
		"sha1$abc$def":                                                             "SHA-1",
		"md5$abc$def":                                                              "MD5",
		"Ab12Cd34.pbkdf2_sha256$150000$x$y":                                        "PBKDF2",
		"5f4dcc3b5aa765d61d8327deb882cf99":                                         "MD5",
		"5baa61e4c9b93f3f0682250b6cf8331b7ee68fd8":                                 "SHA-1",
		"X03MO1qnZdYdgyfeuILPmQ==":                                                 "MD5",
		strings.Repeat("ab", 64):                                                   "SHA-512",
		"hmac-sha256:" + strings.Repeat("ab", 32):                                  "HMAC",
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855":         "empty",
		"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=":                             "empty",
		"d41d8cd98f00b204e9800998ecf8427ed41d8cd98f00b204e9800998ecf8427ed41d8cd9": "different length",
	} {
		checkOneRefused(t, `{"owner":"a","sha256":"`+hash+`"}`, nil, keyfile.CodeHash, says)
	}
}

func TestNext_values(t *testing.T) {
	t.Parallel()
	for value, code := range map[string]string{
		" " + strong:                       keyfile.CodeUnusable,
		strong + " ":                       keyfile.CodeUnusable,
		strong + `\t`:                      keyfile.CodeUnusable,
		strong[:9] + `\n` + strong[9:]:     keyfile.CodeUnusable,
		strong + `\u0000`:                  keyfile.CodeUnusable,
		strong + "é":                       keyfile.CodeUnusable,
		strings.Repeat("aB3", 1366):        keyfile.CodeUnusable,
		"zpka_****" + strong[:4]:           keyfile.CodeUnusable,
		"sk-…f0Id":                         keyfile.CodeUnusable,
		"sk-...f0Id":                       keyfile.CodeUnusable,
		"••••••••f0Id":                     keyfile.CodeUnusable,
		"[REDACTED]":                       keyfile.CodeUnusable,
		"$NAME":                            keyfile.CodePlaceholder,
		"${NAME}":                          keyfile.CodePlaceholder,
		"{{ acme_key }}":                   keyfile.CodePlaceholder,
		"${{ env \\\"DECK_ACME_KEY\\\" }}": keyfile.CodePlaceholder,
		"{vault://env/acme}":               keyfile.CodePlaceholder,
		"__ACME_KEY__":                     keyfile.CodePlaceholder,
		"REPLACE_ME":                       keyfile.CodePlaceholder,
		"<your key>":                       keyfile.CodePlaceholder,
		"":                                 keyfile.CodeMissing,
		"$2b$12$abcdefghijklmnopqrstuv":    keyfile.CodeHash,
	} {
		checkOneRefused(t, `{"owner":"a","key":"`+value+`"}`, nil, code, "")
	}
	checkOneRefused(t, `{"owner":"a","key":12345678901234567890123}`, nil, keyfile.CodeUnusable, "as a string")
	checkOneRefused(t, `{"owner":"a","key":"`+strong+`","sha256":"`+strings.Repeat("ab", 32)+`"}`, nil,
		keyfile.CodeHash, "isn't the SHA-256 of the key")
	for _, member := range []string{"name", "description", "credential_id", "tenant", "environment"} {
		checkOneRefused(t, `{"owner":"a","key":"`+strong+`","`+member+`":"x `+strong+`"}`, nil, keyfile.CodeInvalid,
			"Another column")
	}
	checkOneRefused(t, `{"owner":"`+strong+`","key":"`+strong+`"}`, nil, keyfile.CodeInvalid, "Another column")
	checkOneRefused(t, `{"owner":"a","key":"`+strong+`","metadata":{"k":"`+strong+`"}}`, nil, keyfile.CodeInvalid,
		"Another column")
	row := one(t, `{"owner":"a","key":"with a space, 100% & ~ok"}`, nil)
	if row.SHA256 != sha256.Sum256([]byte("with a space, 100% & ~ok")) {
		t.Error("a key with spaces inside was changed")
	}
	if row := one(t, `{"owner":"a","key":"`+strings.Repeat("aB3d", 1024)+`"}`, nil); row.Last4 != "aB3d" {
		t.Error("a key of 4,096 characters was not read")
	}
}

func TestNext_cells(t *testing.T) {
	t.Parallel()
	for cell, says := range map[string]string{
		`"=""001"""`: "Excel", `="001"`: "Excel", "1.2E+15": "rounded", `"1,2E+15"`: "rounded",
		"=cmd|'/C calc'!A0": "formula", "@SUM(A1)": "formula", "+HYPERLINK(1)": "formula",
	} {
		checkOneRefused(t, "owner;key\na;"+cell+"\n", nil, keyfile.CodeUnusable, says)
		checkOneRefused(t, "owner;key\n"+cell+";"+strong+"\n", nil, keyfile.CodeInvalid, says)
	}
	for _, null := range []string{"NULL", `\N`, ""} {
		if row := one(t, "owner,key,expires_at\na,"+strong+","+null, nil); !row.ExpiresAt.IsZero() {
			t.Errorf("%q is %s", null, row.ExpiresAt)
		}
	}
	checkOneRefused(t, "owner,key\n\"a\"b,"+strong, nil, keyfile.CodeFormat, "quote")
	checkOneRefused(t, "owner,key\na,"+strong+",c\n", nil, keyfile.CodeFormat, "3 columns")
}

func TestIsWeak(t *testing.T) {
	t.Parallel()
	for value, weak := range map[string]bool{
		"": true, "secret": true, "abcdefghijklmno": true, "abcdefghijklmnop": false, "aaaaaaaabbbbbbbb": true,
		"abcdefgabcdefgabcdefg": true, "abcdefghabcdefgh": false, strong: false,
	} {
		if keyfile.IsWeak(value) != weak {
			t.Errorf("%q: weak is %t", value, !weak)
		}
		if value != "" && one(t, `{"owner":"a","key":"`+value+`"}`, nil).Weak != weak {
			t.Errorf("%q: the row isn't weak: %t", value, weak)
		}
	}
}

func TestNext_shown(t *testing.T) {
	t.Parallel()
	for value, want := range map[string][2]string{
		"sk_live_4eC39HqLyjWDarjtT1zdp7dc": {"sk_live_", "p7dc"},
		"zpka_d67b7e241bb948758f415b79aa8": {"zpka_", "9aa8"},
		strong:                             {"", "f0Id"},
		"AbCdEf_Gh4IjKl5MnOp6QrSt7":        {"", "rSt7"},
		"sk_live_short":                    {"", "ort"},
		"12345678":                         {"", "78"},
		"abc":                              {"", ""},
		"pst_prod_0000000000000000000000000000000000000": {"pst_prod_", "0000"},
	} {
		row := one(t, `{"owner":"a","key":"`+value+`"}`, nil)
		if row.Prefix != want[0] || row.Last4 != want[1] {
			t.Errorf("%s is shown as %s…%s, want %s…%s", value, row.Prefix, row.Last4, want[0], want[1])
		}
	}
}

func TestNext_times(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`"2027-01-31T12:00:00Z"`: "2027-01-31T12:00:00Z", `"2027-01-31T12:00:00.5+02:00"`: "2027-01-31T10:00:00Z",
		`"2027-01-31 12:00:00+00"`: "2027-01-31T12:00:00Z", `"2027-01-31 12:00:00"`: "2027-01-31T12:00:00Z",
		`"2027-01-31 12:00:00 UTC"`: "2027-01-31T12:00:00Z", `"2027-01-31"`: "2027-01-31T00:00:00Z",
		`"31.1.2027"`: "2027-01-31T00:00:00Z", `"1/31/2027"`: "2027-01-31T00:00:00Z",
		`"31/1/2027"`: "2027-01-31T00:00:00Z",
		`"3/4/2027"`:  "2027-03-04T00:00:00Z", `"4/3/2027 10:30"`: "2027-03-04T10:30:00Z",
		`1801396800`: "2027-01-31T12:00:00Z", `"1801396800000"`: "2027-01-31T12:00:00Z",
		`1801396800.5`: "2027-01-31T12:00:00Z", `1801396800000000`: "2027-01-31T12:00:00Z",
		`180139680000`: "1975-09-16T22:48:00Z", // as milliseconds; as seconds it would be the year 7678
		`"-1"`:         "", `-1`: "", `null`: "",
	} {
		row := one(t, `{"owner":"a","key":"`+strong+`","expires_at":`+value+`}`, nil)
		got := ""
		if !row.ExpiresAt.IsZero() {
			got = row.ExpiresAt.Truncate(time.Second).Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%s is %s, want %s", value, got, want)
		}
	}
	for _, wrong := range []string{
		`"tomorrow"`, `0`, `"0"`, `"2027-13-01"`, `"32/1/2027"`, `46387`, `true`, `{}`, `"2027"`, `1e300`, `"NaN"`,
		`"Inf"`, `""`,
	} {
		checkOneRefused(t, `{"owner":"a","key":"`+strong+`","expires_at":`+wrong+`}`, nil, keyfile.CodeInvalid, "never")
	}
}

func TestNext_states(t *testing.T) {
	t.Parallel()
	mapping := map[string]string{"on": "enabled", "off": "disabled", "gone": "revoked"}
	for members, want := range map[string]string{
		``: "active", `,"state":"Active"`: "active", `,"state":"suspended"`: "frozen",
		`,"state":"cancelled"`: "revoked",
		`,"on":true`:           "active", `,"on":0`: "frozen", `,"on":"no"`: "frozen", `,"off":1`: "frozen",
		`,"off":false`:        "active",
		`,"off":"2096-01-01"`: "frozen", `,"off":null`: "active", `,"gone":true`: "revoked",
		`,"gone":1600000000`: "revoked", `,"gone":false,"state":"disabled"`: "frozen",
		`,"on":true,"state":"revoked"`: "revoked", `,"gone":true,"on":false`: "revoked",
		`,"state":"expired"`:                           "expired",
		`,"state":"expired","expires_at":"2096-01-01"`: "expired", `,"state":"suspended","on":true`: "frozen",
	} {
		if got := outcome(one(t, `{"owner":"a","key":"`+strong+`"`+members+`}`, mapping)); string(got) != want {
			t.Errorf("%s is %s, want %s", members, got, want)
		}
	}
	for _, wrong := range []string{`,"state":"?"`, `,"on":"maybe"`, `,"on":2`, `,"gone":"maybe"`} {
		checkOneRefused(t, `{"owner":"a","key":"`+strong+`"`+wrong+`}`, mapping, keyfile.CodeInvalid, "")
	}
}

func TestNext_lists(t *testing.T) {
	t.Parallel()
	want := []string{"orders:read", "documents.*"}
	for _, value := range []string{
		`["orders:read","documents.*"]`, `"orders:read documents.*"`, `"orders:read, documents.*"`,
		`"orders:read|documents.*"`, `"[\"orders:read\",\"documents.*\"]"`, `"{orders:read,documents.*}"`,
	} {
		got := one(t, `{"owner":"a","key":"`+strong+`","scopes":`+value+`}`, nil).Scopes
		if !slices.Equal(got, want) {
			t.Errorf("%s is %q", value, got)
		}
	}
	if row := one(t, "owner,key,limits\na,"+strong+",\"minute=100, day=5000\"", nil); row.Limits["day"] != 5000 ||
		row.Limits["minute"] != 100 {
		t.Errorf("limits are %v", row.Limits)
	}
	for _, wrong := range []string{
		`"scopes":[1]`, `"scopes":7`, `"scopes":"[1"`, `"scopes":"a","key_type":"full"`, `"limits":"minute"`,
		`"limits":{"minute":"x"}`, `"limits":[1]`, `"metadata":"no"`, `"metadata":[]`, `"allowed_cidrs":{}`,
		`"name":{}`,
		`"owner":true`,
	} {
		text := `{"owner":"a","key":"` + strong + `",` + wrong + `}`
		if strings.Contains(wrong, `"owner"`) {
			text = `{"key":"` + strong + `",` + wrong + `}`
		}
		checkOneRefused(t, text, nil, keyfile.CodeInvalid, "")
	}
	checkOneRefused(t, `{"owner":"a","key":"`+strong+`","consumer":{"name":"x"}}`, nil, keyfile.CodeUnknown,
		"custom_id")
	checkOneRefused(t, `{"owner":"a","key":"`+strong+`","metadata":{"x":"`+strings.Repeat("y", 4096)+`"}}`, nil,
		keyfile.CodeLimit, "4096 bytes")
}

func TestOpen_mapping(t *testing.T) {
	t.Parallel()
	_, _, _, err := read(t, []byte("apiKey,User ID,plan\n"+strong+",a,pro\n"), nil)
	refused := checkError(t, err, keyfile.CodeUnknown)
	for _, part := range []string{
		"apiKey", "--map apiKey=key", `--map "User ID=owner"`, "--map plan=-", "metadata.NAME",
	} {
		if !strings.Contains(refused.Detail, part) {
			t.Errorf("%q doesn't have %q", refused.Detail, part)
		}
	}
	want := []keyfile.Proposal{{Column: "apiKey", Field: "key"}, {Column: "User ID", Field: "owner"}, {Column: "plan",
		Field: "-"}}
	if !slices.Equal(refused.Proposals, want) || len(refused.Columns) != 3 || refused.Columns[0].Field != "" {
		t.Errorf("proposals %+v, columns %+v", refused.Proposals, refused.Columns)
	}
	mapping := map[string]string{"apikey": "key", "User ID": "owner", "PLAN": "metadata.plan"}
	rows, _, r, err := read(t, []byte("apiKey,User ID,plan\n"+strong+",a,pro\n"), mapping)
	if err != nil || len(rows) != 1 || string(rows[0].Metadata) != `{"plan":"pro"}` || rows[0].Owner != "a" {
		t.Fatalf("%+v, %v", rows, err)
	}
	if got := r.Columns(); len(got) != 3 || got[2] != (keyfile.Column{Name: "plan", Field: "metadata.plan"}) {
		t.Errorf("columns are %+v", got)
	}
	for mapped, code := range map[string]string{"nothing": keyfile.CodeInvalid, "metadata.": keyfile.CodeInvalid} {
		_, _, _, err := read(t, []byte("owner,key\na,b\n"), map[string]string{"key": mapped})
		checkError(t, err, code)
	}
	for text, code := range map[string]string{
		"owner,key,Owner\na,b,c\n":        keyfile.CodeRepeated,
		"owner,key,\na,b,c\n":             keyfile.CodeFormat,
		"owner,name\na,b\n":               keyfile.CodeMissing,
		"key,tenant\na,b\n":               keyfile.CodeMissing,
		strong + ",acme\n":                keyfile.CodeFormat,
		"owner,key," + strong + "\na,b,c": keyfile.CodeUnknown,
	} {
		_, _, _, err := read(t, []byte(text), nil)
		if refused := checkError(t, err, code); strings.Contains(refused.Detail, strong[:5]) {
			t.Errorf("%q has a key", refused.Detail)
		}
	}
	_, _, _, err = read(t, []byte("owner,key\na,b\n"), map[string]string{"apikey": "key"})
	checkError(t, err, keyfile.CodeUnknown)
	_, _, _, err = read(t, []byte("owner,key,user\na,b,c\n"), map[string]string{"user": "owner"})
	checkError(t, err, keyfile.CodeRepeated)
}

// A name of JSON can be a key by mistake.
func TestNext_namesHidden(t *testing.T) {
	t.Parallel()
	_, refused, r, err := read(t, []byte(`{"owner":"a","`+strong+`":"b"}`), nil)
	if err != nil || len(refused) != 1 || refused[0].Code != keyfile.CodeUnknown {
		t.Fatalf("%+v, %v", refused, err)
	}
	all := refused[0].Detail + refused[0].Pointer
	for _, c := range r.Columns() {
		all += c.Name
	}
	if strings.Contains(all, strong[:5]) {
		t.Errorf("%q has a key", all)
	}
}

type broken struct{ io.Reader }

var errBroken = errors.New("the connection ended")

func (b broken) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = errBroken
	}
	return n, err
}

func TestNext_errors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"owner,key\na," + strong + "\n" + strings.Repeat("b,"+strong+"\n", 4000),
		"[" + strings.Repeat(`{"owner":"a","key":"`+strong+`"},`, 4000),
		strings.Repeat(`{"owner":"a","key":"`+strong+"\"}\n", 4000),
	} {
		r, err := keyfile.Open(broken{strings.NewReader(text)}, keyfile.Options{Now: now})
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, _, err = r.Next()
		}
		if !errors.Is(err, errBroken) {
			t.Errorf("%.20q: %v", text, err)
		}
		if _, _, again := r.Next(); !errors.Is(again, errBroken) {
			t.Errorf("%.20q: %v after the error", text, again)
		}
	}
}
