package oidc_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"postern/core/contract"
	"postern/migrations"
	"postern/models"
	"postern/service/login"
	"postern/testkit/controlplane"
	"postern/testkit/idp"
	"postern/testkit/state"
)

// everyRow is the content of all tables as text.
func everyRow(t *testing.T, db *models.DB) string {
	t.Helper()
	query := "SELECT name FROM sqlite_master WHERE type = 'table'"
	if db.Dialect() == migrations.Postgres {
		query = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
	}
	var out strings.Builder
	for _, table := range columnOf(t, db, query) {
		found, err := db.SQL().QueryContext(t.Context(), `SELECT * FROM "`+table+`"`)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := found.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for found.Next() {
			cells, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range cells {
				into[i] = &cells[i]
			}
			if err := found.Scan(into...); err != nil {
				t.Fatal(err)
			}
			for i, cell := range cells {
				fmt.Fprintf(&out, "%s.%s=%s\n", table, columns[i], cell)
			}
		}
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
		_ = found.Close()
	}
	return out.String()
}

func columnOf(t *testing.T, db *models.DB, query string) []string {
	t.Helper()
	found, err := db.SQL().QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	var list []string
	for found.Next() {
		var one string
		if err := found.Scan(&one); err != nil {
			t.Fatal(err)
		}
		list = append(list, one)
	}
	return list
}

var signatures = []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.EdDSA}

// The provider's tokens and its client secret are in no table, log or page, whatever the client and the upstream get,
// and even if something fails.
func TestProviderTokens_notStored(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newLoginApp(t, db, contract.AppClientSettings{})
		book := &controlplane.LogBuffer{}
		log := slog.New(slog.NewTextHandler(book, &slog.HandlerOptions{Level: slog.LevelDebug}))
		s.server.Log, s.server.Login.Log, s.server.AppClients.Log = log, log, log
		for _, types := range []contract.NewTokenType{
			{Client: contract.ServiceToken, Upstream: contract.ServiceToken},
			{Client: contract.ServiceToken, Upstream: contract.NoToken},
			{Client: contract.ServiceToken, Upstream: contract.ProviderAccessToken},
			{Client: contract.ServiceToken, Upstream: contract.ProviderIDToken},
			{Client: contract.ProviderToken, Upstream: contract.ProviderAccessToken},
			{Client: contract.ProviderToken, Upstream: contract.ProviderIDToken},
			{Client: contract.ProviderToken, Upstream: contract.NoToken},
		} {
			fake, provider := s.offerFake(types)
			idToken := ""
			fake.Sign = func(claims map[string]any) string { idToken = fake.Signed(claims); return idToken }
			r, back := s.signIn(fake, provider, "openid profile email offline_access")
			got := s.exchange(r, back)
			s.checkHandedOn(t, types, fake, idToken, got)

			fake.Claims = func(claims map[string]any) { claims["nonce"] = "wrong" } // and where it fails
			browser := s.browser()
			page := s.get(
				browser,
				fake.Authorize(t, s.toProvider(browser, s.request("openid"), provider.ID).String()).String(),
			)
			if page.status != http.StatusForbidden {
				t.Errorf("%v: a lie is answered with %d", types, page.status)
			}
			rows := everyRow(t, db)
			if !strings.Contains(rows, provider.ID) {
				t.Fatal("the tables were not read")
			}
			for place, text := range map[string]string{
				"a table":          rows,
				"the log":          book.String(),
				"a page":           page.raw,
				"the address back": back.String(),
			} {
				for what, canary := range map[string]string{
					"access token":  fake.Access,
					"ID token":      idToken,
					"refresh token": "canary-refresh",
					"client secret": idp.ClientSecret,
				} {
					if strings.Contains(text, canary) || strings.Contains(text, url.QueryEscape(canary)) {
						t.Errorf("%v: the provider's %s is in %s", types, what, place)
					}
				}
			}
			// Two issuers of which browsers get opaque tokens could not be told apart.
			if _, err := s.server.AppClients.DeleteProvider(t.Context(), s.owner, provider.Path()); err != nil {
				t.Fatal(err)
			}
		}
		if !strings.Contains(book.String(), "a login failed") {
			t.Error("the log was not read")
		}
	})
}

// checkHandedOn holds what the client got to the token types.
func (s *app) checkHandedOn(
	t *testing.T, types contract.NewTokenType, fake *idp.Fake, idToken string, got got,
) {
	t.Helper()
	if got.status != http.StatusOK {
		t.Fatalf("%v: %+v", types, got)
	}
	if types.Client == contract.ProviderToken {
		want := fake.Access
		if types.Upstream == contract.ProviderIDToken {
			want = idToken
		}
		if got.Access != want || got.Refresh != "" || got.Expires < 3000 || got.Expires > 3600 {
			t.Errorf("%v: the client gets %+v", types, got)
		}
		return
	}
	parsed, err := jwt.ParseSigned(got.Access, signatures)
	var claims login.AccessClaims
	if err != nil || parsed.UnsafeClaimsWithoutVerification(&claims) != nil {
		t.Fatalf("%v: the access token is not a JWT: %v", types, err)
	}
	want := map[string]string{
		contract.ProviderAccessToken: fake.Access, contract.ProviderIDToken: idToken,
	}[types.Upstream]
	if claims.Upstream != types.Upstream || (claims.Sealed != "") != (want != "") ||
		(got.Refresh != "") != (want == "") {
		t.Errorf("%v: the upstream gets another token, or it can be refreshed: %+v", types, claims)
	}
	if want == "" {
		return
	}
	if strings.Contains(got.Access, want) {
		t.Errorf("%v: the token for the upstream is not sealed", types)
	}
	for range 2 { // the second time with the data key that was kept
		if upstream, err := s.server.Login.UpstreamToken(t.Context(), claims.ID, claims.Sealed); err != nil ||
			upstream.Reveal() != want {
			t.Errorf("%v: the upstream gets another token: %v", types, err)
		}
	}
	if _, err := s.server.Login.UpstreamToken(t.Context(), "jti_other", claims.Sealed); err == nil {
		t.Errorf("%v: it opens in another token", types)
	}
}
