package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"postern/testkit"
)

// If a file has a key twice, the stricter state and the earlier end count, wherever its rows are. A key that existed
// before stays unchanged, and the refusal says what it is.
func TestImportKeys_twiceInFile(t *testing.T) {
	cases := []struct {
		name, first, second string
		status              int
		says                string
	}{
		{"active, frozen", "", `,"state":"frozen"`, 403, "so the key is frozen"},
		{"active, revoked", "", `,"state":"revoked"`, 401, "so the key is revoked"},
		{"active, expired", "", `,"state":"expired"`, 401, "so the key is expired"},
		{"active, with an end", "", `,"expires_at":"2100-01-01T00:00:00Z"`, 200, "active until 2100-01-01"},
		{"frozen, active", `,"state":"frozen"`, "", 403, ""},
		{"frozen, revoked", `,"state":"frozen"`, `,"state":"revoked"`, 401, "so the key is revoked"},
		{"revoked, frozen", `,"state":"revoked"`, `,"state":"frozen"`, 401, ""},
		{"expired, active", `,"state":"expired"`, "", 401, ""},
		{"an earlier end, a later one", `,"expires_at":"2020-01-01T00:00:00Z"`, `,"expires_at":"2100-01-01T00:00:00Z"`,
			401, ""},
		{"another description, frozen", "", `,"state":"frozen","description":"other"`, 403, "so the key is frozen"},
		{"another description", "", `,"description":"other"`, 200, ""},
	}
	testkit.EachDatabase(t, func(t *testing.T, databaseURL string) {
		a := newApp(t, settings(t.TempDir(), databaseURL))
		during(t, a, func(browser *http.Client) {
			i := newImporter(t, a, browser)
			shop := i.project("shop")
			key := func(of string, n int) string { return fmt.Sprintf("%s-%s-%d", strong, of, n) }
			line := func(key, members string) string { return row(`"owner":"ana","key":"` + key + `"` + members) }
			var near, before, after, between strings.Builder
			for n, tc := range cases {
				near.WriteString(line(key("near", n), tc.first) + line(key("near", n), tc.second))
				before.WriteString(line(key("far", n), tc.first))
				after.WriteString(line(key("far", n), tc.second))
			}
			for n := range 1000 { // so that the rows are in different transactions
				between.WriteString(line(key("between", n), ""))
			}
			file := []byte(near.String() + before.String() + between.String() + after.String())
			would := i.take("shop", "key_type=full&dry_run=true", file)
			did := i.take("shop", "key_type=full", file)
			if would.KeyImportCounts != did.KeyImportCounts || !slices.Equal(would.Errors, did.Errors) {
				t.Errorf("a dry run gives %+v, the import %+v", would, did)
			}
			if int(did.Refused) != 2*len(cases) || len(did.Errors) != 2*len(cases) {
				t.Fatalf("the import gives %+v", did)
			}
			for n, tc := range cases {
				for of, detail := range map[string]string{
					"near": did.Errors[n].Detail, "far": did.Errors[len(cases)+n].Detail,
				} {
					if status, code := i.call(shop, key(of, n)); status != tc.status {
						t.Errorf("%s, %s: the key gets %d %s, want %d", tc.name, of, status, code, tc.status)
					}
					said := strings.Contains(detail, "so the key is")
					if said != (tc.says != "") || !strings.Contains(detail, tc.says) {
						t.Errorf("%s, %s: %s", tc.name, of, detail)
					}
				}
			}

			again := i.take("shop", "key_type=full", []byte(line(key("between", 0), `,"state":"frozen"`)))
			if len(again.Errors) != 1 || !strings.Contains(again.Errors[0].Detail, "The key remains active") {
				t.Errorf("a row that is stricter than a key that existed: %+v", again)
			}
			if status, _ := i.call(shop, key("between", 0)); status != http.StatusOK {
				t.Errorf("the key that existed gets %d", status)
			}
		})
	})
}
