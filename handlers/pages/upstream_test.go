package pages_test

import (
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestUpstreamHeaders(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	page := strings.TrimSuffix(s.Get("/projects/shop").Action("target"), "/target") + "/upstream-headers"
	s.Get("/projects/shop").Says("a[href='"+page+"']", "Upstream headers")
	s.Get(page).Shows(200, "Upstream headers for 1.0.0/prod").Says("main", "No headers yet")
	s.Post(page, "name", "X-Consumer-ID", "secret_value", "s3cret-value").
		Shows(422, "Upstream headers for 1.0.0/prod").
		Holds("name", "X-Consumer-ID").
		Says("#header-name-error", "headers that the gateway sets").
		Lacks("[value='s3cret-value']")
	s.Post(page, "name", "X-A", "secret_value", "").
		Shows(422, "Upstream headers for 1.0.0/prod").
		Says("#header-value-error", "printable ASCII")
	s.Post(page, "name", " x-upstream-token ", "secret_value", "s3cret-value").LeadsTo(page)
	s.Get(page).Says("tbody", "X-Upstream-Token").Lacks("[value='s3cret-value']")
	one := page + "/X-Upstream-Token"
	s.Get(page).Says("a[href='"+one+"']", "Remove")
	s.Get(one).Shows(200, "Remove X-Upstream-Token").Says("form", "can't be recovered")
	s.Post(one+"/remove").Shows(422, "Remove X-Upstream-Token").Says("form", "Check the box")
	s.Post(one+"/remove", "confirm", "true").LeadsTo(page)
	s.Get(one).Shows(404, "Page not found")
	s.Post(one+"/remove", "confirm", "true").Shows(404, "Page not found")
	s.Get(page).Says("main", "No headers yet")
	s.Get("/projects/shop/versions/1.0.0/environments/env_1/upstream-headers").Shows(404, "Page not found")
}
