package movein_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	plans "postern/core/movein"
	"postern/models"
	"postern/testkit/state"
)

// awsPlan plans an import of core/movein/testdata/aws, whose targets are the upstream.
func (w *world) awsPlan(t *testing.T, name string, o plans.Options) *plans.Plan {
	t.Helper()
	names, err := filepath.Glob("../../core/movein/testdata/aws/" + name + "/*")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	host := strings.TrimPrefix(w.upstream.URL, "http://")
	replaced := strings.NewReplacer(
		"https://orders.example.net", w.upstream.URL, "https://billing.example.net", w.upstream.URL,
		"weather.example.net:8080", host, "10.1.2.3:8080", host,
		"https://users.example.net", w.upstream.URL+"/to-users",
		"https://writer.example.net", w.upstream.URL+"/to-writer", "http://10.2.0.9:3000", w.upstream.URL+"/to-carts",
		"https://legacy.example.net", w.upstream.URL+"/to-legacy",
	)
	var files []plans.File
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, plans.File{Name: filepath.Base(name), Text: []byte(replaced.Replace(string(text)))})
	}
	read, err := plans.Read(files)
	if err != nil {
		t.Fatal(err)
	}
	o.Now = time.Now()
	plan, err := read.Plan(nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// The keys of core/movein/testdata/aws/rest-keys.
const (
	mobileKey   = "Pk1rTq8vXz2mWs5yBn7cLd4gHj6fKe9aQu3oRi0t" // of the plan Gold
	disabledKey = "Aa1Ss2Dd3Ff4Gg5Hh6Jj7Kk8Ll9Pp0Oo1Ii2Uu3Y"
	planlessKey = "Qq1Ww2Ee3Rr4Tt5Yy6Uu7Ii8Oo9Pp0Aa1Ss2Dd3F"
)

// awsCalls are calls of imported APIs. Calls that AWS refuses are refused, and others reach the same URL.
var awsCalls = map[string][]struct {
	method, path, key string
	status            int
	upstream          string // path, if the call reaches it
}{
	"rest-keys": {
		{"GET", "/orders", mobileKey, 200, "/v1/orders"},
		{"GET", "/orders?page=2", mobileKey, 200, "/v1/orders?page=2"},
		{"GET", "/orders/42", mobileKey, 200, "/v1/orders/42"},
		{"POST", "/orders", mobileKey, 200, "/v1/orders"},
		{"GET", "/files/a/b", "", 200, "/v1/files/a/b"},
		{"PUT", "/files/a", "", 200, "/v1/files/a"},
		{"GET", "/files/private", mobileKey, 200, "/v1/files/private"},

		{"GET", "/orders", "", 403, ""},
		{"POST", "/orders", "", 401, ""},
		{"GET", "/orders", "wrong-0123456789abcdefghij", 401, ""},
		{"GET", "/orders", disabledKey, 403, ""},
		{"GET", "/orders", planlessKey, 403, ""},
		{"HEAD", "/orders", mobileKey, 404, ""},
		{"GET", "/orders/42/lines", mobileKey, 403, ""},
		{"DELETE", "/orders", mobileKey, 404, ""},
		{"GET", "/files", mobileKey, 403, ""},
		{"GET", "/files/private", "", 403, ""},
		{"GET", "/files/%70rivate", "", 403, ""},
		{"GET", "/files/x/../private", "", 403, ""},
		{"POST", "/files/private", mobileKey, 403, ""},
		{"GET", "/other", mobileKey, 404, ""},
	},
	"authorizers": {
		{"GET", "/free/of/checks", "", 200, "/free/of/checks"},
		{"GET", "/invoices", "", 403, ""},
		{"GET", "/invoices/7", "", 403, ""},
		{"POST", "/signed", "", 403, ""},
		{"POST", "/checked", "", 403, ""},
		{"POST", "/invoices", "", 403, ""},
		{"GET", "/", "", 403, ""},
	},
	"targets": {
		{"GET", "/users", "", 200, "/to-users/users"},
		{"POST", "/users", "", 200, "/to-writer/users"},
		{"GET", "/api/status", "", 200, "/to-users/status"},
		{"DELETE", "/carts/7/items", "", 200, "/to-carts/carts/7/items"},
		{"GET", "/carts/legacy", "", 200, "/to-legacy/old/carts/legacy"},
		{"GET", "/users/7", "", 403, ""},
		{"POST", "/carts/legacy", "", 403, ""},
		{"GET", "/carts", "", 403, ""},
		{"PATCH", "/users", "", 404, ""},
	},
}

func TestWrite_aws(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		for name, calls := range awsCalls {
			plan := w.awsPlan(t, name, plans.Options{
				Name: "aws-" + name, Hosts: []string{name + ".example.com"},
				CanServe: func(host string) bool { return host != "gw.example.com" },
			})
			if _, err := w.Write(t.Context(), w.owner, "", plan); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			w.approve(t, plan.Projects[0].Name, name+".example.com")
			for _, call := range calls {
				status, upstream, headers := w.awsCall(t, call.method, name+".example.com", call.path, call.key)
				if status != call.status || upstream != call.upstream {
					t.Errorf("%s: %s %s with the key %.4q: %d, %q reached; want %d, %q", name, call.method, call.path,
						call.key, status, upstream, call.status, call.upstream)
				}
				token := headers.Get("X-Backend-Token")
				if hasToken := call.method == "POST" && upstream == "/v1/orders"; hasToken != (token != "") {
					t.Errorf("%s %s: the token %q reached the upstream", call.method, call.path, token)
				}
			}
			again, err := w.Write(t.Context(), w.owner, "", plan)
			if err != nil || again.ID != "" {
				t.Errorf("%s: imported again: %+v, %v", name, again, err)
			}
		}
	})
}

// awsCall returns the status of a call, and what reached the upstream.
func (w *world) awsCall(t *testing.T, method, host, path, key string) (status int, upstream string, h http.Header) {
	t.Helper()
	before := len(w.upstream.Requests())
	request, err := http.NewRequestWithContext(t.Context(), method, w.front+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = host
	if key != "" {
		request.Header.Set("X-Api-Key", key)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		t.Fatal(err)
	}
	if all := w.upstream.Requests(); len(all) > before {
		last := all[len(all)-1]
		if last.Headers.Get("X-Api-Key") == mobileKey {
			t.Errorf("%s %s: the key reached the upstream", method, path)
		}
		return answer.StatusCode, last.Target, last.Headers
	}
	return answer.StatusCode, "", http.Header{}
}

// Two stages of an API are environments of one project, with the variables of each.
func TestWrite_awsStages(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		plan := w.awsPlan(t, "stages", plans.Options{Name: "aws", Hosts: []string{"weather.example.com"}})
		did, err := w.Write(t.Context(), w.owner, "", plan)
		if err != nil {
			t.Fatal(err)
		}
		if len(did.Projects) != 1 || did.Created.Environments != 2 || did.Created.Domains != 2 {
			t.Errorf("created %+v", did)
		}
		w.approve(t, "weather", "weather.example.com")
		for path, want := range map[string]int{"/": 401, "/next": 401, "/next/rome": 401, "/elsewhere/rome": 401} {
			if status, _, _ := w.awsCall(t, "GET", "weather.example.com", path, ""); status != want {
				t.Errorf("%s: %d", path, status)
			}
		}
		if err := w.Undo(t.Context(), w.owner, did.ID); err != nil {
			t.Error(err)
		}
	})
}
