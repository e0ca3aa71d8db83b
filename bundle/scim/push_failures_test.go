package scim

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"postern/core/snapshot"
	"postern/testkit"
)

// receiver is a SCIM server that stores the resources that it receives, and can be set to fail.
type receiver struct {
	*httptest.Server
	t testing.TB

	mu      sync.Mutex
	have    map[string]map[string]any // by id
	writes  int
	patches int
	// fail answers a request instead of the server, which then returns true.
	fail func(w http.ResponseWriter, r *http.Request, body string) bool
	// lose drops the connection after a request has been carried out.
	lose func(r *http.Request) bool
}

func newReceiver(t testing.TB) *receiver {
	s := &receiver{t: t, have: map[string]map[string]any{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	if s.fail != nil && s.fail(w, r, string(body)) {
		return
	}
	if got := r.Header.Get("Authorization"); got != "Bearer "+token {
		s.t.Errorf("Authorization is %q", got)
	}
	status, answer := s.answer(r, body)
	if s.lose != nil && s.lose(r) {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(status)
	// Indented, so that the script reads more than one way of writing JSON.
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "\t")
	_ = encoder.Encode(answer)
}

func (s *receiver) answer(r *http.Request, body []byte) (int, any) {
	kind, id, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.Method == http.MethodGet && id == "":
		found := []any{}
		for _, one := range s.have {
			asked := fmt.Sprintf(`externalId eq "%s"`, one["externalId"])
			if one["kind"] == kind && r.URL.Query().Get("filter") == asked {
				found = append(found, map[string]any{
					"meta": map[string]any{"id": "\"id\":\"no\""}, "note": `\" "id": "no", \\`,
					"id": one["id"], "externalId": one["externalId"],
				})
			}
		}
		return 200, map[string]any{"id": "no", "Resources": found, "totalResults": len(found)}
	case r.Method == http.MethodGet:
		return 200, s.have[id]
	case r.Method == http.MethodPatch:
		s.patches++
		var patch struct {
			Operations []struct{ Value []any }
		}
		if err := json.Unmarshal(body, &patch); err != nil || s.have[id] == nil {
			s.t.Errorf("PATCH %s of %s: %v", id, body, err)
		}
		members, _ := s.have[id]["members"].([]any)
		s.have[id]["members"] = append(members, patch.Operations[0].Value...)
		return 204, nil
	}
	var one map[string]any
	if err := json.Unmarshal(body, &one); err != nil {
		s.t.Errorf("POST of %s: %v", body, err)
	}
	s.writes++
	one["kind"], one["id"] = kind, fmt.Sprintf("of-%s:%v", kind, one["externalId"])
	switch {
	case one["externalId"] == "usr_0":
		one["id"] = `/usr_0"\` // a user's id is in bodies only
	case kind == "Users":
		one["id"] = fmt.Sprint(8 + len(s.have)) // 9 and 10, which are sorted as texts
	}
	s.have[one["id"].(string)] = one
	return 201, one
}

// three is a tenant of three users in a group, which is in another.
func three() Source {
	var users []snapshot.User
	for i := range 3 {
		users = append(users, snapshot.User{
			ID: fmt.Sprint("usr_", i), Name: "A\"\\\n\tperson", Memberships: []snapshot.Membership{{GroupID: "grp_in"}},
		})
	}
	return sourceOf([]snapshot.Group{
		{ID: "grp_out", Name: "out"}, {ID: "grp_in", Name: "in", Parents: []string{"grp_out"}},
	}, users)
}

func answers(status int, header ...string) func(http.ResponseWriter, *http.Request, string) bool {
	return func(w http.ResponseWriter, _ *http.Request, _ string) bool {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"status":"x","scimType":"why","detail":"Be\u001b[31m \"so\""}`)
		return true
	}
}

// once has only the first request of a kind fail.
func once(method string, fail func(http.ResponseWriter, *http.Request, string) bool) func(
	http.ResponseWriter, *http.Request, string,
) bool {
	failed := false
	return func(w http.ResponseWriter, r *http.Request, body string) bool {
		if failed || r.Method != method {
			return false
		}
		failed = true
		return fail(w, r, body)
	}
}

const whole = "Members of groups: 4 added, 0 unchanged, 0 failed"

func TestPush_backoff(t *testing.T) {
	t.Parallel()
	for name, c := range testkit.ByName(map[string]struct {
		fail func(http.ResponseWriter, *http.Request, string) bool
		want []string
	}{
		"429 with Retry-After": {
			once("POST", answers(429, "Retry-After", "7")), []string{"returned 429", "slept: 7\n"},
		},
		"429 to GET": {once("GET", answers(429, "retry-after", "3")), []string{"slept: 3\n"}},
		"503 with a date": {
			once("PATCH", answers(503, "Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT")), []string{"slept: 1\n"},
		},
		"500":                    {once("GET", answers(500)), []string{"the receiver returned 500", "slept: 1\n"}},
		"a connection that ends": {once("POST", hangUp), []string{"does not respond (curl: ", "slept: 1\n"}},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newReceiver(t)
			s.fail = c.fail
			says(t, push(t, 0, export(t, three()), s.URL), append(c.want, whole)...)
			if s.writes != 5 {
				t.Errorf("%d creations, want 5", s.writes)
			}
		})
	}
}

func hangUp(http.ResponseWriter, *http.Request, string) bool { panic(http.ErrAbortHandler) }

func TestPush_lastAttempt(t *testing.T) {
	t.Parallel()
	for name, c := range testkit.ByName(map[string]struct {
		fail func(http.ResponseWriter, *http.Request, string) bool
		want string
	}{
		"401":                       {answers(401), "the receiver refused the token (401 (why): Be"},
		"403":                       {answers(403), "the token has no permission for GET /Users"},
		"301":                       {answers(301, "Location", "/x"), "use the URL that it redirects to"},
		"404":                       {answers(404), "is it its SCIM endpoint?"},
		"400":                       {answers(400), "cannot find Users by externalId (400 (why)"},
		"501":                       {answers(501), "does not support GET /Users"},
		"429 for an hour":           {answers(429, "Retry-After", "3600"), "requires a pause of 3600 seconds"},
		"429 again and again":       {answers(429), "slept: 1 2 4 8 16\n"},
		"a filter that is ignored":  {ignoresFilters, "returns other resources"},
		"a filter, and no id of us": {answersWith(`{"Resources":[{"id":"1"}]}`), "returns other resources"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newReceiver(t)
			s.fail = c.fail
			want := strings.ReplaceAll(c.want, "is it its", "is "+s.URL+" its")
			out := push(t, 1, export(t, three()), s.URL)
			says(t, out, want, "Run push.sh again later")
			if strings.Contains(out, "\x1b") || s.writes > 0 {
				t.Errorf("%d creations; push.sh says:\n%q", s.writes, out)
			}
		})
	}
}

func answersWith(text string) func(http.ResponseWriter, *http.Request, string) bool {
	return func(w http.ResponseWriter, _ *http.Request, _ string) bool {
		_, _ = io.WriteString(w, text)
		return true
	}
}

func ignoresFilters(w http.ResponseWriter, r *http.Request, body string) bool {
	return answersWith(`{"Resources":[{"id":"1","externalId":"another"}]}`)(w, r, body)
}

func TestPush_skippedRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range testkit.ByName(map[string]struct {
		fail func(http.ResponseWriter, *http.Request, string) bool
		want []string
	}{
		"409 to a user": {
			func(w http.ResponseWriter, r *http.Request, body string) bool {
				return strings.Contains(body, `"usr_1"`) && answers(409)(w, r, body)
			},
			[]string{
				`push.sh: Users usr_1 was refused with 409 (why): Be\u001b[31m \"so\"`,
				"Users: 2 created, 0 unchanged, 1 failed",
				"Members of groups: 3 added, 0 unchanged, 1 failed",
			},
		},
		"500 to a group": {
			func(w http.ResponseWriter, r *http.Request, body string) bool {
				return strings.Contains(body, `"grp_in"`) && answers(500)(w, r, body)
			},
			[]string{
				"slept: 1 2 4 8 16\n", "Groups grp_in was refused with 500",
				"Groups: 1 created, 0 unchanged, 1 failed",
				"Members of groups: 0 added, 0 unchanged, 1 failed",
			},
		},
		"400 to members": {
			func(w http.ResponseWriter, r *http.Request, body string) bool {
				return r.Method == "PATCH" && strings.Contains(body, `"Group"`) && answers(400)(w, r, body)
			},
			[]string{
				"Groups grp_out: members of type Group were refused with 400",
				"Members of groups: 3 added, 0 unchanged, 1 failed",
			},
		},
		"several": {
			func(w http.ResponseWriter, r *http.Request, body string) bool {
				return strings.Contains(r.URL.RawQuery, "usr_2") && answersWith(
					`{"Resources":[{"id":"1","externalId":"usr_2"},{"id":"2","externalId":"usr_2"}]}`)(w, r, body)
			},
			[]string{"Users usr_2: the receiver has several", "Users: 2 created, 0 unchanged, 1 failed"},
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newReceiver(t)
			s.fail = c.fail
			dir := export(t, three())
			says(t, push(t, 1, dir, s.URL), append(c.want, "The receiver does not have everything")...)
			s.fail = nil
			push(t, 0, dir, s.URL)
			s.writes, s.patches = 0, 0
			says(t, push(t, 0, dir, s.URL), "Members of groups: 0 added, 4 unchanged, 0 failed")
			if s.writes+s.patches > 0 || len(s.have) != 5 {
				t.Errorf("%d resources; the last push writes %d times", len(s.have), s.writes+s.patches)
			}
		})
	}
}

// After an interruption nothing is created twice: neither what was answered nor what was
// only carried out.
func TestPush_resumption(t *testing.T) {
	t.Parallel()
	s := newReceiver(t)
	dropped := 0
	s.lose = func(r *http.Request) bool {
		if r.Method == "POST" && dropped < 2 {
			dropped++
			return true
		}
		return false
	}
	dir := export(t, three())
	says(t, push(t, 0, dir, s.URL), "Users: 1 created, 2 unchanged, 0 failed", whole)
	if s.writes != 5 {
		t.Errorf("%d creations, want 5", s.writes)
	}
}

// The arguments of a program are seen by everyone on a machine, and environments by its
// user: curl gets the token in neither.
func TestPush_hiddenToken(t *testing.T) {
	t.Parallel()
	s := newReceiver(t)
	var seen []string
	s.fail = func(http.ResponseWriter, *http.Request, string) bool {
		files, _ := filepath.Glob("/proc/[0-9]*")
		for _, process := range files {
			line, _ := os.ReadFile(filepath.Join(process, "cmdline"))
			if strings.HasPrefix(string(line), "curl\x00") && strings.Contains(string(line), s.URL) {
				variables, _ := os.ReadFile(filepath.Join(process, "environ"))
				seen = append(seen, string(line)+string(variables))
			}
		}
		return false
	}
	push(t, 0, export(t, three()), s.URL)
	if len(seen) == 0 {
		t.Error("curl was not seen")
	}
	for _, one := range seen {
		if strings.Contains(one, token) {
			t.Errorf("curl was called as %q", one)
		}
	}
}
