//go:build conformance

package conformance

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/testkit"
	"postern/testkit/sample"
	"postern/testkit/scripted"
	"postern/testkit/servers"
)

// ownersExport is an export with rules that require, remember and forget owners, and one order for each of two
// key owners.
func ownersExport(t *testing.T, up *upstream) (folder string, ana, ben []string) {
	t.Helper()
	project, keys := sample.Project(up.url), sample.Keys()
	get := []string{"GET"}
	for i := range project.Versions {
		if project.Versions[i].Name != "1.0.0" {
			continue
		}
		project.Versions[i].Rules = snapshot.Rules{List: []snapshot.Rule{
			{ID: "rul_1", Methods: get, Path: "/orders/{id}", Owner: "order:{id}"},
			{ID: "rul_2", Methods: []string{"POST"}, Path: "/orders", Remember: "order:{response.answer}"},
			{ID: "rul_3", Methods: []string{"DELETE"}, Path: "/orders/{id}", Owner: "order:{id}", Forget: "order:{id}"},
			{ID: "rul_4", Methods: get, Path: "/scoped/{id}", Owner: "order:{id}", Scopes: []string{"no:such"}},
			{ID: "rul_5", Methods: []string{"PUT"}, Path: "/orders/{id}", Remember: "order:{id}"},
			{ID: "rul_6", Methods: []string{"POST"}, Path: scripted.Path + "{id}", Remember: "order:{response.answer}"},
		}}
	}
	one, other := keys["active"], keys["graced"]
	owned := []snapshot.Relation{
		{User: one.Owner, Object: "order:a%2Fb"}, {User: one.Owner, Object: "order:1"},
		{User: other.Owner, Object: "order:2"},
	}
	for i := range owned {
		owned[i].TenantID, owned[i].Tenant, owned[i].Relation = "tnt_1", "default", policy.OwnerRelation
	}
	slices.SortFunc(owned, func(a, b snapshot.Relation) int { return strings.Compare(a.Object, b.Object) })
	in := exportInput(project, keys, bundle.Options{Consumers: true})
	in.Relations = func(context.Context) iter.Seq2[snapshot.Relation, error] {
		return func(yield func(snapshot.Relation, error) bool) {
			for _, r := range owned {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
	return unpackedExport(t, in), []string{key(one)}, []string{key(other)}
}

// owns checks the status and code of a call. The exported gateway writes a relation shortly after the answer
// that created it, so owns repeats a call whose result differs.
func owns(t *testing.T, kong *peer, name, method, path string, headers []string, status int, code string) {
	t.Helper()
	what := fmt.Sprintf("%s: %d %s for %s %s", name, status, code, method, path)
	got := testkit.Await(t, what, func() (outcome, bool) {
		got := kong.send(one(name, method, projectHost, prod+path, headers...))
		return got, got.Status == status && got.Code == code
	})
	if (status == http.StatusOK) != (len(got.Seen) == 1) {
		t.Errorf("%s: the upstream saw %d calls", name, len(got.Seen))
	}
}

// With OpenFGA, which the exported script has loaded, the exported gateway enforces ownership and records what
// answers change.
func TestConformanceOwners(t *testing.T) {
	up := newUpstream(t)
	folder, ana, ben := ownersExport(t, up)
	server := servers.StartOpenFGA(t, "a-preshared-key")
	load := exec.CommandContext(t.Context(), "sh", filepath.Join(folder, "authz", "load.sh"), server.URL)
	load.Env = append(load.Environ(), "OPENFGA_TOKEN=a-preshared-key")
	if text, err := load.CombinedOutput(); err != nil {
		t.Fatalf("load.sh: %v\n%s", err, text)
	}
	kong, _ := startKong(t, folder, up, "OPENFGA_URL="+server.URL, "OPENFGA_STORE=", "OPENFGA_TOKEN=a-preshared-key")

	const ok, refused = http.StatusOK, http.StatusForbidden
	owns(t, kong, "an owner", "GET", "/orders/1", ana, ok, "")
	owns(t, kong, "an owner", "HEAD", "/orders/1", ana, ok, "")
	owns(t, kong, "an owner, otherwise written", "GET", "//orders/%31/", ana, ok, "")
	owns(t, kong, "another owner", "GET", "/orders/2", ana, refused, "not_owner")
	owns(t, kong, "another owner", "GET", "/orders/1", ben, refused, "not_owner")
	owns(t, kong, "the other owner", "GET", "/orders/2", ben, ok, "")
	owns(t, kong, "an encoded slash", "GET", "/orders/a%2Fb", ana, ok, "")
	owns(t, kong, "no one's", "GET", "/orders/3", ana, refused, "not_owner")
	owns(t, kong, "no key", "GET", "/orders/1", nil, http.StatusUnauthorized, "credentials_required")
	owns(t, kong, "parameters that an upstream may cut", "GET", "/orders/1;v=2", ana, refused, "not_owner")
	owns(t, kong, "scopes come first", "GET", "/scoped/2", ben, refused, "insufficient_scope")

	const made = "/orders/of%20the%20upstream"
	owns(t, kong, "before it exists", "GET", made, ben, refused, "not_owner")
	owns(t, kong, "an answer names it", "POST", "/orders", ben, ok, "")
	owns(t, kong, "its creator", "GET", made, ben, ok, "")
	owns(t, kong, "not its creator", "GET", made, ana, refused, "not_owner")
	owns(t, kong, "may not delete it", "DELETE", made, ana, refused, "not_owner")
	owns(t, kong, "a second owner", "PUT", made, ana, ok, "")
	owns(t, kong, "the second owner", "GET", made, ana, ok, "")
	owns(t, kong, "deletes it", "DELETE", made, ben, ok, "")
	owns(t, kong, "its creator after that", "GET", made, ben, refused, "not_owner")
	owns(t, kong, "the second owner after that", "GET", made, ana, refused, "not_owner")
	owns(t, kong, "another object", "GET", "/orders/2", ben, ok, "")

	// Only a whole number without an exponent names an object, and with all of its digits. The last answer is
	// recorded after the others.
	for _, name := range []string{"id-exponent", "id-fraction", "id-twenty-digits", "id-digits"} {
		owns(t, kong, name, "POST", scripted.Path+name, ben, ok, "")
	}
	owns(t, kong, "digits", "GET", "/orders/1002", ben, ok, "")
	owns(t, kong, "20 digits", "GET", "/orders/12345678901234567890", ben, ok, "")
	for _, id := range []string{
		"1e3", "1000", "1000.0", "1001", "1001.0", "12345678901234567000", "1.2345678901235e+19",
	} {
		owns(t, kong, "not an identifier", "GET", "/orders/"+id, ben, refused, "not_owner")
	}

	server.Stop()
	owns(t, kong, "without an answer", "GET", "/orders/1", ana, http.StatusServiceUnavailable, "ownership_unavailable")
	owns(t, kong, "what needs no owner", "GET", "/other", ana, ok, "")
	owns(t, kong, "what is only followed", "POST", "/orders", ana, ok, "")
}

// Without OpenFGA, no caller owns an object.
func TestConformanceOwners_withoutOpenFGA(t *testing.T) {
	up := newUpstream(t)
	folder, ana, _ := ownersExport(t, up)
	kong, _ := startKong(t, folder, up, "OPENFGA_URL=", "OPENFGA_STORE=", "OPENFGA_TOKEN=")
	owns(t, kong, "an owner", "GET", "/orders/1", ana, http.StatusForbidden, "not_owner")
	owns(t, kong, "what is only followed", "POST", "/orders", ana, http.StatusOK, "")
	owns(t, kong, "what needs no owner", "GET", "/other", ana, http.StatusOK, "")
}
