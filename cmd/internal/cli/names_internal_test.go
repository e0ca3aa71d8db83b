package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"postern/client"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
	"postern/platform/fault"
)

// TestRecognized checks that each kind of thing has a list to find its name in, and that all paths agree on its kind.
func TestRecognized(t *testing.T) {
	found := map[string]bool{}
	for _, op := range contract.Operations() {
		for _, m := range op.Members() {
			if want := kindsInPaths()[m.Name]; m.Place == contract.InPath && m.IDOf != want {
				t.Errorf("%s: %s has the ID of %q, want %q", op.Describe().Command, m.Name, m.IDOf, want)
			}
			if m.IDOf == "" {
				continue
			}
			found[m.IDOf] = true
			if recognized[m.IDOf] == "" || withName(m.IDOf, m.Doc) == m.Doc {
				t.Errorf("%s: nothing is taken in place of %s: %q", op.Describe().Command, m.Name, m.Doc)
			}
		}
	}
	for kind := range recognized {
		if !found[kind] || collectionNamed(kind) == "" {
			t.Errorf("%s: no request has one, or the API has no list of them", kind)
		}
	}
}

func TestUniqueNames(t *testing.T) {
	got := uniqueNames("group", []client.Listed{
		{ID: "grp_1", Name: "staff"}, {ID: "grp_2", Name: "ops"}, {ID: "grp_3", Name: "staff"},
		{ID: "grp_2", Name: "ops"}, // seen with another credential
		{ID: "grp_4", Name: "staff"}, {ID: "grp_5", Name: "--yes"}, {ID: "grp_6", Name: "on call"}, {ID: "grp_7"},
	})
	if want := map[string]string{"grp_2": "ops"}; !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	got = uniqueNames("user", []client.Listed{
		{ID: "usr_1", Email: "Ana@example.com", State: "invited"},
		{ID: "usr_2", Email: "ana@example.com", State: "invited"},
		{ID: "usr_3", Email: "eve@example.com", State: "active"},
	})
	if len(got) > 0 {
		t.Errorf("got %q for one address with different case, and one that no provider verified", got)
	}
	if got := uniqueNames("", []client.Listed{{ID: "key_1", Name: "a"}}); len(got) > 0 {
		t.Errorf("got %q for what isn't found by name", got)
	}
}

func TestFind(t *testing.T) {
	type user struct{ id, email, state string }
	// with returns the caller of a server with that many tenants, of which the first has the users.
	with := func(tenants int, users ...user) Caller {
		mux := http.NewServeMux()
		list := func(path string, items []map[string]any) {
			mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
				_ = json.NewEncoder(w).Encode(map[string]any{"items": items})
			})
		}
		var all, people []map[string]any
		for i := range tenants {
			all = append(all, map[string]any{"id": fmt.Sprint("tnt_", i)})
		}
		for _, u := range users {
			people = append(people, map[string]any{"id": u.id, "email": u.email, "state": u.state})
		}
		list("/api/v1/tenants", all)
		list("/api/v1/tenants/{tenant}/users", nil)
		list("/api/v1/tenants/tnt_0/users", people)
		server := httptest.NewServer(mux)
		t.Cleanup(server.Close)
		api, err := client.New(server.URL, "token")
		if err != nil {
			t.Fatal(err)
		}
		return Caller{Client: api}
	}
	// failing returns the caller of a server that has a user in the first of two tenants, and answers with a status at
	// one path.
	failing := func(path string, status int) Caller {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case path:
				w.Header().Set("Content-Type", "application/problem+json")
				w.WriteHeader(status)
				fmt.Fprintf(w, `{"type":"about:blank","title":"No","status":%d,"code":"some_code",`, status)
				fmt.Fprint(w, `"detail":"This is the detail."}`)
			case "/api/v1/tenants":
				fmt.Fprint(w, `{"items":[{"id":"tnt_0"},{"id":"tnt_1"}]}`)
			case "/api/v1/tenants/tnt_0/users":
				fmt.Fprint(w, `{"items":[{"id":"usr_1","email":"ana@example.com","state":"invited"}]}`)
			default:
				fmt.Fprint(w, `{"items":[]}`)
			}
		}))
		t.Cleanup(server.Close)
		api, err := client.New(server.URL, "token")
		if err != nil {
			t.Fatal(err)
		}
		return Caller{Client: api}
	}
	const ana, tenants = "ana@example.com", "/api/v1/tenants"
	invited := user{"usr_1", ana, "invited"}
	for name, tt := range map[string]struct {
		callers []Caller
		want    string // the ID, or a part of the error
	}{
		"one":        {[]Caller{with(3, invited)}, "usr_1"},
		"other case": {[]Caller{with(1, user{"usr_1", "Ana@Example.com", "invited"})}, "usr_1"},
		"none":       {[]Caller{with(3, user{"usr_1", "ana@example.com.br", "invited"})}, ana},
		"two credentials": {
			[]Caller{with(1, invited), with(1, user{"usr_2", ana, "invited"})}, "several users",
		},
		"two credentials, one user": {[]Caller{with(1, invited), with(1, invited)}, "usr_1"},
		"an address without proof":  {[]Caller{with(1, user{"usr_1", ana, "active"})}, "use the ID: usr_1"},
		"too many tenants":          {[]Caller{with(maxSearched + 1)}, "USER: Use an ID: "},
		"too many with one of two":  {[]Caller{with(1, invited), with(maxSearched + 1)}, "USER: Use an ID: "},
		"a tenant that is gone":     {[]Caller{failing(tenants+"/tnt_1/users", 404)}, "usr_1"},
		"a tenant that is refused":  {[]Caller{failing(tenants+"/tnt_1/users", 403)}, "This is the detail."},
		"a tenant that fails":       {[]Caller{failing(tenants+"/tnt_1/users", 500)}, "This is the detail."},
		"a refused credential":      {[]Caller{failing(tenants, 403)}, "This is the detail."},
		"an invalid credential":     {[]Caller{failing(tenants, 401)}, ana},
		"a refused one of two":      {[]Caller{failing(tenants, 403), with(1)}, ana},
		"another unproven address":  {[]Caller{with(1, invited, user{"usr_2", ana, "active"})}, "usr_1"},
	} {
		t.Run(name, func(t *testing.T) {
			one := named{kind: "user", shown: "USER", given: ana}
			got, err := one.find(t.Context(), tt.callers, map[string]string{})
			if err != nil {
				got = err.Error()
			}
			if (err == nil && got != tt.want) || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			_, usage := errors.AsType[terminal.UsageError](err)
			if _, refused := errors.AsType[*fault.Error](err); err != nil && !usage && !refused {
				t.Errorf("%q is neither a usage error nor the server's", got)
			}
		})
	}
}
