// Package realm writes an exported project's people and logins as a realm that Keycloak imports at its start: a client
// per app client, an identity provider per provider, nested groups, and users with their ids, accounts at providers and
// memberships. It owns the realm's structure (keycloak.org/server/importExport; RealmRepresentation of Keycloak's Admin
// REST API) and leaves the documents that it is built from to package bundle.
//
// Keycloak replaces ${NAME} in every text of a realm by the environment variable of that name. Only secrets are such
// placeholders here; a ${ in any other text is escaped.
package realm

import (
	"bytes"
	"io"
	"iter"
	"slices"

	"postern/bundle/jsonfile"
	"postern/core/snapshot"
)

// UsersPerFile is the maximum number of users in one file: Keycloak reads each file whole.
const UsersPerFile = 50_000

// The claims that access tokens of the realm have for the exported gateway, besides sub
// (the user's id), azp and aud (the app client's id).
const (
	ClaimTenant   = "tenant"   // the id of the user's tenant
	ClaimGroups   = "groups"   // paths of groups: /<tenant>/<outer>/<inner>
	ClaimProvider = "provider" // the id of the provider that the user signed in with
)

// attribute is the name of the users' attribute with the id of their tenant.
const attribute = "postern_tenant"

// Source is the data that a realm is built from.
type Source struct {
	Project *snapshot.Project
	Tenants []snapshot.Tenant // those whose users are in the realm; each has a Directory
	// Users streams the users of a tenant in ascending order of ids.
	Users func(snapshot.Tenant) iter.Seq2[*snapshot.User, error]
	// Joinable has the IDs of the tenants that everyone who signs in joins. Other new users of the realm have no
	// tenant, and calls with their tokens are refused.
	Joinable []string
	// PerFile is UsersPerFile, except in tests.
	PerFile int64
}

// Name returns the name of the realm, which is the project's.
func (s Source) Name() string { return s.Project.Name }

// UserFiles returns how many files of users there are in addition to the realm's own, which has the users itself if one
// file is enough.
func (s Source) UserFiles() int {
	n := s.users()
	if n <= s.PerFile {
		return 0
	}
	return int((n + s.PerFile - 1) / s.PerFile)
}

func (s Source) users() int64 {
	var n int64
	for _, t := range s.Tenants {
		n += t.Directory.Users
	}
	return n
}

// WriteRealm writes the realm's own file.
func (s Source) WriteRealm(w io.Writer) error {
	out := jsonfile.NewStream(w)
	out.Raw("{\n  \"realm\": ")
	value(out, s.Name())
	out.Raw(",\n  \"displayName\": ")
	value(out, displayName(s.Project))
	out.Raw(",\n  \"enabled\": true,\n  \"sslRequired\": \"external\",\n  \"registrationAllowed\": false,\n" +
		"  \"loginWithEmailAllowed\": false,\n  \"duplicateEmailsAllowed\": true,\n" +
		"  \"editUsernameAllowed\": false,\n  \"resetPasswordAllowed\": false")
	longest := s.longestRefresh()
	out.Raw(",\n  \"ssoSessionIdleTimeout\": ")
	value(out, max(longest, sessionIdle))
	out.Raw(",\n  \"ssoSessionMaxLifespan\": ")
	value(out, max(longest, sessionMax))
	out.Raw(",\n  \"components\": ")
	value(out, s.components())
	section(out, "clientScopes", s.clientScopes())
	out.Raw(",\n  \"defaultDefaultClientScopes\": ")
	value(out, slices.Concat(alwaysScopes, keycloakScopes))
	out.Raw(",\n  \"defaultOptionalClientScopes\": ")
	value(out, optionalScopes)
	section(out, "scopeMappings", []scopeMapping{{offlineAccess, []string{offlineAccess}}})
	section(out, "clients", s.clients())
	section(out, "identityProviders", s.identityProviders())
	section(out, "identityProviderMappers", s.identityProviderMappers())
	out.Raw(",\n  \"groups\": ")
	value(out, s.groups())
	out.Raw(",\n  \"users\": ")
	out.Open("[")
	for _, machine := range s.machines() {
		out.Next("    ")
		value(out, machine)
	}
	if s.UserFiles() == 0 {
		for one, err := range s.all() {
			if err != nil {
				return err
			}
			out.Next("    ")
			value(out, one)
		}
	}
	out.Raw("\n  ]\n}\n")
	return out.Close()
}

// How many seconds users stay signed in: without a call, and at most. They are the same as at the hosted service.
const sessionIdle, sessionMax = 24 * 3600, 7 * 24 * 3600

// longestRefresh returns the longest lifetime of refresh tokens of an app client, in seconds.
// They end with the user's session at the realm, and Keycloak 26.7 refuses a realm whose
// sessions are shorter.
func (s Source) longestRefresh() int {
	longest := 0
	for _, c := range s.Project.Clients {
		if c.Settings != nil {
			longest = max(longest, int(c.Settings.RefreshFor.Seconds()))
		}
	}
	return longest
}

func section[T any](out *jsonfile.Stream, name string, list []T) {
	out.Raw(",\n  \"" + name + "\": ")
	out.Open("[")
	for _, one := range list {
		out.Next("    ")
		value(out, one)
	}
	out.Raw("\n  ]")
}

// value writes v with every ${ escaped, except that of secrets.
func value(out *jsonfile.Stream, v any) {
	text, err := jsonfile.Encode(v)
	if err != nil {
		out.Fail(err)
		return
	}
	text = bytes.ReplaceAll(text, []byte("${"), []byte(`\u0024{`))
	out.Raw(string(bytes.ReplaceAll(text, []byte(escapedBegin), []byte("${"))))
}

// placeholder is the name of an environment variable of Keycloak, whose value it stands
// for.
type placeholder string

// escapedBegin is ${ as MarshalJSON writes it. It doesn't occur in other texts: a backslash in a text is escaped, and a
// brace never is.
const escapedBegin = `\u0024\u007b`

// MarshalJSON writes the placeholder so that value can tell it from other texts.
func (p placeholder) MarshalJSON() ([]byte, error) {
	return []byte(`"` + escapedBegin + string(p) + `}"`), nil
}

func displayName(p *snapshot.Project) string {
	if p.DisplayName != "" {
		return p.DisplayName
	}
	return p.Name
}
