package imports_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/service/login/providers"
)

// people gives a tenant app clients, groups, a sign-up policy and users.
func (m *maker) people(to *made, t *snapshot.Tenant) {
	d := &snapshot.Directory{InviteOnly: m.maybe()}
	t.Directory = d
	for i := range m.IntN(5) {
		d.Groups = append(d.Groups, snapshot.Group{
			ID:          m.id("grp"),
			Name:        fmt.Sprintf("group.%d", i),
			DisplayName: m.text(),
			ExternalID:  m.pick("", "ext-1"),
			CreatedAt:   m.moment(),
			UpdatedAt:   m.moment(),
		})
	}
	for i := range d.Groups {
		for _, owner := range []string{"a/b app?", "billing-service"} {
			if m.maybe() {
				d.Groups[i].Owners = append(d.Groups[i].Owners, snapshot.GroupOwner{
					Owner: owner, Role: m.pick("member", "admin"), CreatedAt: m.moment(),
				})
			}
		}
	}
	for i := 1; i < len(d.Groups); i++ { // in groups before it, which makes no cycle
		for j := range i {
			if m.maybe() {
				d.Groups[i].Parents = append(d.Groups[i].Parents, d.Groups[j].ID)
			}
		}
	}
	for i := range m.IntN(3) {
		a := snapshot.Approval{
			ID:        m.id("apv"),
			Kind:      "domain",
			Value:     fmt.Sprintf("d%d.example.com", i),
			CreatedAt: m.moment(),
		}
		if len(d.Groups) > 0 && m.maybe() {
			a.Groups = []string{d.Groups[0].ID}
		}
		d.Approvals = append(d.Approvals, a)
	}
	first := len(to.project.Clients)
	for i := range m.IntN(3) {
		to.project.Clients = append(to.project.Clients, m.client(to.project, *t, i))
	}
	for range m.IntN(12) {
		to.users[t.ID] = append(to.users[t.ID], m.user(to.project.Clients[first:], d))
	}
	d.Users = int64(len(to.users[t.ID]))
	for _, u := range to.users[t.ID] {
		d.Consents += int64(len(u.Consents))
	}
}

// relations makes owners of every kind: users, app clients, owners of keys and users of other issuers.
func (m *maker) relations(to *made) {
	if m.maybe() {
		return
	}
	for _, t := range to.project.Tenants {
		owners := []string{"billing-service", " sub (https://idp0.example)", m.id("usr")}
		for _, u := range to.users[t.ID] {
			owners = append(owners, u.ID)
		}
		for _, c := range to.project.Clients {
			if c.TenantID == t.ID {
				owners = append(owners, c.ID)
			}
		}
		for range m.IntN(20) {
			to.relations = append(to.relations, snapshot.Relation{
				TenantID: t.ID,
				Tenant:   t.Name,
				User:     owners[m.IntN(len(owners))],
				Relation: policy.OwnerRelation,
				Object: fmt.Sprintf("%s:%s%d", m.pick("order", "a_b", "z-9"),
					m.pick("", "A/", "a%2F", "%C3%BC"), m.IntN(9)),
			})
		}
	}
	key := func(r snapshot.Relation) string {
		return strings.Join([]string{r.TenantID, r.Object, r.Relation, r.User}, "\x00")
	}
	slices.SortFunc(to.relations, func(a, b snapshot.Relation) int { return strings.Compare(key(a), key(b)) })
	to.relations = slices.Compact(to.relations)
}

func (m *maker) client(p *snapshot.Project, t snapshot.Tenant, n int) snapshot.AppClient {
	s := &snapshot.ClientSettings{
		RedirectURIs: []string{"https://app.example/cb", "com.example.app:/cb"}[:m.IntN(3)],
		LogoutURIs:   []string{"https://app.example/"}[:m.IntN(2)],
		GrantTypes:   []string{"authorization_code", "refresh_token"},
		AccessFor:    time.Duration(60+m.IntN(1000)) * time.Second,
		RefreshFor:   time.Duration(m.IntN(1000)) * time.Second,
		Algorithm:    m.pick("RS256", "ES256", "EdDSA"),
		PKCE:         "required",
		CreatedAt:    m.moment(),
		Branding: contract.Branding{
			Title:   m.text(),
			Welcome: m.text(),
			LogoURL: m.pick("", "https://app.example/logo.png"),
			Color:   m.pick("", "#00ff7f"),
		},

		BackchannelLogoutURI: m.pick("", "https://app.example/logout"),
	}
	for _, scope := range p.API.Scopes {
		s.APIScopes = append(s.APIScopes, scope.Name)
	}
	if m.maybe() {
		hash := m.hash()
		s.SecretHash = hash[:]
		s.PKCE = m.pick("required", "when_sent")
		s.GrantTypes = append(s.GrantTypes, snapshot.ClientCredentials)
	}
	c := snapshot.AppClient{ID: m.id("cli"), Name: m.name("web", n), TenantID: t.ID, Settings: s}
	c.Issuer = snapshot.IssuerOf(oldServer, c.ID)
	c.Machine = slices.Contains(s.GrantTypes, snapshot.ClientCredentials)
	c.Frozen = m.maybe()
	if m.maybe() {
		kid := m.id("sig")
		jwk := `{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"` + kid + `"}`
		c.Keys = []snapshot.SigningKey{{ID: kid, Algorithm: "EdDSA", JWK: jwk}}
	}
	for i := range m.IntN(4) {
		c.Providers = append(c.Providers, m.provider(i, t.Directory))
	}
	slices.SortStableFunc(c.Providers, func(a, b snapshot.Provider) int {
		return a.Settings.CreatedAt.Compare(b.Settings.CreatedAt)
	})
	return c
}

func (m *maker) provider(n int, d *snapshot.Directory) snapshot.Provider {
	kind := m.pick("github", "google", "oidc", "facebook")
	traits, _ := providers.TraitsOf(kind)
	p := snapshot.Provider{
		ID:            m.id("idp"),
		Type:          kind,
		ClientID:      fmt.Sprintf("app %d", n),
		Enabled:       m.maybe(),
		ClientToken:   snapshot.ServiceToken,
		UpstreamToken: snapshot.ServiceToken,
		Settings: &snapshot.ProviderSettings{
			HasSecret:     traits.NeedsSecret || m.maybe(),
			Scopes:        traits.Scopes,
			Label:         strings.TrimSpace(m.text()),
			SignInDomains: []string{fmt.Sprintf("mail%d.example", n)}[:m.IntN(2)],
			CreatedAt:     m.moment(),
		},
	}
	switch {
	case kind == "oidc":
		p.Issuer = fmt.Sprintf("https://idp%d.example/realms/a", n)
		p.Settings.AuthoritativeDomains = []string{"example.com"}[:m.IntN(2)]
		p.Settings.ResponseMode = m.pick("query", "form_post")
		if m.maybe() {
			at := "https://idp.example/" + m.id("at")
			p.Settings.Endpoints = &snapshot.ProviderEndpoints{
				Authorization: at, Token: at + "/t", JWKS: at + "/k",
				UserInfo: m.pick("", at+"/u"), EndSession: m.pick("", at),
			}
		}
	case kind == "github" && m.maybe():
		p.ClientID, p.Settings.Managed, p.Settings.HasSecret = "", true, false
	}
	if kind == "oidc" && len(d.Groups) > 0 {
		p.Settings.Mappings = []snapshot.GroupMapping{{
			Claim: "groups", Value: "/" + m.pick("sales", "ops"), Match: m.pick("exact", "prefix"),
			Group: d.Groups[0].Name,
		}}
	}
	return p
}

func (m *maker) user(clients []snapshot.AppClient, d *snapshot.Directory) snapshot.User {
	u := snapshot.User{
		ID:            m.id("usr"),
		Email:         m.pick("", "ana@example.com", "same@example.com"),
		EmailVerified: m.maybe(),
		Profile:       m.pick("", `{"given_name":"Ana"}`, `{"nickname":"a\\u003cb","updated_at":1700000000}`),
		Name:          m.text(),
		State:         m.pick("active", "frozen", "invited"),
		CreatedAt:     m.moment(),
		UpdatedAt:     m.moment(), // long ago: what is left of BarredUsers is those who own keys
	}
	if m.maybe() {
		u.UserName, u.ExternalID = strings.ToLower(u.ID), "ext "+u.ID
	}
	for i, c := range clients {
		if m.maybe() {
			u.Consents = append(u.Consents, snapshot.Consent{
				ClientID: c.ID, Scope: "openid email", CreatedAt: m.moment(), UpdatedAt: m.moment(),
			})
		}
		for _, p := range c.Providers {
			u.Identities = append(u.Identities, snapshot.Identity{
				Issuer:     p.Type + ":" + p.Issuer,
				Subject:    fmt.Sprintf("%s %d", u.ID, i),
				ProviderID: p.ID,
				CreatedAt:  m.moment(),
			})
		}
	}
	slices.SortFunc(u.Identities, func(a, b snapshot.Identity) int {
		return strings.Compare(a.Issuer+"\x00"+a.Subject, b.Issuer+"\x00"+b.Subject)
	})
	u.Identities = slices.CompactFunc(u.Identities, func(a, b snapshot.Identity) bool {
		return a.Issuer == b.Issuer && a.Subject == b.Subject
	})
	for i, g := range d.Groups {
		if m.maybe() {
			u.Memberships = append(u.Memberships, snapshot.Membership{
				GroupID: g.ID, Role: m.pick("member", "admin"), Mapped: i == 0 && m.maybe(), CreatedAt: m.moment(),
			})
		}
	}
	return u
}
