package api_test

import (
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/service/access"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestClaim_dashboard(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	made := controlplane.Call(t, s.Server.Handler(), "POST", "/proxy", "", controlplane.ShopBody)
	path := "/claim/" + made.Body["claim"].(map[string]any)["code"].(string)
	names := controlplane.Clean(s.Get(path).Shows(200, "Claim this project").Find("main ul").Text())
	if names != "shop" {
		t.Errorf("would claim %q", names)
	}
	s.Post(path, "team", "").Shows(422, "This request failed")
	chosen := s.Get(path).Find("input[name=team][checked]").AttrOr("value", "")
	s.Post(path, "team", chosen).LeadsTo("/projects") // the choice that the page opens with
	if teams := s.Get("/projects").Find("#team-menu button[name=team]").Length(); teams != 1 {
		t.Errorf("%d teams after the claim, want the account's own alone", teams)
	}
	text := controlplane.Clean(s.Get("/projects").Shows(200, "Projects").Find("main").Text())
	if !strings.Contains(text, "shop") {
		t.Errorf("the claimed project is missing: %s", text)
	}
	s.Get(path).Shows(409, "Nothing to claim")
	s.Get("/claim/nonsense").Shows(404, "Nothing to claim")
}

func TestClaim_offerAfterSignIn(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewBrowser(t, db)
	made := s.Do(
		"POST", "/proxy", controlplane.ShopBody,
		[]string{"Content-Type", "application/json", "Accept", "application/json", "Sec-Fetch-Site", "same-origin"},
	)
	if made.Status != 201 {
		t.Fatalf("%d %s", made.Status, made.Raw)
	}
	books := controlplane.Call(
		t, s.Server.Handler(), "POST", "/proxy", "",
		strings.Replace(controlplane.ShopBody, "shop", "books", 1),
	)
	if books.Header.Get("Set-Cookie") != "" {
		t.Errorf("a program got a cookie: %s", books.Header.Get("Set-Cookie"))
	}
	looked := "/claim/" + books.Body["claim"].(map[string]any)["code"].(string)
	s.Get(looked).LeadsTo("/signin?next=" + strings.ReplaceAll(looked, "/", "%2F"))
	code, err := s.Server.Accounts.FirstLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Post(
		"/welcome/"+code, "email", "ana@example.com", "name", "Ana", "password", controlplane.Password,
	).LeadsTo(
		"/projects",
	)
	offers := s.Get("/projects").Shows(200, "Projects").Says("[role=status]", "shop").Says("[role=status]", "books")
	claim := offers.Find("[role=status] a").First().AttrOr("href", "")
	s.Get(claim).Shows(200, "Claim this project").Says("main", "1 active API key keeps working")
	s.Post(claim, "team", "new").LeadsTo("/projects")
	left := controlplane.Clean(s.Get("/projects").Shows(200, "Projects").Find("[role=status]:has(a)").Text())
	if !strings.Contains(left, "books") || strings.Contains(left, "shop") {
		t.Errorf("offers after one was claimed: %s", left)
	}
}

// A token claims only where it was given the right to.
func TestClaim_token(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	o := controlplane.NewFixture(t, db)
	code := o.CreateProject(t, access.Principal{}, "").Workspace.ClaimCode
	for _, tt := range []struct {
		scope string
		want  int
	}{{"read", 403}, {"admin", 403}, {"write", 200}} {
		minted, err := o.Server.Tokens.Create(t.Context(), o.Principal, contract.TokenCreation{Body: contract.NewToken{
			Name:   tt.scope,
			Scopes: []string{tt.scope},
		}})
		if err != nil {
			t.Fatal(err)
		}
		a := controlplane.Call(t, o.Handler, "POST", "/api/v1/claim", minted.Secret.Reveal(), `{"code":"`+code+`"}`)
		if a.Status != tt.want {
			t.Errorf("%s: %d %s", tt.scope, a.Status, a.Raw)
		}
	}
}

// The account that merged a workspace can still read its earlier entries, and the page says which names changed.
func TestClaim_merge(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	made := controlplane.Call(t, s.Server.Handler(), "POST", "/proxy", "", controlplane.ShopBody)
	code := made.Body["claim"].(map[string]any)["code"].(string)
	found, err := db.Read(t.Context()).ProjectByName("shop")
	if err != nil {
		t.Fatal(err)
	}
	old, now := found.TeamID, models.Now()
	choice := s.Get("/claim/"+code).Shows(
		200, "Claim this project",
	).Find(
		"input[name=team]",
	).First().AttrOr(
		"value", "",
	)
	err = db.Write(t.Context(), func(tx *models.Tx) error {
		return tx.Insert(&models.Product{
			ID:        models.NewID("prd"),
			TeamID:    old,
			Name:      "store",
			CreatedAt: now,
			UpdatedAt: now,
		},
			&models.Product{ID: models.NewID("prd"), TeamID: choice, Name: "store", CreatedAt: now, UpdatedAt: now})
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Submit(
		"/claim/"+code, "team", choice,
	).Shows(
		200, "The projects are yours",
	).Says(
		"main li", "product store → store-2",
	)
	s.Get("/audit?project=shop").Shows(200, "Audit log").Says("main", `created the project "shop"`)
	s.Get(
		"/audit?team="+old,
	).Shows(
		200, "Audit log",
	).Says(
		"main", `created the project "shop"`,
	).Says(
		"select[name=team] option[selected]", "Workspace claimed",
	)
}
