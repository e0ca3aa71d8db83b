package handlers_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"postern/models"
	"postern/testkit/state"
)

// Changes without If-Match are all made, in some order; one that names a state that is
// over is refused.
func TestAPI_ChangesAtOnce(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newServer(t, db)
		h := s.Handler()
		header := newOwnerOf(t, s)
		made := call(t, h, "POST", "/proxy", "", shop, header...)
		if made.status != http.StatusCreated {
			t.Fatalf("POST /proxy: %d %s", made.status, made.raw)
		}
		versions, err := db.Read(t.Context()).VersionsOf(made.body["project"].(map[string]any)["id"].(string))
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
						got := call(t, h, "PATCH", path, "", fmt.Sprintf(body, i), with...)
						if got.status != http.StatusOK {
							t.Errorf("PATCH %s with If-Match %q: %d %s", path, ifMatch, got.status, got.raw)
						}
					})
				}
			}
		}
		wg.Wait()
		old := append([]string{"If-Match", `"0"`}, header...)
		got := call(t, h, "PATCH", "/api/v1/projects/shop", "", `{"display_name":"x"}`, old...)
		if got.status != http.StatusPreconditionFailed {
			t.Errorf("a state that is over: %d %s", got.status, got.raw)
		}
	})
}

func TestSCIM_ChangesAtOnce(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newServer(t, db)
		h := s.Handler()
		header := append(newOwnerOf(t, s), "Content-Type", "application/scim+json")
		tenant := call(t, h, "POST", "/api/v1/tenants", "", `{"name":"acme"}`, header[:len(header)-2]...)
		at := fmt.Sprintf("/api/v1/tenants/%v/scim/v2/Users", tenant.body["id"])
		made := call(
			t,
			h,
			"POST",
			at,
			"",
			`{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"userName":"ana@example.com"}`,
			header...)
		if made.status != http.StatusCreated {
			t.Fatalf("create: %d %s", made.status, made.raw)
		}
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				body := strings.ReplaceAll(`{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
					"Operations":[{"op":"replace","path":"displayName","value":"Ana %d"}]}`, "%d", fmt.Sprint(i))
				got := call(t, h, "PATCH", fmt.Sprintf("%s/%v", at, made.body["id"]), "", body, header...)
				if got.status != http.StatusOK {
					t.Errorf("PATCH: %d %s", got.status, got.raw)
				}
			})
		}
		wg.Wait()
	})
}
