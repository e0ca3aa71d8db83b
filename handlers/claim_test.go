package handlers_test

import (
	"strings"
	"testing"

	"postern/models"
	"postern/service/access"
	"postern/service/tokens"
	"postern/testkit/state"
)

func TestClaimingInTheDashboard(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newOwner(t, db)
		made := call(t, s.server.Handler(), "POST", "/proxy", "", shop)
		path := "/claim/" + made.body["claim"].(map[string]any)["code"].(string)
		if names := clean(s.get(path).is(200, "Claim this workspace").Find("main ul").Text()); names != "shop" {
			t.Errorf("would claim %q", names)
		}
		s.post(path, "team", "").is(422, "This request could not be answered")
		chosen := s.get(path).Find("input[name=team][checked]").AttrOr("value", "")
		s.post(path, "team", chosen).leadsTo("/projects") // the choice that the page opens with
		if teams := s.get("/projects").Find("#team-menu button[name=team]").Length(); teams != 1 {
			t.Errorf("%d teams after the claim, want the account's own alone", teams)
		}
		if text := clean(s.get("/projects").is(200, "Projects").Find("main").Text()); !strings.Contains(text, "shop") {
			t.Errorf("the claimed project is missing: %s", text)
		}
		s.get(path).is(409, "There is nothing to claim")
		s.get("/claim/nonsense").is(404, "There is nothing to claim")
	})
}

func TestSigningInOffersWhatThisBrowserMade(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newSite(t, db)
		made := s.ask("POST", "/proxy", shop, []string{"Content-Type", "application/json", "Accept", "application/json", "Sec-Fetch-Site", "same-origin"})
		if made.status != 201 {
			t.Fatalf("%d %s", made.status, made.raw)
		}
		books := call(t, s.server.Handler(), "POST", "/proxy", "", strings.Replace(shop, "shop", "books", 1))
		if books.header.Get("Set-Cookie") != "" {
			t.Errorf("a program got a cookie: %s", books.header.Get("Set-Cookie"))
		}
		looked := "/claim/" + books.body["claim"].(map[string]any)["code"].(string)
		s.get(looked).leadsTo("/signin?next=" + strings.ReplaceAll(looked, "/", "%2F"))
		code, err := s.server.Accounts.FirstLink(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.post("/welcome/"+code, "email", "ana@example.com", "name", "Ana", "password", password).leadsTo("/projects")
		offers := s.get("/projects").is(200, "Projects").says("[role=status]", "shop").says("[role=status]", "books")
		claim := offers.Find("[role=status] a").First().AttrOr("href", "")
		s.get(claim).is(200, "Claim this workspace").says("main", "1 active API key goes on working")
		s.post(claim, "team", "new").leadsTo("/projects")
		left := clean(s.get("/projects").is(200, "Projects").Find("[role=status]:has(a)").Text())
		if !strings.Contains(left, "books") || strings.Contains(left, "shop") {
			t.Errorf("offers after one was claimed: %s", left)
		}
	})
}

// A token claims only where it was given the right to.
func TestClaimingWithAToken(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db)
		code := o.create(t, access.Principal{}, "").Workspace.ClaimCode
		for _, tt := range []struct {
			scope string
			want  int
		}{{"read", 403}, {"admin", 403}, {"write", 200}} {
			minted, err := o.server.Tokens.Create(t.Context(), o.principal, tokens.New{Name: tt.scope, Scopes: []string{tt.scope}})
			if err != nil {
				t.Fatal(err)
			}
			if a := call(t, o.handler, "POST", "/api/v1/claim", minted.Plaintext, `{"code":"`+code+`"}`); a.status != tt.want {
				t.Errorf("%s: %d %s", tt.scope, a.status, a.raw)
			}
		}
	})
}

// What a workspace did before it was merged stays in reach of who merged it, and
// the page says which names changed.
func TestAMergeKeepsTheHistoryAndTellsWhatItRenamed(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newOwner(t, db)
		made := call(t, s.server.Handler(), "POST", "/proxy", "", shop)
		code := made.body["claim"].(map[string]any)["code"].(string)
		found, err := db.Read(t.Context()).ProjectByName("shop")
		if err != nil {
			t.Fatal(err)
		}
		old, now := found.TeamID, models.Now()
		choice := s.get("/claim/"+code).is(200, "Claim this workspace").Find("input[name=team]").First().AttrOr("value", "")
		err = db.Write(t.Context(), func(tx *models.Tx) error {
			return tx.Insert(&models.Product{ID: models.NewID("prd"), TeamID: old, Name: "store", CreatedAt: now, UpdatedAt: now},
				&models.Product{ID: models.NewID("prd"), TeamID: choice, Name: "store", CreatedAt: now, UpdatedAt: now})
		})
		if err != nil {
			t.Fatal(err)
		}
		s.makes("/claim/"+code, "team", choice).is(200, "It is yours now").says("main li", "product store → store-2")
		s.get("/audit?project=shop").is(200, "Audit log").says("main", "created project shop")
		s.get("/audit?team="+old).is(200, "Audit log").says("main", "created project shop").says("select[name=team] option[selected]", "Workspace claimed")
	})
}
