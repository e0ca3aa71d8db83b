package api_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"postern/handlers"
	"postern/models"
	"postern/service/idempotency"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

const retryKey = "8e03978e-40d5-43e8-bc93-6894a57f9324"

func again(t *testing.T, h http.Handler, token, path, body, key string) controlplane.Response {
	t.Helper()
	return controlplane.Call(t, h, "POST", path, token, body, "Idempotency-Key", key)
}

func TestIdempotency_repeated(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	h, other := controlplane.NewServer(t, db).Handler(), controlplane.NewServer(t, db).Handler() // two replicas
	first := again(t, h, "", "/proxy", controlplane.ShopBody, retryKey)
	second := again(t, other, "", "/proxy", controlplane.ShopBody, `"`+retryKey+`"`)
	if first.Status != 201 || first.Header.Get("Idempotency-Replayed") != "" {
		t.Fatalf("first: %d %s", first.Status, first.Raw)
	}
	if second.Status != 201 || second.Raw != first.Raw || second.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("second: %d %v %s, first %s", second.Status, second.Header, second.Raw, first.Raw)
	}
	if second.Header.Get("Content-Type") != first.Header.Get("Content-Type") ||
		second.Header.Get("X-Request-Id") == first.Header.Get("X-Request-Id") {
		t.Errorf("headers: %v, first %v", second.Header, first.Header)
	}
	token := first.Body["workspace_key"].(string)
	for _, key := range []string{"a", "b", "a"} {
		if a := again(t, h, token, "/api/v1/projects/shop/keys", `{"owner":"x"}`, key); a.Status != 201 {
			t.Errorf("a key: %d %s", a.Status, a.Raw)
		}
	}
	list := controlplane.Call(t, h, "GET", "/api/v1/projects/shop/keys", token, "", "Idempotency-Key", "a")
	if len(list.Body["items"].([]any)) != 3 {
		t.Errorf("want the first key and two more: %s", list.Raw)
	}
	keyID := first.Body["api_keys"].(map[string]any)["prod"].(map[string]any)["id"].(string)
	one, two := again(
		t,
		h,
		token,
		"/api/v1/keys/"+keyID+"/rotate",
		`{}`,
		"r",
	), again(
		t,
		h,
		token,
		"/api/v1/keys/"+keyID+"/rotate",
		`{}`,
		"r",
	)
	if one.Status != 200 || one.Body["key"] != two.Body["key"] {
		t.Errorf("rotated twice: %s, %s", one.Raw, two.Raw)
	}
}

func TestIdempotency_otherCaller(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	h := controlplane.NewServer(t, db).Handler()
	shops := again(t, h, "", "/proxy", controlplane.ShopBody, retryKey).Body["workspace_key"].(string)
	a := again(t, h, "", "/proxy", strings.Replace(controlplane.ShopBody, "shop", "books", 1), retryKey)
	if a.Status != 422 || a.Body["code"] != "idempotency_key_reused" {
		t.Errorf("another body: %d %s", a.Status, a.Raw)
	}
	booksBody := strings.Replace(controlplane.ShopBody, "shop", "books", 1)
	books := controlplane.Call(t, h, "POST", "/proxy", "", booksBody).Body["workspace_key"].(string)
	one := again(t, h, shops, "/api/v1/projects/shop/keys", `{"owner":"x"}`, "1")
	two := again(t, h, books, "/api/v1/projects/books/keys", `{"owner":"x"}`, "1")
	if one.Status != 201 || two.Status != 201 || one.Body["key"] == two.Body["key"] {
		t.Errorf("two callers: %s, %s", one.Raw, two.Raw)
	}
	if a := again(t, h, books, "/api/v1/projects/shop/keys", `{"owner":"x"}`, "1"); a.Status != 404 {
		t.Errorf("another's answer: %d %s", a.Status, a.Raw)
	}
	if a := again(t, h, shops, "/api/v1/projects/shop/keys?x=1", `{"owner":"x"}`, "1"); a.Status != 422 {
		t.Errorf("another query: %d %s", a.Status, a.Raw)
	}
}

func TestIdempotency_concurrent(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	replicas := []http.Handler{controlplane.NewServer(t, db).Handler(), controlplane.NewServer(t, db).Handler()}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			a := again(t, replicas[i%2], "", "/proxy", controlplane.ShopBody, retryKey)
			if a.Status == 201 {
				return
			}
			wait, err := strconv.Atoi(a.Header.Get("Retry-After"))
			if a.Status != 409 || a.Body["code"] != "idempotency_in_progress" || err != nil || wait < 1 {
				t.Errorf("%d %s, Retry-After %q", a.Status, a.Raw, a.Header.Get("Retry-After"))
			}
		})
	}
	wg.Wait()
	if a := again(t, replicas[0], "", "/proxy", controlplane.ShopBody, retryKey); a.Status != 201 ||
		a.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("after all: %d %s", a.Status, a.Raw)
	}
}

// begun is the request of again as a server begins it that is then killed.
func begun(t *testing.T, s *handlers.Server) *idempotency.Attempt {
	t.Helper()
	a, _, err := s.Idempotency.Begin(t.Context(), idempotency.Request{
		Key:    retryKey,
		Method: "POST",
		Path:   "/proxy",
		Body:   []byte(controlplane.ShopBody),
	})
	if err != nil || a == nil {
		t.Fatalf("begin: %v", err)
	}
	return a
}

func endLease(t *testing.T, db *models.DB) {
	t.Helper()
	if _, err := db.SQL().ExecContext(t.Context(), "UPDATE idempotent_requests SET lease_until = '2001-01-01 "+
		"00:00:00+00:00'"); err != nil {
		t.Fatal(err)
	}
}

func TestIdempotency_crashBeforeCommit(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewServer(t, db)
	slow := begun(t, s)
	if a := again(t, s.Handler(), "", "/proxy", controlplane.ShopBody, retryKey); a.Status != 409 {
		t.Errorf("while under way: %d %s", a.Status, a.Raw)
	}
	endLease(t, db)
	if a := again(t, s.Handler(), "", "/proxy", controlplane.ShopBody, retryKey); a.Status != 201 {
		t.Errorf("after its lease: %d %s", a.Status, a.Raw)
	}
	team := models.Team{ID: "team_late", CreatedAt: models.Now()}
	err := db.Write(slow.Context(t.Context()), func(tx *models.Tx) error { return tx.Insert(&team) })
	if err == nil {
		t.Error("an attempt committed after it had lost its lease")
	}
	if _, err := db.Read(t.Context()).TeamByID(team.ID); err == nil {
		t.Error("what it wrote is there")
	}
}

// TestIdempotency_crashAfterCommit checks that a committed change is not repeated, although
// its answer is lost.
func TestIdempotency_crashAfterCommit(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewServer(t, db)
	team := models.Team{ID: "team_done", CreatedAt: models.Now()}
	err := db.Write(begun(t, s).Context(t.Context()), func(tx *models.Tx) error { return tx.Insert(&team) })
	if err != nil {
		t.Fatal(err)
	}
	endLease(t, db)
	if a := again(t, s.Handler(), "", "/proxy", controlplane.ShopBody, retryKey); a.Status != 409 ||
		a.Body["code"] != "idempotency_answer_lost" {
		t.Errorf("%d %s", a.Status, a.Raw)
	}
}

func TestIdempotency_failure(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewServer(t, db)
	token := controlplane.CreateShop(t, s.Handler()).Token
	create := func() controlplane.Response {
		return again(t, s.Handler(), token, "/api/v1/projects/shop/keys", `{"owner":"x"}`, "1")
	}
	s.Keys.Prefix = "NOT A PREFIX"
	if a := create(); a.Status != 500 {
		t.Fatalf("%d %s", a.Status, a.Raw)
	}
	s.Keys.Prefix = "pst"
	s.Keys.Changed = func(context.Context) { panic("after the commit") }
	if a := create(); a.Status != 500 {
		t.Fatalf("%d %s", a.Status, a.Raw)
	}
	s.Keys.Changed = func(context.Context) {}
	if a := create(); a.Status != 409 || a.Body["code"] != "idempotency_answer_lost" {
		t.Errorf("a key was made, and yet: %d %s", a.Status, a.Raw)
	}
	wrong := again(t, s.Handler(), token, "/api/v1/projects/shop/keys", `{}`, "2")
	right := again(t, s.Handler(), token, "/api/v1/projects/shop/keys", `{"owner":"x"}`, "2")
	if wrong.Status != 422 || right.Status != 201 {
		t.Errorf("a corrected request: %d, then %d %s", wrong.Status, right.Status, right.Raw)
	}
	taken := again(t, s.Handler(), "", "/proxy", controlplane.ShopBody, retryKey)
	if repeated := again(t, s.Handler(), "", "/proxy", controlplane.ShopBody, retryKey); taken.Status != 409 ||
		repeated.Raw != taken.Raw {
		t.Errorf("a refusal: %d %s, then %s", taken.Status, taken.Raw, repeated.Raw)
	}
}

func TestIdempotency_sealed(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		a := again(t, controlplane.NewServer(t, db).Handler(), "", "/proxy", controlplane.ShopBody, retryKey)
		secret := a.Body["workspace_key"].(string)
		found, err := db.SQL().QueryContext(t.Context(), "SELECT lookup, fingerprint, answer FROM idempotent_requests")
		if err != nil {
			t.Fatal(err)
		}
		defer found.Close()
		rows := 0
		for found.Next() {
			rows++
			var lookup, fingerprint, kept []byte
			if err := found.Scan(&lookup, &fingerprint, &kept); err != nil {
				t.Fatal(err)
			}
			for _, column := range [][]byte{lookup, fingerprint, kept} {
				for _, canary := range []string{secret, retryKey, "shop", "workspace_key"} {
					if bytes.Contains(column, []byte(canary)) {
						t.Errorf("%q is kept in the clear", canary)
					}
				}
			}
		}
		if err := found.Err(); err != nil || rows != 1 {
			t.Errorf("%d rows, %v", rows, err)
		}
	})
}

func TestIdempotency_expiry(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := controlplane.NewServer(t, db).Handler()
		token := controlplane.CreateShop(t, h).Token
		create := func(body string) controlplane.Response {
			return again(t, h, token, "/api/v1/projects/shop/keys", body, "1")
		}
		create(`{"owner":"x"}`)
		if _, err := db.SQL().ExecContext(t.Context(), "UPDATE idempotent_requests SET expires_at = '2001-01-01 "+
			"00:00:00+00:00'"); err != nil {
			t.Fatal(err)
		}
		if a := create(`{"owner":"y"}`); a.Status != 201 || a.Header.Get("Idempotency-Replayed") != "" {
			t.Errorf("after a day: %d %s", a.Status, a.Raw)
		}
		purge := func(tx *models.Tx) error { return tx.DeleteExpiredIdempotent(models.Now().Add(idempotency.TTL)) }
		if err := db.Write(t.Context(), purge); err != nil {
			t.Fatal(err)
		}
		var rows int
		err := db.SQL().QueryRowContext(t.Context(), "SELECT count(*) FROM idempotent_requests").Scan(&rows)
		if err != nil ||
			rows != 0 {
			t.Errorf("%d rows are left, %v", rows, err)
		}
	})
}

func TestIdempotency_malformed(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	h := controlplane.NewServer(t, db).Handler()
	token := controlplane.CreateShop(t, h).Token
	for name, tt := range map[string]struct {
		token string
		keys  []string
		code  string
	}{
		"empty":              {token, []string{""}, "invalid_idempotency_key"},
		"empty in quotes":    {token, []string{`""`}, "invalid_idempotency_key"},
		"twice":              {token, []string{"a", "a"}, "invalid_idempotency_key"},
		"a list":             {token, []string{"a, b"}, "invalid_idempotency_key"},
		"too long":           {token, []string{strings.Repeat("a", 256)}, "invalid_idempotency_key"},
		"not ASCII":          {token, []string{"schlüssel"}, "invalid_idempotency_key"},
		"a control":          {token, []string{"a\tb"}, "invalid_idempotency_key"},
		"half quoted":        {token, []string{`"a`}, "invalid_idempotency_key"},
		"quotes in quotes":   {token, []string{`"a"b"`}, "invalid_idempotency_key"},
		"anonymous, short":   {"", []string{"1"}, "idempotency_key_too_weak"},
		"anonymous, uniform": {"", []string{strings.Repeat("ab", 20)}, "idempotency_key_too_weak"},
	} {
		path, body := "/api/v1/projects/shop/keys", `{"owner":"x"}`
		if tt.token == "" {
			path, body = "/proxy", `{"target":"http://127.0.0.1:9"}`
		}
		var header []string
		for _, key := range tt.keys {
			header = append(header, "Idempotency-Key", key)
		}
		a := controlplane.Call(t, h, "POST", path, tt.token, body, header...)
		if a.Status != 400 || a.Body["code"] != tt.code ||
			!strings.Contains(a.Body["detail"].(string), "Idempotency-Key") {
			t.Errorf("%s: %d %s", name, a.Status, a.Raw)
		}
	}
	large := fmt.Sprintf(`{"owner":"x","description":%q}`, strings.Repeat("x", 1<<20))
	if a := again(t, h, token, "/api/v1/projects/shop/keys", large, "1"); a.Status != 413 {
		t.Errorf("a large body: %d", a.Status)
	}
	a := again(t, h, token, "/api/v1/projects/shop/keys", `{"owner":"x"}`, strings.Repeat("a", 255))
	if a.Status != 201 {
		t.Errorf("255 characters: %d %s", a.Status, a.Raw)
	}
}
