package handlers_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// wrongCredential is part of every request of refusedCredentials.
const wrongCredential = "pstw_CanaryCanaryCanaryCanaryCanaryCanaryCanaryCan"

var refusedCredentials = map[string]struct {
	method, path, body string
	header             []string
	status             int
	code               string // of the entry, "" for none
}{
	"a wrong token": {
		"GET",
		"/api/v1/projects",
		"",
		[]string{"Authorization", "Bearer " + wrongCredential},
		401,
		"invalid_token",
	},
	"another scheme": {
		"GET",
		"/api/v1/projects",
		"",
		[]string{"Authorization", "Basic " + wrongCredential},
		401,
		"invalid_token",
	},
	"a wrong session": {
		"GET",
		"/api/v1/projects",
		"",
		[]string{"Cookie", "postern=" + wrongCredential},
		401,
		"credentials_required",
	},
	"next to one in the path": {
		"GET",
		"/api/v1/keys/" + wrongCredential,
		"",
		[]string{"Authorization", "Bearer " + wrongCredential},
		401,
		"invalid_token",
	},
	"a wrong password": {
		"POST",
		"/signin",
		"email=ana@example.com&password=" + wrongCredential,
		[]string{"Content-Type", "application/x-www-form-urlencoded"},
		401,
		"wrong_password",
	},
	"a write from another site": {
		"POST",
		"/api/v1/projects/shop/keys?key=" + wrongCredential,
		"{}",
		[]string{"Sec-Fetch-Site", "cross-site"},
		403,
		"cross_origin",
	},
	"no credential":              {"GET", "/api/v1/projects", "", nil, 401, ""},
	"a credential in the path":   {"GET", "/api/v1/keys/" + wrongCredential, "", nil, 401, ""},
	"something that is not here": {"GET", "/nowhere/" + wrongCredential, "", nil, 404, ""},
}

// TestAudit_refusedCredential checks that a refused credential leaves an entry that does
// not repeat it, and that a request without a credential leaves none.
func TestAudit_refusedCredential(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	o := controlplane.NewFixture(t, db)
	for name, tt := range refusedCredentials {
		before := o.InstallationAudit(t)
		got := controlplane.Call(t, o.Handler, tt.method, tt.path, "", tt.body, tt.header...)
		added := o.InstallationAudit(t)[:len(o.InstallationAudit(t))-len(before)]
		if got.Status != tt.status {
			t.Errorf("%s: %d %.200q", name, got.Status, got.Raw)
		}
		if tt.code == "" {
			if len(added) != 0 {
				t.Errorf("%s: recorded %+v", name, added)
			}
			continue
		}
		if len(added) != 1 {
			t.Errorf("%s: recorded %+v, want one entry", name, added)
			continue
		}
		entry := added[0]
		if entry.Outcome != models.OutcomeRefused || entry.Detail["code"] != tt.code {
			t.Errorf("%s: recorded %s %s, want refused %s", name, entry.Outcome, entry.Detail["code"], tt.code)
		}
		if entry.RemoteAddr == "" || !strings.HasPrefix(entry.Detail["route"], tt.method) {
			t.Errorf("%s: recorded address %q and route %q", name, entry.RemoteAddr, entry.Detail["route"])
		}
		if id := got.Header.Get("X-Request-Id"); entry.RequestID != id {
			t.Errorf("%s: recorded request %s, want %s", name, entry.RequestID, id)
		}
		if text := fmt.Sprintf("%+v", added); strings.Contains(text, "anary") {
			t.Errorf("%s: repeats the credential: %s", name, text)
		}
	}
}

// TestAudit_refusedOutsider checks the entry in the log of the team whose object was
// requested: it names the object and the outsider's account, not their email address.
func TestAudit_refusedOutsider(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := controlplane.NewFixture(t, db)
		has := o.NewObjects(t, "", "")
		controlplane.Call(t, o.Handler, "POST", "/api/v1/keys/"+has.Key+"/revoke", "", "", o.Outsider...)
		var list struct {
			Items []struct {
				Action, Outcome, Object, Project, Address string
				Detail                                    map[string]string
				Actor                                     struct{ ID, Email, Token string }
			}
		}
		path := "/api/v1/audit?outcome=refused&project=" + has.ProjectName
		got := controlplane.Call(t, o.Handler, http.MethodGet, path, "", "", o.Owner...)
		if err := json.Unmarshal([]byte(got.Raw), &list); err != nil {
			t.Fatal(err)
		}
		if len(list.Items) != 1 {
			t.Fatalf("%d %s", got.Status, got.Raw)
		}
		e := list.Items[0]
		if e.Action != "key.change" {
			t.Errorf("action %q, want key.change", e.Action)
		}
		if e.Object != has.Key || e.Project != has.Project {
			t.Errorf("object %q of project %q, want %q of %q", e.Object, e.Project, has.Key, has.Project)
		}
		if code := e.Detail["code"]; code != "not_found" {
			t.Errorf("code %q, want not_found", code)
		}
		if route := e.Detail["route"]; route != "POST /api/v1/keys/:key/revoke" {
			t.Errorf("route %q, want that of the revocation", route)
		}
		if !strings.HasPrefix(e.Actor.ID, "acc_") || !strings.HasPrefix(e.Actor.Token, "ses_") {
			t.Errorf("actor %q with token %q, want an account with a session", e.Actor.ID, e.Actor.Token)
		}
		if e.Actor.Email != "" {
			t.Errorf("the entry shows the address %q", e.Actor.Email)
		}
	})
}

// wrongCode is a request with a wrong code, and what it leaves in the audit log.
type wrongCode struct {
	method, path, body string
	header             []string
	status             int
	action             string // of the entry, "" for none
	code               string
}

const wrongClaim, wrongUser = "CanaryCanaryCanaryCanaryCa", "BCDF-GHJK"

func wrongCodes() map[string]wrongCode {
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	return map[string]wrongCode{
		"a claim": {
			method: "POST",
			path:   "/api/v1/claim",
			body:   `{"code":"` + wrongClaim + `"}`,
			status: 404,
			action: "workspace.claim",
			code:   "not_found",
		},
		"a claim's page": {
			method: "GET",
			path:   "/claim/" + wrongClaim,
			status: 404,
			action: "workspace.claim",
			code:   "not_found",
		},
		"a claim's form": {
			method: "POST",
			path:   "/claim/" + wrongClaim,
			body:   "team=new",
			header: form,
			status: 404,
			action: "workspace.claim",
			code:   "not_found",
		},
		"a device's page": {
			method: "GET",
			path:   "/device?user_code=" + wrongUser,
			status: 422,
			action: "device.approve",
			code:   "wrong_code",
		},
		"a device's form": {
			method: "POST",
			path:   "/device",
			body:   "user_code=" + wrongUser + "&decision=approve",
			header: form,
			status: 422,
			action: "device.approve",
			code:   "wrong_code",
		},
		"not a device code": {
			method: "POST",
			path:   "/device",
			body:   "user_code=hello",
			header: form,
			status: 422,
		},
		"a device without a code": {method: "GET", path: "/device", status: 200},
	}
}

// TestAudit_wrongCode checks that a wrong code leaves an entry that does not repeat it,
// as codes are credentials. Text that doesn't have the form of a code leaves no entry.
func TestAudit_wrongCode(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	o := controlplane.NewFixture(t, db)
	for name, tt := range wrongCodes() {
		before := o.InstallationAudit(t)
		got := controlplane.Call(t, o.Handler, tt.method, tt.path, "", tt.body, append(tt.header, o.Owner...)...)
		added := o.InstallationAudit(t)[:len(o.InstallationAudit(t))-len(before)]
		if got.Status != tt.status {
			t.Errorf("%s: %d %.200q", name, got.Status, got.Raw)
		}
		if tt.action == "" {
			if len(added) != 0 {
				t.Errorf("%s: recorded %+v", name, added)
			}
			continue
		}
		if len(added) != 1 {
			t.Errorf("%s: recorded %+v, want one entry", name, added)
			continue
		}
		entry := added[0]
		if entry.Action != tt.action || entry.Actor != o.Principal.Account {
			t.Errorf("%s: recorded %s of %s, want %s of %s", name, entry.Action, entry.Actor, tt.action,
				o.Principal.Account)
		}
		if entry.Outcome != models.OutcomeRefused || entry.Detail["code"] != tt.code {
			t.Errorf("%s: recorded %s %s, want refused %s", name, entry.Outcome, entry.Detail["code"], tt.code)
		}
		if text := fmt.Sprintf("%+v", added); strings.Contains(text, "anary") || strings.Contains(text, wrongUser) {
			t.Errorf("%s: repeats the code: %s", name, text)
		}
	}
}
