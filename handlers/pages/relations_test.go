package pages_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
	"postern/views/ui"
)

const relationsPage = "/projects/shop/relations"

func TestRelations_page(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := newLoginTab(t, db)
		s.Get("/projects/shop/versions/1.0.0/rules").Says("main a[href='"+relationsPage+"']", "Object owners")
		s.Get(relationsPage).Shows(200, "Object owners").Says("main", "No owners yet").
			Says("summary.btn-primary", "Add an owner").
			Says("#fill-with", "/api/v1"+relationsPage)
		s.Post(relationsPage, "object", "42", "user", " ").
			Shows(422, "Object owners").
			Holds("object", "42").
			Says("#relation-object-error", "such as order:42").
			Says("#relation-user-error", "Use the ID of a user")
		s.Post(relationsPage, "object", "order:a%2fb", "user", "billing-service").LeadsTo(relationsPage)
		s.Get(relationsPage).Says("[data-flash]", "billing-service now owns order:a%2fb").Says("tbody", "order:a%2Fb")
		s.Post(relationsPage, "object", "order:a%2Fb", "user", "billing-service").LeadsTo(relationsPage)
		s.Get(relationsPage).Says("[data-flash]", "billing-service already owns order:a%2Fb")
		user := models.NewID("usr")
		s.Post(relationsPage, "object", "order:2", "user", user).LeadsTo(relationsPage)
		s.Get(relationsPage).Says("tbody a[href='/users/"+user+"']", user)
		lacks(t, s.Get(relationsPage+"?object=order:2").Says("tbody", "order:2"), "billing-service")
		lacks(t, s.Get(relationsPage+"?user=billing-service").Says("tbody", "order:a%2Fb"), user)
		s.Get(relationsPage+"?user=unknown").Says("main", "No owners found").Says("main a.btn", "Show all owners")
		s.Get(relationsPage+"?q=BILLING&sort=created").
			Says("tbody", "order:a%2Fb").
			Says("th[aria-sort=descending]", "Recorded").
			Says("#list-found", "1 owner")
		s.Get(relationsPage+"?q=nothing").Says("main", "No results for “nothing”")
		s.Get(relationsPage+"?user=billing-service&sort=user").
			Says(".chips a[href='"+relationsPage+"?sort=user']", "Owner: billing-service")
		s.Get(relationsPage+"?object=42").Shows(200, "Object owners").Says("#relations", "such as order:42")

		forget := s.Get(relationsPage+"?object=order:a%252Fb").Find("tbody a.btn").AttrOr("href", "")
		s.Get(forget).Shows(200, "Remove the owner of order:a%2Fb").Says("dl", "billing-service")
		fields := []string{"tenant", "default", "object", "order:a%2Fb", "user", "billing-service"}
		s.Post(relationsPage+"/forget", fields...).
			Shows(422, "Remove the owner of order:a%2Fb").
			Says("main", "Check the box")
		s.Post(relationsPage+"/forget", append(fields, "confirm", "true")...).LeadsTo(relationsPage)
		lacks(t, s.Get(relationsPage).Says("[data-flash]", "no longer owns order:a%2Fb"), "billing-service")
		s.Get(forget).Shows(200, "Remove the owner of order:a%2Fb").Says("main", "doesn't exist")
		s.Get(relationsPage+"/forget?object=x").Shows(404, "Page not found")
		s.Get("/audit").Says("main", "relations")
	})
}

func lacks(t *testing.T, p *controlplane.Page, text string) {
	t.Helper()
	if strings.Contains(p.Find("tbody").Text(), text) {
		t.Errorf("the list has %s", text)
	}
}

func TestRelations_pages(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := newLoginTab(t, db)
		var lines strings.Builder
		for n := range models.DefaultLimit + 3 {
			fmt.Fprintf(&lines, "{\"user\": \"ana\", \"object\": \"order:%03d\"}\n", n)
		}
		sendRelations(t, s, lines.String()).LeadsTo(relationsPage)
		first := s.Get(relationsPage).Says("[data-flash]", "Added the owners in the file")
		more := first.Find("main a.btn:contains('More owners')").AttrOr("href", "")
		second := s.Get(more)
		n, m := first.Find("tbody tr").Length(), second.Find("tbody tr").Length()
		if n != models.DefaultLimit || m != 3 {
			t.Errorf("%d and %d owners on two pages", n, m)
		}
	})
}

func TestRelations_import(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := newLoginTab(t, db)
	const one, two = `{"user": "ana", "object": "order:1"}`, `{"user": "bob", "object": "order:2"}`
	sendRelations(t, s, one+"\n"+two+"\n").LeadsTo(relationsPage)
	sendRelations(t, s, "["+one+"]").LeadsTo(relationsPage)
	s.Get(relationsPage).Says("[data-flash]", "All owners in the file already exist").Says("tbody", "bob")
	sendRelations(t, s, one+"\n"+`{"user": "ana", "object": "3"}`).
		Shows(422, "Object owners").
		Says("form[enctype] [role=alert]", "Owner 2 in the file: Use a type, a colon and an ID, such as order:42.")
	sendRelations(t, s, one+"\n{").Shows(422, "Object owners").Says("form[enctype] [role=alert]", "relation 2")
	sendRelations(t, s, "").Shows(422, "Object owners").Says("form[enctype] [role=alert]", "at least one")
	s.Post(relationsPage+"/import", "file", "x").Shows(422, "Object owners").
		Says("form[enctype] [role=alert]", "Choose a file")
	const three = `{"user": "eve", "object": "order:3"}`
	sendRelations(t, s, three, "tenant", "acme").Shows(422, "Object owners").
		Says("form[enctype] [role=alert]", "extra fields after the file")
	lacks(t, s.Get(relationsPage), "eve")
	sendRelations(t, s, strings.Repeat(one+"\n", 180_000)).Shows(422, "Object owners").
		Says("form[enctype] [role=alert]", "larger than 5 MB")
}

func TestRelations_missed(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := newLoginTab(t, db)
		const rulesPage = "/projects/shop/versions/1.0.0/rules"
		s.Post(rulesPage, "revision", s.Get(rulesPage).Find("[name=revision]").AttrOr("value", ""), "default", "allow",
			"rules_mode", "enforce", "rules", "POST /orders remember=order:{response.id}").LeadsTo(rulesPage)
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			p, err := tx.ProjectByName("shop")
			if err != nil {
				return err
			}
			versions, err := tx.VersionsOf(p.ID)
			if err != nil {
				return err
			}
			miss := models.RelationMiss{
				ProjectID: p.ID, VersionID: versions[0].ID, Rule: versions[0].Rules.List[0].ID, Reason: "no_value",
				Day: time.Now().Unix() / 86400, Calls: 12, LastAt: models.Now(),
			}
			gone := miss
			gone.Rule, gone.Reason, gone.Calls = "rul_gone", "too_large", 1
			return tx.AddRelationMisses([]models.RelationMiss{miss, gone})
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Get(relationsPage).
			Says("#missed tbody", "POST /orders").
			Says("#missed tbody", "12 responses").
			Says("#missed tbody", "the body doesn't contain the member").
			Says("#missed tbody", "Removed rule").
			Says("#missed tbody", "over 1 MB")
	})
}

// A form that is sent twice, by a double click or from two tabs, adds one owner.
func TestRelations_formSentTwice(t *testing.T) {
	t.Parallel()
	s, _ := newLoginTab(t, state.OpenSQLite(t))
	form := []string{"object", "order:1", "user", "ana", ui.NonceField, s.Get(relationsPage).Nonce(relationsPage)}
	s.Post(relationsPage, form...).LeadsTo(relationsPage)
	s.Post(relationsPage, form...).LeadsTo(relationsPage)
	s.Get(relationsPage).Says("[data-flash]", "ana now owns order:1")
}

// sendRelations sends the form with a file, and more fields behind it.
func sendRelations(t *testing.T, s *controlplane.Browser, text string, more ...string) *controlplane.Page {
	t.Helper()
	var out bytes.Buffer
	form := multipart.NewWriter(&out)
	file, err := form.CreateFormFile("file", "relations.jsonl")
	must(t, err)
	_, err = file.Write([]byte(text))
	must(t, err)
	for field := range slices.Chunk(more, 2) {
		must(t, form.WriteField(field[0], field[1]))
	}
	must(t, form.Close())
	header := []string{"Content-Type", form.FormDataContentType()}
	return s.Do(http.MethodPost, relationsPage+"/import", out.String(), header)
}
