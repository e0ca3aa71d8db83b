package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// Changes without If-Match are all made, in some order; one that names a state that is
// over is refused.
func TestAPI_concurrentChanges(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewServer(t, db)
	h := s.Handler()
	header := controlplane.SignUpOwner(t, s)
	made := controlplane.Call(t, h, "POST", "/proxy", "", controlplane.ShopBody, header...)
	if made.Status != http.StatusCreated {
		t.Fatalf("POST /proxy: %d %s", made.Status, made.Raw)
	}
	versions, err := db.Read(t.Context()).VersionsOf(made.Body["project"].(map[string]any)["id"].(string))
	if err != nil {
		t.Fatal(err)
	}
	const each = 6
	var wg sync.WaitGroup
	for i := range each {
		for path, body := range map[string]string{
			"/api/v1/projects/shop":                            `{"display_name":"Shop %d"}`,
			"/api/v1/projects/shop/versions/" + versions[0].ID: `{"ip":{"deny":["192.0.2.%d"]}}`,
		} {
			for _, ifMatch := range []string{"", "*"} {
				wg.Go(func() {
					with := header
					if ifMatch != "" {
						with = append([]string{"If-Match", ifMatch}, header...)
					}
					got := controlplane.Call(t, h, "PATCH", path, "", fmt.Sprintf(body, i), with...)
					if got.Status != http.StatusOK {
						t.Errorf("PATCH %s with If-Match %q: %d %s", path, ifMatch, got.Status, got.Raw)
					}
				})
			}
		}
	}
	wg.Wait()
	old := append([]string{"If-Match", `"0"`}, header...)
	got := controlplane.Call(t, h, "PATCH", "/api/v1/projects/shop", "", `{"display_name":"x"}`, old...)
	if got.Status != http.StatusPreconditionFailed {
		t.Errorf("a state that is over: %d %s", got.Status, got.Raw)
	}
}

func TestSCIM_concurrentChanges(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewServer(t, db)
	h := s.Handler()
	header := append(controlplane.SignUpOwner(t, s), "Content-Type", "application/scim+json")
	tenant := controlplane.Call(t, h, "POST", "/api/v1/tenants", "", `{"name":"acme"}`, header[:len(header)-2]...)
	at := fmt.Sprintf("/api/v1/tenants/%v/scim/v2/Users", tenant.Body["id"])
	made := controlplane.Call(
		t,
		h,
		"POST",
		at,
		"",
		`{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"userName":"ana@example.com"}`,
		header...)
	if made.Status != http.StatusCreated {
		t.Fatalf("create: %d %s", made.Status, made.Raw)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			body := strings.ReplaceAll(`{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
					"Operations":[{"op":"replace","path":"displayName","value":"Ana %d"}]}`, "%d", fmt.Sprint(i))
			got := controlplane.Call(t, h, "PATCH", fmt.Sprintf("%s/%v", at, made.Body["id"]), "", body, header...)
			if got.Status != http.StatusOK {
				t.Errorf("PATCH: %d %s", got.Status, got.Raw)
			}
		})
	}
	wg.Wait()
}
