package testkit_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"postern/testkit"
)

func TestPostgres_emptyAndRemoved(t *testing.T) {
	var address string
	t.Run("use", func(t *testing.T) {
		address = testkit.Postgres(t)
		conn, err := pgx.Connect(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		var tables int
		err = conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").Scan(&tables)
		if err != nil {
			t.Fatal(err)
		}
		if tables != 0 {
			t.Errorf("a new database has %d tables, want none", tables)
		}
	})
	if conn, err := pgx.Connect(t.Context(), address); err == nil {
		_ = conn.Close(t.Context())
		t.Error("the database is still there after its test")
	}
}

func TestEachDatabase_sqliteAndPostgres(t *testing.T) {
	got := map[string]string{}
	testkit.EachDatabase(t, func(t *testing.T, databaseURL string) {
		_, name, _ := strings.Cut(t.Name(), "/")
		scheme, _, _ := strings.Cut(databaseURL, ":")
		got[name] = scheme
	})
	if diff := cmp.Diff(map[string]string{"sqlite": "", "postgres": "postgres"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestUpstream_request(t *testing.T) {
	upstream := testkit.NewUpstream(t)
	req, err := http.NewRequestWithContext(
		t.Context(), "PUT", upstream.URL+"/a%2Fb/%C3%BC?q=1&q=%20", strings.NewReader("hello"),
	)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "shop.example"
	req.Header = http.Header{"X-Twice": {"one", "two"}, "X_under": {"kept"}}
	req.ContentLength = -1 // chunked, so that there can be trailers
	req.Trailer = http.Header{"X-Sum": {"42"}}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var answered testkit.Seen
	if err := json.NewDecoder(res.Body).Decode(&answered); err != nil {
		t.Fatal(err)
	}
	want := testkit.Seen{
		Method: "PUT", Target: "/a%2Fb/%C3%BC?q=1&q=%20", Path: "/a%2Fb/%C3%BC", Query: "q=1&q=%20",
		Protocol: "HTTP/1.1", Host: "shop.example", Body: []byte("hello"), ContentLength: -1,
		Headers: http.Header{
			"Accept-Encoding": {"gzip"}, "User-Agent": {"Go-http-client/1.1"},
			"X-Twice": {"one", "two"}, "X_under": {"kept"},
		},
		Trailers: http.Header{"X-Sum": {"42"}},
	}
	if diff := cmp.Diff(want, answered); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]testkit.Seen{want}, upstream.Requests()); diff != "" {
		t.Errorf("remembered (-want +got):\n%s", diff)
	}
}
