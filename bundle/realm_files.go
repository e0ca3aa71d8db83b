package bundle

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strings"

	"postern/bundle/realm"
	"postern/core/snapshot"
)

// RealmFile is the realm that Keycloak imports. Further files of users are named auth/keycloak-users-<number>.json.
const RealmFile = "auth/keycloak-realm.json"

// RealmUsersFile returns the name of a file of the realm's users, counted from 0.
func RealmUsersFile(n int) string { return fmt.Sprintf("auth/keycloak-users-%d.json", n) }

// CallbacksFile returns the name of the file with the callback URLs of a tenant's providers.
func CallbacksFile(tenant string) string { return tenantFolder(tenant) + "auth/callbacks.md" }

// Realm returns the data from which the realm is built.
func (b *Build) Realm(ctx context.Context, part string) realm.Source {
	source := realm.Source{
		Project: b.Project,
		Users: func(t snapshot.Tenant) iter.Seq2[*snapshot.User, error] {
			return b.UsersOf(ctx, t, part)
		},
		PerFile: realm.UsersPerFile,
	}
	for _, t := range b.Project.Tenants {
		if b.HasPeople(t) {
			source.Tenants = append(source.Tenants, t)
		}
		if b.Options.Consumers && (t.Directory == nil || !t.Directory.InviteOnly) {
			source.Joinable = append(source.Joinable, t.ID)
		}
	}
	return source
}

// GroupMapper returns the place of a provider's group mapping in the realm, and whether the realm has it.
func (b *Build) GroupMapper(provider string, mapping int) (int, bool) {
	place, found := b.mappers()[provider][mapping]
	return place, found
}

// HasRealm reports whether this export has a realm: the project has app clients.
func (b *Build) HasRealm() bool { return len(b.Project.Clients) > 0 }

// realm returns the files for Keycloak.
func (b *Build) realm() []Part {
	if !b.HasRealm() {
		return nil
	}
	parts := []Part{{Name: RealmFile, Doc: realmDoc, Write: func(ctx context.Context, w io.Writer) error {
		return b.Realm(ctx, RealmFile).WriteRealm(w)
	}}}
	users := realm.Files{}
	b.closers = append(b.closers, users.Close)
	for n := range b.Realm(context.Background(), "").UserFiles() {
		name := RealmUsersFile(n)
		parts = append(parts, Part{Name: name, Doc: realmUsersDoc, Write: func(ctx context.Context, w io.Writer) error {
			if n == 0 || users.Project == nil {
				users.Close()
				users.Source = b.Realm(ctx, name)
			}
			return users.Write(w, n)
		}})
	}
	for _, t := range b.Project.Tenants {
		if clients := clientsOf(b.Project, t.ID); hasProviders(clients) {
			parts = append(parts, b.callbacks(t, clients))
		}
	}
	return parts
}

const (
	realmDoc = "The app clients, identity providers, groups and users of the project as a realm that Keycloak " +
		"imports when it starts (`--import-realm`): copy the file to `data/import` as `<realm>-realm.json`. User " +
		"names are user IDs, which don't change. Secrets are written as `${NAME}`, which Keycloak replaces with the " +
		"value of the environment variable.\n"
	realmUsersDoc = "More users of the realm: copy the file to `data/import` as `<realm>-users-<number>.json`.\n"
	callbacksDoc  = "The callback URLs to register with each identity provider before users sign in to the " +
		"exported realm.\n"
)

func hasProviders(clients []snapshot.AppClient) bool {
	for _, c := range clients {
		if len(c.Providers) > 0 {
			return true
		}
	}
	return false
}

const callbacksHead = `# Callback URLs

An identity provider sends browsers back only to URLs that are registered for your app. Register these URLs before
users of the @TENANT@ tenant sign in to the exported realm. Replace ` + "`KEYCLOAK`" + ` with the URL of your
Keycloak, such as https://login.example.com. ` + "`start.sh --with-login`" + ` starts one at http://localhost:8180.

| App client | Provider | Callback URL | Set in Keycloak's environment |
|---|---|---|---|
`

// callbacks returns the file with the callback URLs. The names that the team
// chose are code spans, so that they cannot have Markdown in them.
func (b *Build) callbacks(t snapshot.Tenant, clients []snapshot.AppClient) Part {
	name := CallbacksFile(t.Name)
	return Part{Name: name, Doc: callbacksDoc, Write: func(_ context.Context, w io.Writer) error {
		text := strings.ReplaceAll(callbacksHead, "@TENANT@", t.Name)
		guessed := ""
		for _, c := range clients {
			for _, p := range c.Providers {
				text += fmt.Sprintf("| %s | %s | `KEYCLOAK/realms/%s/broker/%s/endpoint` | %s |\n",
					tableCode(c.Name), tableCode(p.Label()), b.Project.Name, p.ID, providerVariables(p))
				if realm.GuessesAddresses(p) {
					guessed += fmt.Sprintf("- %s of %s\n", codeSpan(p.Label()), codeSpan(c.Name))
				}
			}
		}
		if guessed != "" {
			text += "\nThe realm's URLs for these providers are guesses based on a common pattern, because their " +
				"discovery documents\nhaven't been read yet. Test the providers in Postern and export again, or " +
				"compare the URLs with each\nprovider's `/.well-known/openid-configuration` and correct them in " +
				"`auth/keycloak-realm.json`:\n\n" + guessed
		}
		_, err := io.WriteString(w, text)
		return err
	}}
}

func providerVariables(p snapshot.Provider) string {
	var names []string
	if realm.IsManaged(p) {
		names = append(names, "`"+realm.AppID(p)+"`")
	}
	if realm.HasSecret(p) {
		names = append(names, "`"+realm.ProviderSecret(p)+"`")
	}
	return strings.Join(names, ", ")
}
