package kong

import (
	"context"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"postern/bundle"
	"postern/core/policy"
)

//go:embed plugin/*.lua files/*
var files embed.FS

// configDoc and probesDoc are sections of SCHEMA.md.
//
//go:embed docs/gateway.yaml.md
var configDoc string

//go:embed docs/probes.jsonl.md
var probesDoc string

const pluginFolder = "gateway/plugins/kong/plugins/postern-auth/"

// parts returns the files that a gateway runs on and those that probe it.
func parts(b *bundle.Build) ([]bundle.Part, error) {
	out := []bundle.Part{
		{Name: gatewayFile, Doc: configDoc, Write: func(ctx context.Context, w io.Writer) error {
			return writeConfig(ctx, b, w)
		}},
		{Name: probesFile, Doc: probesDoc, Write: func(ctx context.Context, w io.Writer) error {
			return writeProbes(ctx, b, w)
		}},
	}
	if variables := credentialVariables(b.Project); len(variables) > 0 || hasRealm(b) || requiresOwners(b.Project) {
		out = append(out,
			bundle.Part{Name: exampleFile, Doc: exampleDoc, Write: func(_ context.Context, w io.Writer) error {
				_, err := io.WriteString(w, variables.example()+loginExample(b)+openFGAExample(b))
				return err
			}})
	}
	fill := fillIn(b)
	for _, t := range templates {
		out = append(out, bundle.Part{Name: t.name, Doc: t.doc, Write: func(_ context.Context, w io.Writer) error {
			text, err := files.ReadFile(t.source)
			if err != nil {
				return err
			}
			_, err = fill.WriteString(w, string(text))
			return err
		}})
	}
	return out, nil
}

// templates are the files that are the same in every export, except for their marks.
var templates = []struct{ name, source, doc string }{
	{pluginFolder + "handler.lua", "plugin/handler.lua", "The plugin that checks keys, as readable Lua. Start here " +
		"to see how calls are processed.\n"},
	{pluginFolder + "keys.lua", "plugin/keys.lua", "The part of the plugin that looks up keys.\n"},
	{pluginFolder + "bodies.lua", "plugin/bodies.lua", "The part of the plugin that checks request bodies.\n"},
	{pluginFolder + "tokens.lua", "plugin/tokens.lua", "The part of the plugin that accepts tokens.\n"},
	{pluginFolder + "own.lua", "plugin/own.lua",
		"The part of the plugin that accepts tokens from the project's app clients.\n"},
	{pluginFolder + "realm.lua", "plugin/realm.lua",
		"The part of the plugin that accepts tokens from the exported realm.\n"},
	{pluginFolder + "introspection.lua", "plugin/introspection.lua",
		"The part of the plugin that asks an introspection endpoint about opaque tokens.\n"},
	{pluginFolder + "jwt.lua", "plugin/jwt.lua", "The part of the plugin that reads JSON Web Tokens.\n"},
	{pluginFolder + "jwks.lua", "plugin/jwks.lua", "The part of the plugin that verifies token signatures.\n"},
	{pluginFolder + "issuers.lua", "plugin/issuers.lua",
		"The part of the plugin that fetches the keys of token issuers.\n"},
	{pluginFolder + "fetch.lua", "plugin/fetch.lua", "The part of the plugin that calls other servers.\n"},
	{pluginFolder + "json.lua", "plugin/json.lua", "The part of the plugin that reads JSON.\n"},
	{pluginFolder + "answers.lua", "plugin/answers.lua", "The plugin's responses to calls that it refuses.\n"},
	{pluginFolder + "places.lua", "plugin/places.lua", "The part of the plugin that finds keys in calls.\n"},
	{pluginFolder + "headers.lua", "plugin/headers.lua",
		"The part of the plugin that decides which headers callers can't set.\n"},
	{pluginFolder + "paths.lua", "plugin/paths.lua",
		"The part of the plugin that checks how upstreams might read a path.\n"},
	{pluginFolder + "transforms.lua", "plugin/transforms.lua",
		"The part of the plugin that changes headers and queries.\n"},
	{pluginFolder + "rules.lua", "plugin/rules.lua",
		"The part of the plugin that checks the scopes, groups and owners that routes require.\n"},
	{pluginFolder + "templates.lua", "plugin/templates.lua",
		"The part of the plugin that finds the rule for the path of a call.\n"},
	{pluginFolder + "objects.lua", "plugin/objects.lua",
		"The part of the plugin that names the objects in rules.\n"},
	{pluginFolder + "openfga.lua", "plugin/openfga.lua",
		"The part of the plugin that asks OpenFGA who owns an object.\n"},
	{pluginFolder + "ownership.lua", "plugin/ownership.lua",
		"The part of the plugin that records owners from responses.\n"},
	{pluginFolder + "queue.lua", "plugin/queue.lua",
		"The part of the plugin that limits how many calls wait for a server.\n"},
	{pluginFolder + "limits.lua", "plugin/limits.lua", "The part of the plugin that counts calls.\n"},
	{pluginFolder + "addresses.lua", "plugin/addresses.lua", "The part of the plugin that compares addresses.\n"},
	{pluginFolder + "upstream.lua", "plugin/upstream.lua",
		"The part of the plugin that reads the secrets for calls to upstreams.\n"},
	{pluginFolder + "signature.lua", "plugin/signature.lua", "The part of the plugin that signs calls to upstreams.\n"},
	{pluginFolder + "schema.lua", "plugin/schema.lua", "The schema of the plugin's configuration.\n"},
	{"gateway/docker-compose.yaml", "files/docker-compose.yaml", "Runs Kong with the files in this folder.\n"},
	{"gateway/start.sh", "files/start.sh", "Starts the gateway, waits until it is ready, calls each upstream once, " +
		"and checks that keys are required. `./start.sh --help` lists its options.\n"},
	{"gateway/add-key.sh", "files/add-key.sh", "Creates an API key: adds its SHA-256 to `gateway.yaml`, and to the " +
		"gateway if it is running. `./add-key.sh --help` lists its options.\n"},
	{"gateway/README.md", "files/README.md", "How to run the gateway.\n"},
	{"verify/verify.sh", "files/verify.sh", "Sends the calls in `probes.jsonl` to a gateway with curl and prints the " +
		"differences. `./verify.sh --help` lists its options.\n"},
}

// fillIn replaces the @NAME@ marks in the files.
func fillIn(b *bundle.Build) *strings.Replacer {
	var pairs []string
	for name, value := range marks(b) {
		pairs = append(pairs, "@"+name+"@", value)
	}
	return strings.NewReplacer(pairs...)
}

// marks returns the values of the marks in the files. They are paths, IDs and keys that bundle has checked to be plain
// or that are generated, never user text.
func marks(b *bundle.Build) map[string]string {
	keyed, open := pathsByKey(b)
	example, variables := "/", credentialVariables(b.Project)
	if all := append(append([]string{}, keyed...), open...); len(all) > 0 {
		example = all[0]
	}
	return map[string]string{
		"PROJECT":         b.Project.Name,
		"PROJECT_ID":      b.Project.ID,
		"NAMESPACE":       octal(policy.ConsumerNamespace),
		"KEY_PREFIX":      policy.DefaultKeyPrefix,
		"COMPOSE_PROJECT": "postern-" + policy.EntityID(b.Project.ID)[:8],
		"KEY_PATHS":       strings.Join(keyed, " "),
		"OPEN_PATHS":      strings.Join(open, " "),
		"TOKEN_PATHS":     strings.Join(tokenPaths(b), " "),
		"ENVIRONMENTS":    strings.Join(environmentPaths(b), " "),
		"EXAMPLE":         example,
		"EXAMPLE_CALL":    exampleCall(b, example),
		"KEY_PLACES":      keyPlacesMark(b),
		"UNKNOWN_KEY":     b.UnknownKey(""),
		"CREDENTIALS":     strings.Join(variables.names(), " "),
		"PASSED_ON":       variables.passedOn(),
		"REALM":           realmName(b),
		"REALM_SETTINGS":  realmSettings(b) + openFGASettings(b),
		"OPTIONAL":        optionalServices(b),
		"AUTHZ":           authzMark(b),
		"BODY_SETTINGS":   bodySettings(b.Project),
		"KEEPALIVE":       keepalive(b.Project),
		"LISTEN":          proxyListen(b.Project),
		"LOGIN_SECRETS":   strings.Join(loginSecrets(b), " "),
	}
}

// octal returns the bytes of a UUID as escapes of printf(1).
func octal(id string) string {
	raw, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	if err != nil {
		panic(err) // it is a constant
	}
	var out strings.Builder
	for _, b := range raw {
		fmt.Fprintf(&out, `\%03o`, b)
	}
	return out.String()
}
