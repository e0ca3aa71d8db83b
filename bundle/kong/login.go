package kong

import (
	"context"
	"fmt"
	"strings"

	"postern/bundle"
	"postern/bundle/realm"
)

// keycloakImage is the version that the exported realm is tested with (testkit/servers).
const keycloakImage = "keycloak/keycloak:26.3.5@sha256:357829ec7c4693397533035092ad13b0644bcc95ded311f33a3738c4d9e9bdba"

// hasRealm reports whether people can sign in for the exported gateway: there is a realm, and a version that accepts
// its tokens.
func hasRealm(b *bundle.Build) bool { return acceptsOwnTokens(b.Project) }

// realmName returns the name of the realm, "" without one.
func realmName(b *bundle.Build) string {
	if !hasRealm(b) {
		return ""
	}
	return b.Realm(context.Background(), "").Name()
}

// realmSettings returns the lines of docker-compose.yaml that tell Kong where the realm is
// served.
func realmSettings(b *bundle.Build) string {
	if !hasRealm(b) {
		return ""
	}
	return fmt.Sprintf("\n      # Where users sign in. start.sh --with-login fills in both.\n"+
		"      %[1]s: \"${%[1]s:-}\"\n      %[2]s: \"${%[2]s:-}\"", realmIssuer, realmKeys)
}

// loginVariables lists the secrets that Keycloak needs: those of enabled providers, and those of app clients that have
// one.
func loginVariables(b *bundle.Build) []string {
	if !hasRealm(b) {
		return nil
	}
	var out []string
	for _, c := range b.Project.Clients {
		if realm.IsConfidential(c) {
			out = append(out, realm.ClientSecret(c))
		}
		for _, p := range c.Providers {
			if p.Enabled && realm.IsManaged(p) {
				out = append(out, realm.AppID(p))
			}
			if p.Enabled && realm.HasSecret(p) {
				out = append(out, realm.ProviderSecret(p))
			}
		}
	}
	return out
}

// loginSecrets lists the secrets without which start.sh --with-login doesn't start.
func loginSecrets(b *bundle.Build) []string {
	if !hasRealm(b) {
		return nil
	}
	return append([]string{adminPassword}, loginVariables(b)...)
}

// loginExample returns the end of .env.example: what people need to sign in.
func loginExample(b *bundle.Build) string {
	if !hasRealm(b) {
		return ""
	}
	text := "\n# Where users sign in: the issuer of the realm in auth/keycloak-realm.json, such as\n" +
		"# https://login.example.com/realms/" + realmName(b) + ". If it is empty, the realm's tokens are refused.\n" +
		"# start.sh --with-login starts Keycloak on this machine.\n" + realmIssuer + "=\n\n" +
		"# The URL of the realm's keys, if the gateway can't connect to the issuer's own URL.\n" + realmKeys + "=\n\n" +
		"# The first administrator of the Keycloak server that start.sh --with-login starts.\n" +
		adminName + "=admin\n" + adminPassword + "=\n"
	if names := loginVariables(b); len(names) > 0 {
		text += "\n# Secrets for that Keycloak server: a new one for each app client, and for each identity " +
			"provider,\n" +
			"# the secret of the app that callbacks.md names.\n" +
			strings.Join(names, "=\n") + "=\n"
	}
	return text
}

// The environment variables with Keycloak's first administrator.
const (
	adminName     = "LOGIN_ADMIN"
	adminPassword = "LOGIN_ADMIN_PASSWORD"
)

// loginService returns the service of docker-compose.yaml that people sign in at. Only start.sh --with-login starts it.
func loginService(b *bundle.Build) string {
	name := realmName(b)
	var out strings.Builder
	fmt.Fprintf(&out, `

  # Keycloak with the project's realm, started only by start.sh --with-login. It keeps its
  # state in the volume, and doesn't import later changes to the realm's file.
  login:
    image: "%s"
    profiles: ["login"]
    restart: "unless-stopped"
    command: ["start", "--import-realm"]
    environment:
      KC_DB: "dev-file"
      KC_HTTP_ENABLED: "true"
      KC_HOSTNAME: "${LOGIN_URL:-http://localhost:8180}"
      KC_HOSTNAME_BACKCHANNEL_DYNAMIC: "true"
      KC_HEALTH_ENABLED: "true"
      KC_BOOTSTRAP_ADMIN_USERNAME: "${LOGIN_ADMIN:-admin}"
      KC_BOOTSTRAP_ADMIN_PASSWORD: "${LOGIN_ADMIN_PASSWORD:-}"`, keycloakImage)
	for _, v := range loginVariables(b) {
		fmt.Fprintf(&out, "\n      %s: \"${%s:-}\"", v, v)
	}
	out.WriteString(`
    ports:
      - "127.0.0.1:${LOGIN_PORT:-8180}:8080"
    security_opt:
      - "no-new-privileges:true"
    volumes:
      - "login:/opt/keycloak/data/h2"`)
	mount := func(file, as string) {
		fmt.Fprintf(&out, "\n      - \"../%s:/opt/keycloak/data/import/%s-%s.json:ro,z\"", file, name, as)
	}
	mount(bundle.RealmFile, "realm")
	for n := range b.Realm(context.Background(), "").UserFiles() {
		mount(bundle.RealmUsersFile(n), fmt.Sprintf("users-%d", n))
	}
	return out.String()
}
