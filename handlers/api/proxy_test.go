package api_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"postern/platform/config"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestProxy_targetSpellings(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	h := controlplane.NewServer(t, db).Handler()
	for target, code := range map[string]string{
		"http://0x7f.1/":                        "invalid_url",
		"http://2130706433/":                    "invalid_url",
		"http://0177.0.0.1/":                    "invalid_url",
		"http://127.1/":                         "invalid_url",
		"http://localhost./":                    "invalid_url",
		"http://127.0.0.1./":                    "invalid_url",
		"http://u:p@8.8.8.8/":                   "invalid_url",
		`http://8.8.8.8\@127.0.0.1/`:            "invalid_url",
		"ftp://8.8.8.8/":                        "invalid_url",
		"file:///etc/passwd":                    "invalid_url",
		"javascript:alert(1)":                   "invalid_url",
		"http://[::ffff:127.0.0.1]/":            "invalid_url",
		"http://①②⑦.0.0.1/":                     "invalid_url",
		"http://8.8.8.8/#x":                     "invalid_url",
		"http://[fe80::1%25lo]/":                "invalid_url",
		"http://169.254.169.254/latest":         "target_forbidden",
		"http://[64:ff9b::7f00:1]/":             "target_forbidden",
		"http://[2002:7f00:1::]/":               "target_forbidden",
		"http://[2001::1]/":                     "target_forbidden",
		"http://[fd00:ec2::254]/":               "target_forbidden",
		"http://100.64.0.1/":                    "target_forbidden",
		"http://0.0.0.0/":                       "target_forbidden",
		"http://127.0.0.1:8080/":                "target_forbidden",
		"http://127.0.0.1:8090/shop/1.0.0/prod": "target_forbidden", // ourselves
	} {
		got := controlplane.Call(t, h, "POST", "/proxy", "", controlplane.TargetBody(target))
		if list := got.PointerCodes(); got.Status != 422 || len(list) != 1 || list[0] != "/target "+code {
			t.Errorf("%s: %d %v, want 422 /target %s", target, got.Status, list, code)
		}
	}
}

func TestProxy_webPorts(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewServer(t, db)
	s.Projects.CapUnclaimed = true
	h := s.Handler()
	var key string
	for target, status := range map[string]int{
		"http://8.8.8.8":       201,
		"http://8.8.8.8:443":   201,
		"https://8.8.8.8/x":    201,
		"https://8.8.8.8:80":   201,
		"http://8.8.8.8:8080":  422,
		"https://8.8.8.8:8443": 422,
		"http://8.8.8.8:9200":  422,
	} {
		got := controlplane.Call(t, h, "POST", "/proxy", "", controlplane.TargetBody(target))
		if got.Status != status ||
			status == 422 && strings.Join(got.PointerCodes(), ",") != "/target port_needs_claim" {
			t.Errorf("%s: %d %s, want %d", target, got.Status, got.Raw, status)
		}
		if made, ok := got.Body["workspace_key"].(string); ok {
			key = made
		}
	}
	got := controlplane.Call(t, h, "POST", "/proxy", key, controlplane.TargetBody("http://8.8.8.8:8080"))
	if got.Status != 422 {
		t.Errorf("with a workspace key: %d %s, want 422", got.Status, got.Raw)
	}
	two := `{"target":"http://8.8.8.8","environments":{"dev":{"target":"http://8.8.8.8:9000"}}}`
	got = controlplane.Call(t, h, "POST", "/proxy", "", two)
	if strings.Join(got.PointerCodes(), ",") != "/environments/dev/target port_needs_claim" {
		t.Errorf("an environment: %d %s", got.Status, got.Raw)
	}
	o := controlplane.SignUpOwner(t, s)
	got = controlplane.Call(t, h, "POST", "/proxy", "", controlplane.TargetBody("http://8.8.8.8:8080"), o...)
	if got.Status != 201 {
		t.Errorf("with an account: %d %s, want 201", got.Status, got.Raw)
	}
}

func TestProxy_anonymousLimit(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewServer(t, db)
	s.Projects.CapUnclaimed = true
	h := s.Handler()
	var got controlplane.Response
	made := 0
	for range 30 {
		got = controlplane.Call(t, h, "POST", "/proxy", "", controlplane.TargetBody("http://8.8.8.8"))
		if got.Status == 201 {
			made++
		}
	}
	if made != 20 {
		t.Errorf("%d proxies are created, want 20", made)
	}
	if got.Status != 429 || got.Body["code"] != "too_many_proxies" {
		t.Errorf("then %d %s, want 429 too_many_proxies", got.Status, got.Raw)
	}
	seconds, err := strconv.Atoi(got.Header.Get("Retry-After"))
	if err != nil || seconds < 1 || seconds > 3600 {
		t.Errorf("Retry-After %q, want 1 to 3600", got.Header.Get("Retry-After"))
	}
	owner := controlplane.SignUpOwner(t, s)
	got = controlplane.Call(t, h, "POST", "/proxy", "", controlplane.TargetBody("http://8.8.8.8"), owner...)
	if got.Status != 201 {
		t.Errorf("with an account: %d %s, want 201", got.Status, got.Raw)
	}
}

// Tests who may create a proxy without an account, in each mode of the setting.
func TestProxy_anonymousSetting(t *testing.T) {
	t.Parallel()
	const token = "the-installations-own-token"
	db := state.OpenSQLite(t)
	s := controlplane.NewServer(t, db)
	s.Config.AnonymousToken = token
	h := s.Handler()
	made := controlplane.Call(t, h, "POST", "/proxy", "", controlplane.TargetBody("http://127.0.0.1:9"))
	key, _ := made.Body["workspace_key"].(string)
	owner := controlplane.SignUpOwner(t, s)
	for _, tt := range []struct {
		mode   config.Anonymous
		who    string
		key    string
		header []string
		status int
	}{
		{config.AnonymousOpen, "no credential", "", nil, 201},
		{config.AnonymousToken, "no credential", "", nil, 401},
		{config.AnonymousToken, "a guesser", "", []string{"Postern-Anonymous-Token", token + "x"}, 401},
		{config.AnonymousToken, "who knows the token", "", []string{"Postern-Anonymous-Token", token}, 201},
		{config.AnonymousToken, "a workspace", key, nil, 201},
		{config.AnonymousToken, "an account", "", owner, 201},
		{config.AnonymousOff, "no credential", "", nil, 401},
		{config.AnonymousOff, "who knows the token", "", []string{"Postern-Anonymous-Token", token}, 401},
		{config.AnonymousOff, "a workspace", key, nil, 403},
		{config.AnonymousOff, "an account", "", owner, 201},
	} {
		s.Config.Anonymous = tt.mode
		got := controlplane.Call(
			t,
			h,
			"POST",
			"/proxy",
			tt.key,
			controlplane.TargetBody("http://127.0.0.1:9"),
			tt.header...)
		if got.Status != tt.status || tt.status == 401 && !strings.Contains(got.Raw, "/signin") {
			t.Errorf("%s, %s: %d %s, want %d", tt.mode, tt.who, got.Status, got.Raw, tt.status)
		}
		if strings.Contains(got.Raw, token) {
			t.Errorf("%s, %s: the answer holds the token", tt.mode, tt.who)
		}
	}
}

func TestCreateProxy_environmentTargets(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewServer(t, db)
	h := s.Handler()
	header := controlplane.SignUpOwner(t, s)
	for _, tc := range []struct {
		name, body, targets, refused string
	}{
		{"the target alone", `"target":"http://127.0.0.1:9"`, "prod http://127.0.0.1:9", ""},
		{
			"its own",
			`"target":"http://127.0.0.1:9","environments":{"prod":{},"dev":{"target":"http://127.0.0.1:8"}}`,
			"dev http://127.0.0.1:8, prod http://127.0.0.1:9",
			"",
		},
		{"no target", `"environments":{"dev":{"target":"http://127.0.0.1:8"}}`, "dev http://127.0.0.1:8", ""},
		{
			"one without any",
			`"environments":{"prod":{},"dev":{"target":"http://127.0.0.1:8"}}`,
			"",
			"/environments/prod/target required",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := controlplane.Call(t, h, "POST", "/proxy", "", "{"+tc.body+"}", header...)
			if tc.refused != "" {
				if where := strings.Join(got.PointerCodes(), ", "); got.Status != 422 ||
					where != tc.refused {
					t.Fatalf("%d at %s, want 422 at %s: %s", got.Status, where, tc.refused, got.Raw)
				}
				return
			}
			if got.Status != 201 {
				t.Fatalf("%d %s", got.Status, got.Raw)
			}
			var targets []string
			for _, e := range got.Body["project"].(map[string]any)["environments"].([]any) {
				environment := e.(map[string]any)
				targets = append(targets, fmt.Sprint(environment["name"], " ", environment["target"]))
			}
			slices.Sort(targets)
			if all := strings.Join(targets, ", "); all != tc.targets {
				t.Errorf("environments %s, want %s", all, tc.targets)
			}
		})
	}
}
