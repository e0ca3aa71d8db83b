package oidc_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/service/directory"
	"postern/testkit/state"
)

// groupAdmins is a tenant with the group staff, and users who sign in through a provider.
type groupAdmins struct {
	*app
	group string
}

func newGroupAdmins(t *testing.T, db *models.DB) groupAdmins {
	t.Helper()
	s := groupAdmins{app: newLoginApp(t, db, contract.AppClientSettings{})}
	s.group = s.create("staff")
	return s
}

func (s groupAdmins) create(name string) string {
	s.t.Helper()
	group, err := s.server.Directory.CreateGroup(s.t.Context(), s.owner, contract.NewGroup{Name: name}.In(s.tenant))
	if err != nil {
		s.t.Fatal(err)
	}
	return group.ID
}

// join signs a user in and returns their id and an access token with the scope.
func (s groupAdmins) join(scope string) (user, token string) {
	s.t.Helper()
	fake, provider := s.offerFake()
	r, back := s.signIn(fake, provider, scope)
	tokens := s.exchange(r, back)
	if tokens.Error != "" {
		s.t.Fatalf("sign in for %s: %+v", scope, tokens)
	}
	return claims(s.t, tokens.Access)["sub"].(string), tokens.Access
}

// call sends a request with an access token.
func (s groupAdmins) call(method, path, token, body string) (int, http.Header, map[string]any) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.url+s.path(path), strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	out := map[string]any{}
	if len(raw) > 0 && json.Unmarshal(raw, &out) != nil {
		s.t.Fatalf("%s %s answers %s", method, path, raw)
	}
	return answer.StatusCode, answer.Header, out
}

func (s groupAdmins) makeAdmin(group, user string) {
	s.t.Helper()
	if _, err := s.server.Directory.SetMember(
		s.t.Context(), s.owner, contract.InGroup(group, user).As(directory.RoleAdmin),
	); err != nil {
		s.t.Fatal(err)
	}
}

func TestManagedGroups_admin(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newGroupAdmins(t, db)
	admin, token := s.join("openid email groups:manage")
	other, _ := s.join("openid email")
	s.makeAdmin(s.group, admin)

	_, _, listed := s.call("GET", "/groups", token, "")
	if items := listed["items"].([]any); len(items) != 1 || items[0].(map[string]any)["name"] != "staff" {
		t.Errorf("GET /groups answers %v", listed)
	}
	status, _, member := s.call("PUT", "/groups/"+s.group+"/members/"+other, token, `{"role":"member"}`)
	if status != http.StatusOK || member["user"] != other || member["role"] != "member" {
		t.Fatalf("PUT a member answers %d %v", status, member)
	}
	_, _, member = s.call("PUT", "/groups/"+s.group+"/members/"+other, token, `{"role":"admin"}`)
	if member["role"] != "admin" {
		t.Errorf("PUT an admin answers %v", member)
	}
	_, _, page := s.call("GET", "/groups/"+s.group+"/members?limit=1", token, "")
	if items := page["items"].([]any); len(items) != 1 || page["next_cursor"] == nil {
		t.Errorf("the first page of members is %v", page)
	}
	status, _, body := s.call("DELETE", "/groups/"+s.group+"/members/"+other, token, "")
	if status != http.StatusNoContent {
		t.Errorf("DELETE answers %d %v", status, body)
	}
	entries, err := s.server.Audit.List(t.Context(), s.owner, contract.AuditList{Object: s.group})
	if err != nil {
		t.Fatal(err)
	}
	if len(entries.Items) == 0 || entries.Items[0].Actor.ID != admin {
		t.Errorf("the audit log has %+v, want the actor %s", entries.Items, admin)
	}
}

// TestManagedGroups_refusals has requests that leave the group as it is.
func TestManagedGroups_refusals(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newGroupAdmins(t, db)
	elsewhere := newGroupAdmins(t, db)
	admin, token := s.join("openid groups:manage")
	_, unscoped := s.join("openid groups")
	plain, member := s.join("openid groups:manage")
	stranger, foreign := elsewhere.join("openid groups:manage")
	s.makeAdmin(s.group, admin)
	if _, err := s.server.Directory.SetMember(
		t.Context(), s.owner, contract.InGroup(s.group, plain).As(directory.RoleMember),
	); err != nil {
		t.Fatal(err)
	}
	inner := s.create("inner")
	if _, err := s.server.Directory.Nest(t.Context(), s.owner, contract.Nested(s.group, inner)); err != nil {
		t.Fatal(err)
	}
	staff := "/groups/" + s.group + "/members/"
	const inRole = `{"role":"member"}`
	for name, tt := range map[string]struct {
		path, token, body string
		status            int
		code              string
	}{
		"no token":                  {staff + plain, "", "", 401, "credentials_required"},
		"a token of another client": {staff + plain, foreign, "", 401, "invalid_token"},
		"a token without the scope": {staff + plain, unscoped, "", 403, "insufficient_scope"},
		"a member, not an admin":    {staff + plain, member, `{"role":"admin"}`, 404, "not_found"},
		"a group inside theirs":     {"/groups/" + inner + "/members/" + plain, token, inRole, 404, "not_found"},
		"a group of another tenant": {
			"/groups/" + elsewhere.group + "/members/" + plain, token, inRole, 404, "not_found",
		},
		"a user of another tenant": {staff + stranger, token, inRole, 422, "unknown_user"},
		"an unknown address":       {staff + "unknown@example.com", token, inRole, 422, "unknown_user"},
		"no role":                  {staff + plain, token, "", 422, "required"},
		"an empty role":            {staff + plain, token, `{"role":null}`, 422, "required"},
		"an unknown role":          {staff + plain, token, `{"role":"owner"}`, 422, "invalid_role"},
		"an unknown field":         {staff + plain, token, `{"rule":"admin"}`, 422, "unknown_field"},
		"no JSON":                  {staff + plain, token, `role=admin`, 400, "invalid_json"},
		"a large body":             {staff + plain, token, strings.Repeat(" ", 4097), 413, "too_large"},
	} {
		t.Run(name, func(t *testing.T) {
			status, header, body := s.call("PUT", tt.path, tt.token, tt.body)
			if status != tt.status || body["code"] != tt.code {
				t.Errorf("answers %d %v, want %d %s", status, body, tt.status, tt.code)
			}
			challenged := tt.status == http.StatusUnauthorized || tt.code == "insufficient_scope"
			if challenge := header.Get("WWW-Authenticate"); (challenge != "") != challenged {
				t.Errorf("the challenge is %q", challenge)
			}
		})
	}
	if _, err := s.server.Directory.Freeze(t.Context(), s.owner, contract.UserPath{User: admin}); err != nil {
		t.Fatal(err)
	}
	if status, _, _ := s.call("PUT", staff+plain, token, ""); status != http.StatusUnauthorized {
		t.Errorf("a frozen admin gets %d", status)
	}
}

// TestManagedGroups_brokenBody sends a chunk whose length isn't a number.
func TestManagedGroups_brokenBody(t *testing.T) {
	t.Parallel()
	s := newGroupAdmins(t, state.OpenSQLite(t))
	admin, token := s.join("openid groups:manage")
	s.makeAdmin(s.group, admin)
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"+
		"Transfer-Encoding: chunked\r\n\r\nmany\r\n", s.path("/groups/"+s.group+"/members/"+admin), token)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), `"malformed"`) {
		t.Errorf("answers %d %s, want 400 malformed", response.StatusCode, body)
	}
}

// TestManagedGroups_byAddress puts users into a group by a verified email address only.
func TestManagedGroups_byAddress(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newGroupAdmins(t, db)
		admin, token := s.join("openid groups:manage")
		s.makeAdmin(s.group, admin)
		user := func(email string, verified bool) string {
			row := models.EndUser{
				ID:            models.NewID("usr"),
				TenantID:      s.tenant,
				Email:         email,
				EmailVerified: verified,
				State:         directory.Active,
				CreatedAt:     models.Now(),
				UpdatedAt:     models.Now(),
			}
			if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&row) }); err != nil {
				t.Fatal(err)
			}
			return row.ID
		}
		user("bo@example.com", false)
		bo := user("bo@example.com", true)
		user("cy@example.com", true)
		user("cy@example.com", true)
		members := "/groups/" + s.group + "/members/"
		status, _, got := s.call("PUT", members+"Bo@example.com", token, `{"role":"member"}`)
		if status != http.StatusOK || got["user"] != bo {
			t.Errorf("a verified address answers %d %v, want %s", status, got, bo)
		}
		if status, _, got := s.call("PUT", members+"cy@example.com", token,
			""); status != http.StatusUnprocessableEntity {
			t.Errorf("an address of two users answers %d %v", status, got)
		}
	})
}
