package app_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"postern/app"
	"postern/core/contract"
	"postern/testkit"
	"postern/testkit/keyfiles"
)

// importer is a signed-in browser that imports keys and calls the gateway with them.
type importer struct {
	*testing.T
	*app.App
	browser  *http.Client
	upstream string
}

func newImporter(t *testing.T, a *app.App, browser *http.Client) *importer {
	i := &importer{t, a, browser, testkit.NewUpstream(t).URL}
	if status, text := post(t, browser, a.FirstLink, ana); status != http.StatusOK {
		t.Fatalf("sign up: %d %s", status, text)
	}
	return i
}

// send sends a request to the control plane, with pairs of header fields, and decodes the answer.
func (i *importer) send(method, path string, body []byte, into any, header ...string) (int, string) {
	i.Helper()
	request, err := http.NewRequest(method, i.Config.PublicURL+path, bytes.NewReader(body))
	if err != nil {
		i.Fatal(err)
	}
	for n := 0; n < len(header); n += 2 {
		request.Header.Set(header[n], header[n+1])
	}
	answer, err := i.browser.Do(request)
	status, text := read(i.T, answer, err)
	if into != nil && status < 300 {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			i.Fatalf("%s %s: %v in %s", method, path, err, text)
		}
	}
	return status, text
}

// project creates a project that takes keys, and returns the URL of its environment.
func (i *importer) project(name string, more ...string) string {
	i.Helper()
	var made contract.Proxy
	body := fmt.Sprintf(`{"target":%q,"name":%q,"requests_auth":{"mode":"authenticate"}%s}`, i.upstream, name,
		strings.Join(more, ""))
	status, text := i.send("POST", "/proxy", []byte(body), &made, "Content-Type", "application/json")
	if status != http.StatusCreated {
		i.Fatalf("create %s: %d %s", name, status, text)
	}
	rules := `{"default":"allow","mode":"enforce","read_write_scopes":false,"rules":[]}` // any scopes will do
	if status, text := i.send("PUT", "/api/v1/projects/"+name+"/versions/1.0.0/rules", []byte(rules), nil,
		"Content-Type", "application/json"); status != http.StatusOK {
		i.Fatalf("rules of %s: %d %s", name, status, text)
	}
	return made.Project.Environments[0].URL
}

func (i *importer) take(project, query string, text []byte, header ...string) (out contract.KeysImported) {
	i.Helper()
	header = append([]string{"Content-Type", "application/x-ndjson"}, header...)
	status, answer := i.send("POST", "/api/v1/projects/"+project+"/keys/import?"+query, text, &out, header...)
	if status != http.StatusOK {
		i.Fatalf("import into %s: %d %s", project, status, answer)
	}
	return out
}

// call returns the status of a call with a key, and the code of a refusal.
func (i *importer) call(address, key string) (int, string) {
	i.Helper()
	request, err := http.NewRequest(http.MethodGet, address+"/orders", nil)
	if err != nil {
		i.Fatal(err)
	}
	request.Header.Set("X-API-Key", key)
	answer, err := i.browser.Transport.RoundTrip(request)
	if err != nil {
		i.Fatal(err)
	}
	var refusal struct{ Code string }
	status, text := read(i.T, answer, nil)
	_ = json.Unmarshal([]byte(text), &refusal) // the upstream's answer has no code
	return status, refusal.Code
}

// Keys of every source work, are frozen or are refused as at their source: the gateway is called with each plaintext.
func TestImportKeys_sources(t *testing.T) {
	testkit.EachDatabase(t, func(t *testing.T, databaseURL string) {
		a := newApp(t, settings(t.TempDir(), databaseURL))
		during(t, a, func(browser *http.Client) {
			i := newImporter(t, a, browser)
			for n, file := range keyfiles.All() {
				t.Run(file.Name, func(t *testing.T) { i.on(t).file(fmt.Sprintf("source-%d", n), file) })
			}
		})
	})
}

func (i *importer) on(t *testing.T) *importer {
	out := *i
	out.T = t
	return &out
}

func (i *importer) file(project string, file keyfiles.File) {
	var more string
	if file.Name == "native.ndjson" {
		more = `,"tenant":"acme","product":"orders"`
	}
	address := i.project(project, more)
	query := url.Values{"key_type": {"full"}, "allow_weak": {"true"}}
	for _, column := range slices.Sorted(maps.Keys(file.Map)) {
		query.Add("map", column+"="+file.Map[column])
	}
	text := file.Text(i.T)
	if file.Code != "" {
		status, answer := i.send("POST", "/api/v1/projects/"+project+"/keys/import?"+query.Encode(), text, nil)
		if status != http.StatusUnprocessableEntity || !strings.Contains(answer, file.Code) {
			i.Errorf("got %d %s, want %s", status, answer, file.Code)
		}
		return
	}
	query.Set("dry_run", "true")
	would := i.take(project, query.Encode(), text)
	if status, _ := i.call(address, file.Keys[0].Plaintext); status == http.StatusOK {
		i.Error("a dry run lets a key through")
	}
	query.Del("dry_run")
	did := i.take(project, query.Encode(), text)
	if would.KeyImportCounts != did.KeyImportCounts || !slices.Equal(would.Errors, did.Errors) {
		i.Errorf("a dry run gives %+v, the import %+v", would, did)
	}
	statuses := map[keyfiles.Outcome]int{
		keyfiles.Active: 200, keyfiles.Frozen: 403, keyfiles.Revoked: 401, keyfiles.Expired: 401, keyfiles.Refused: 401,
	}
	for _, key := range file.Keys {
		if key.Plaintext == "" || strings.ContainsAny(key.Plaintext, "\x00\r\n") {
			continue // it can't be sent
		}
		status, code := i.call(address, key.Plaintext)
		if code == "ip_denied" && key.Outcome == keyfiles.Active {
			continue // it may be used from other addresses only
		}
		if status != statuses[key.Outcome] {
			i.Errorf("row %d, which is %s, gets %d %s; errors %+v", key.Row, key.Outcome, status, code, did.Errors)
		}
	}
	again := i.take(project, query.Encode(), text)
	if again.Created != 0 || again.Unchanged != did.Created+did.Unchanged || again.Refused != did.Refused {
		i.Errorf("again: %+v, after %+v", again, did)
	}
}

// row is a line of a file in our own form.
func row(members string) string { return "{" + members + "}\n" }

const strong = "legacy-0123456789abcdef" // a key that can't be guessed

// What exists stays as it is, unless a row may change it, and nothing becomes callable again.
func TestImportKeys_existing(t *testing.T) {
	testkit.EachDatabase(t, func(t *testing.T, databaseURL string) {
		a := newApp(t, settings(t.TempDir(), databaseURL))
		during(t, a, func(browser *http.Client) {
			i := newImporter(t, a, browser)
			shop, books := i.project("shop"), i.project("books")
			key := func(members string) []byte { return []byte(row(`"owner":"ana","key":"` + strong + `"` + members)) }
			expect := func(what string, out contract.KeysImported, want contract.KeyImportCounts, codes ...string) {
				t.Helper()
				var got []string
				for _, one := range out.Errors {
					got = append(got, one.Code)
				}
				if out.KeyImportCounts != want || !slices.Equal(got, codes) {
					t.Errorf("%s: %+v %+v", what, out.KeyImportCounts, out.Errors)
				}
			}
			created, unchanged := contract.KeyImportCounts{Created: 1}, contract.KeyImportCounts{Unchanged: 1}
			refused, updated := contract.KeyImportCounts{Refused: 1}, contract.KeyImportCounts{Updated: 1}
			expect("no key type", i.take("shop", "", key("")), refused, "key_type_required")
			expect("unknown type", i.take("shop", "", key(`,"key_type":"gold"`)), refused, "unknown_key_type")
			weak := []byte(row(`"owner":"ana","key":"aaaaaaaaaaaaaaaaaaaa","key_type":"full"`))
			expect("a weak key", i.take("shop", "", weak), refused, "weak_key")
			members := `,"scopes":["orders:read"],"metadata":{"plan":"gold"},"credential_id":"c-1",` +
				`"consumer":{"username":"Ana"}`
			expect("new", i.take("shop", "", key(members)), created)
			if status, _ := i.call(shop, strong); status != http.StatusOK {
				t.Errorf("the key gets %d", status)
			}
			var list contract.List[contract.Key]
			i.send("GET", "/api/v1/projects/shop/keys?q=gold", nil, &list)
			if len(list.Items) != 1 || list.Items[0].KeyType != "orders-read" ||
				list.Items[0].Consumer.Username != "Ana" ||
				list.Items[0].Last4 != strong[len(strong)-4:] || *list.Items[0].CredentialID != "c-1" {
				t.Fatalf("the key is %+v", list.Items)
			}
			id := list.Items[0].ID
			expect("again", i.take("shop", "", key(members)), unchanged)
			expect("changed", i.take("shop", "", key(members+`,"description":"new"`)), refused, "exists")
			expect("updated", i.take("shop", "update=true", key(members+`,"description":"new"`)), updated)
			expect("twice", i.take("shop", "key_type=full", append([]byte(row(`"owner":"bo","key":"`+strong+`2"`)),
				row(`"owner":"bo","key":"`+strong+`2"`)+row(`"owner":"cy","key":"`+strong+`2"`)...)),
				contract.KeyImportCounts{Created: 1, Unchanged: 1, Refused: 1}, "exists")
			expect("elsewhere", i.take("books", "key_type=full", key("")), refused, "exists_elsewhere")
			if status, _ := i.call(books, strong); status != http.StatusUnauthorized {
				t.Errorf("in another project the key gets %d", status)
			}

			var match contract.KeyMatch
			i.send("POST", "/api/v1/projects/shop/keys/check", []byte(`{"key":"`+strong+`"}`), &match,
				"Content-Type", "application/json")
			if match.Match == nil || *match.Match != id {
				t.Errorf("the check finds %v", match.Match)
			}
			i.send("POST", "/api/v1/projects/books/keys/check", []byte(`{"key":"`+strong+`"}`), &match,
				"Content-Type", "application/json")
			if match.Match != nil {
				t.Errorf("the check of another project finds %v", *match.Match)
			}

			i.send("POST", "/api/v1/keys/"+id+"/freeze", nil, nil)
			expect("frozen", i.take("shop", "update=true", key(members)), refused, "exists")
			if status, _ := i.call(shop, strong); status != http.StatusForbidden {
				t.Errorf("the frozen key gets %d", status)
			}
			i.send("POST", "/api/v1/keys/"+id+"/unfreeze", nil, nil)
			var rotated contract.KeyWithSecret
			i.send("POST", "/api/v1/keys/"+id+"/rotate", nil, &rotated)
			for _, secret := range []string{rotated.Secret.Reveal(), strong} {
				if status, _ := i.call(shop, secret); status != http.StatusOK {
					t.Errorf("after the rotation, a secret gets %d", status)
				}
			}
			expect("the old secret", i.take("shop", "update=true", key(members)), refused, "exists")
			i.send("POST", "/api/v1/keys/"+id+"/revoke", nil, nil)
			if status, _ := i.call(shop, strong); status != http.StatusUnauthorized {
				t.Errorf("the revoked key gets %d", status)
			}
		})
	})
}

// No import makes a secret valid again, removes a restriction, or repeats what may be a key.
func TestImportKeys_restrictions(t *testing.T) {
	testkit.EachDatabase(t, func(t *testing.T, databaseURL string) {
		dir := t.TempDir()
		a := newApp(t, settings(dir, databaseURL))
		during(t, a, func(browser *http.Client) {
			i := newImporter(t, a, browser)
			shop := i.project("shop")
			key := func(members string) []byte { return []byte(row(`"owner":"ana","key":"` + strong + `"` + members)) }
			wantCall := func(what string, want int) {
				t.Helper()
				if status, _ := i.call(shop, strong); status != want {
					t.Errorf("%s: the key gets %d, want %d", what, status, want)
				}
			}
			wantCode := func(what string, out contract.KeysImported, want string) {
				t.Helper()
				if len(out.Errors) != 1 || out.Errors[0].Code != want {
					t.Errorf("%s: %+v, want %s", what, out, want)
				}
			}

			limited := `,"allowed_cidrs":["192.0.2.0/24"],"expires_at":"2100-01-01T00:00:00Z","limits":{"minute":5}`
			i.take("shop", "key_type=full", key(limited))
			wantCall("from another address", http.StatusForbidden)
			out := i.take("shop", "key_type=full&update=true", key(`,"description":"new"`))
			if out.Updated != 1 {
				t.Errorf("an update without columns for restrictions: %+v", out)
			}
			wantCall("after an update without its address ranges", http.StatusForbidden)
			var list contract.List[contract.Key]
			i.send("GET", "/api/v1/projects/shop/keys?owner=ana", nil, &list)
			if got := list.Items[0]; got.Description != "new" || got.ExpiresAt == nil || got.Limits == nil {
				t.Errorf("the key is %+v", got)
			}
			i.take("shop", "key_type=full&update=true", key(`,"allowed_cidrs":["0.0.0.0/0","::/0"]`))
			wantCall("from any address", http.StatusOK)

			id := list.Items[0].ID
			for range 2 { // the first secret is neither the current nor the one before
				i.send("POST", "/api/v1/keys/"+id+"/rotate", []byte(`{"grace_seconds":0}`), nil,
					"Content-Type", "application/json")
			}
			wantCode("after rotations", i.take("shop", "key_type=full", key("")), "revoked_before")
			wantCall("after rotations", http.StatusUnauthorized)

			const mixedUp = "k9J2hG5fD8sA1pO4iU7yT0rE"
			for _, member := range []string{"tenant", "environment", "product", "key_type"} {
				status, answer := i.send("POST", "/api/v1/projects/shop/keys/import",
					[]byte(row(`"owner":"bo","key":"`+strong+`3","`+member+`":"`+mixedUp+`"`)), nil,
					"Content-Type", "application/x-ndjson", "Idempotency-Key", "mixed-up-"+member)
				if status != http.StatusOK || strings.Contains(answer, mixedUp) ||
					!strings.Contains(answer, "unknown_"+member) {
					t.Errorf("a key as %s: %d %s", member, status, answer)
				}
			}
			status, answer := i.send("POST", "/api/v1/projects/shop/keys/import?key_type=gold", key(""), nil)
			if status != http.StatusUnprocessableEntity || !strings.Contains(answer, "full, read-only") {
				t.Errorf("an unknown key type for all rows: %d %s", status, answer)
			}
			wantNowhere(t, dir, mixedUp, strong)
		})
	})
}

// wantNowhere fails the test if a file in the folder has one of the secrets.
func wantNowhere(t *testing.T, dir string, secrets ...string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a temporary file of the database
		}
		for _, secret := range secrets {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s has a key", path)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// brokenAfter ends an upload after some bytes, as a client that is killed.
type brokenAfter struct {
	text io.Reader
}

func (b brokenAfter) Read(p []byte) (int, error) {
	n, err := b.text.Read(p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// An import that was interrupted continues with its Idempotency-Key, and answers with the totals of all attempts.
func TestImportKeys_repeated(t *testing.T) {
	testkit.EachDatabase(t, func(t *testing.T, databaseURL string) {
		a := newApp(t, settings(t.TempDir(), databaseURL))
		during(t, a, func(browser *http.Client) {
			i := newImporter(t, a, browser)
			shop := i.project("shop")
			var text strings.Builder
			const rows = 2500
			for n := range rows {
				if n == 1200 {
					text.WriteString(row(`"owner":"ana"`)) // in the second transaction
				}
				text.WriteString(row(fmt.Sprintf(`"owner":"app-%d","key":"%s-%d"`, n, strong, n)))
			}
			const path, once = "/api/v1/projects/shop/keys/import?key_type=full", "7f6d1c3a-once"
			whole := text.String()
			request, err := http.NewRequest(http.MethodPost, i.Config.PublicURL+path,
				brokenAfter{strings.NewReader(whole[:len(whole)*9/10])})
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Idempotency-Key", once)
			if answer, err := browser.Do(request); err == nil {
				t.Fatalf("the broken upload is answered %d", answer.StatusCode)
			}
			i.untilWritten("shop", 2000-1)
			var out contract.KeysImported
			for out.Created == 0 { // the server may not have seen yet that the upload has ended
				status, answer := i.send("POST", path, []byte(whole), &out, "Idempotency-Key", once)
				if status != http.StatusOK && status != http.StatusConflict {
					t.Fatalf("repeated: %d %s", status, answer)
				}
			}
			if want := (contract.KeyImportCounts{Created: rows, Refused: 1}); out.KeyImportCounts != want {
				t.Errorf("got %+v, want %+v", out.KeyImportCounts, want)
			}
			if len(out.Errors) != 1 || out.Errors[0].Row != 1201 {
				t.Errorf("errors: %+v", out.Errors)
			}
			for _, n := range []int{0, 1500, rows - 1} {
				if status, _ := i.call(shop, fmt.Sprintf("%s-%d", strong, n)); status != http.StatusOK {
					t.Errorf("key %d gets %d", n, status)
				}
			}
			var again contract.KeysImported
			i.send("POST", path, []byte(whole), &again, "Idempotency-Key", once)
			if again.KeyImportCounts != out.KeyImportCounts || again.SHA256 != out.SHA256 {
				t.Errorf("once more: %+v, want %+v", again, out)
			}
			other := strings.Replace(whole, "app-7", "app-x", 1)
			if status, answer := i.send("POST", path, []byte(other), nil, "Idempotency-Key", once); status != 422 ||
				!strings.Contains(answer, "idempotency_key_reused") {
				t.Errorf("another file: %d %s", status, answer)
			}
			shorter := row(`"owner":"zoe","key":"` + strong + `-zoe"`)
			if status, answer := i.send("POST", path, []byte(shorter), nil, "Idempotency-Key", once); status != 422 ||
				!strings.Contains(answer, "idempotency_key_reused") {
				t.Errorf("a file with fewer rows: %d %s", status, answer)
			}
			status, lines := i.send("POST", path, []byte(whole), nil, "Accept", "application/x-ndjson")
			if n := strings.Count(lines, `"result":"unchanged"`); status != 200 || n != rows ||
				strings.Count(lines, "\n") != rows+1 || strings.Contains(lines, strong) {
				t.Errorf("a line per row: %d, %d of %d lines are unchanged", status, n, strings.Count(lines, "\n"))
			}
			var audit contract.List[contract.AuditEntry]
			i.send("GET", "/api/v1/audit?action=key.create&limit=200", nil, &audit)
			if len(audit.Items) > 5 {
				t.Errorf("there are %d audit entries", len(audit.Items))
			}
		})
	})
}

// untilWritten waits until the project has that many keys of apps.
func (i *importer) untilWritten(project string, most int) {
	i.Helper()
	testkit.Eventually(i.T, "that the first rows are written", func() bool {
		var list contract.List[contract.Key]
		i.send("GET", fmt.Sprintf("/api/v1/projects/%s/keys?owner=app-%d", project, most-1), nil, &list)
		return len(list.Items) == 1
	})
}
