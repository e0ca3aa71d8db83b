package projects

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/credentials"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

type createFlags struct {
	proxy        contract.NewProxy
	openapi      string
	environments []string
	keyTypes     []string
	issuers      []string
	auth         contract.NewRequestsAuth
	keyPlaces    []string
	sendMetadata bool
	requireKey   bool

	upstream    contract.Upstream // of all environments
	hasUpstream bool              // a flag of it was given

	endpoint, endpointSecret string // of --introspection
	login                    hostedLogin
	json                     bool
}

// NewCreate returns the command that puts a proxy in front of an API, with an account or without one.
func NewCreate(t terminal.Terminal) *cobra.Command {
	var f createFlags
	var readUpstream func() (bool, error)
	command := &cobra.Command{
		Use:   "create [URL]",
		Short: "Put a proxy in front of an API",
		Long: `Put a proxy in front of an API. You don't need an account. Without one, the proxy gets
its own workspace. The workspace key and claim code are stored in your configuration
directory, where other commands find them. To choose another directory, set
POSTERN_CONFIG_DIR.

If you are signed in, the proxy is created in your first team unless you set --team. If
POSTERN_TOKEN is set, the proxy is created in that token's team or workspace. If the
server requires a token from callers without an account, set POSTERN_ANONYMOUS_TOKEN.

Upstream settings, such as --retries, apply to all environments. For several targets,
use --weighted-target instead of URL.`,
		Example: `  postern create https://api.example.com --require-key
  postern create --name shop --environment prod=https://api.example.com --environment dev=https://dev.example.com
  postern create --name shop --weighted-target https://a.example.com=3 --weighted-target https://b.example.com`,
		Args: terminal.AtMost("URL"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := terminal.SameAs(c, "/target", &f.proxy.Target, "--target", args); err != nil {
				return err
			}
			var err error
			if f.hasUpstream, err = readUpstream(); err != nil {
				return err
			}
			in, err := f.input(t)
			if err != nil {
				return err
			}
			for name := range in.Environments {
				cli.NameMembers(c, &f.upstream, "/environments/"+name+"/upstream")
			}
			if in.Login, err = f.login.input(t); err != nil {
				return err
			}
			s, err := cli.OpenSession(t, c)
			if err != nil {
				return err
			}
			return create(c.Context(), t, s, in, f.json)
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	terminal.Described(command, [2]string{"URL", "http or https URL that calls are forwarded to. The same as --target"})
	flags.StringVar(&f.proxy.Target, "target", "", "http or https URL that calls are forwarded to. The same as URL")
	flags.StringVar(&f.openapi, "openapi", "", "file or URL of an OpenAPI document. Its servers become "+
		"environments")
	flags.StringVar(&f.proxy.Name, "name", "", "name in the gateway URL. Defaults to a name based on the target's host")
	flags.StringVar(&f.proxy.DisplayName, "display-name", "", "display name")
	flags.StringVar(&f.proxy.Product, "product", "", "name of the project's product, created if it doesn't exist")
	flags.StringVar(&f.proxy.Tenant, "tenant", "", "name of an additional tenant to serve, created if it doesn't exist")
	flags.StringVar(&f.proxy.Version, "version", "", "name of the version in the gateway URL. Defaults to 1.0.0")
	cli.TeamFlag(t, command, &f.proxy.Team)
	flags.StringArrayVar(
		&f.environments, "environment", nil, "environment, as `NAME=URL`. Defaults to prod=TARGET (repeatable)",
	)
	flags.BoolVar(&f.requireKey, "require-key", false, "require an API key or a token from --login. The same as "+
		"--auth authenticate")
	flags.StringVar(&f.auth.Mode, "auth", "", "passthrough forwards calls with or without a credential; authenticate "+
		"requires a credential. Defaults to passthrough, or, with --login, to authenticate")
	flags.StringSliceVar(&f.auth.Methods, "methods", nil, "accepted credentials: api_key, jwt or opaque. Defaults "+
		"to api_key. With --login, defaults to jwt, or to api_key and jwt if you also use a flag for keys, such as "+
		"--require-key")
	flags.StringArrayVar(&f.issuers, "token-issuer", nil, tokenIssuerHelp+" (repeatable)")
	flags.StringVar(&f.endpoint, "introspection", "", introspectionHelp)
	flags.StringVar(&f.endpointSecret, "introspection-secret-file", "", introspectionSecretHelp)
	flags.StringVar(&f.auth.Keyless, "keyless", "", "how calls without a key are handled: reject refuses them; "+
		"owner_fallback assigns them to the fallback owner. Defaults to reject")
	flags.StringArrayVar(&f.keyPlaces, "key-in", nil, "where callers send their keys: header=NAME, \"header=NAME "+
		"prefix=Bearer\", query=NAME, cookie=NAME or websocket_protocol. Defaults to header=X-API-Key (repeatable)")
	flags.BoolVar(&f.sendMetadata, "send-key-metadata", false, "send the key's metadata to the upstream as "+
		"X-Consumer-Metadata")
	flags.StringArrayVar(&f.keyTypes, "key-type", nil, "additional key type, as `NAME=SCOPE,SCOPE` (repeatable)")
	flags.StringArrayVar(&f.login.providers, "login", nil, "identity provider, as "+
		"TYPE=CLIENT-ID,SECRET-VARIABLE@ISSUER or github=managed. SECRET-VARIABLE is the environment variable that "+
		"contains the client secret (repeatable)")
	flags.StringArrayVar(&f.login.redirects, "redirect-uri", nil, "redirect URI of the application that users sign "+
		"in to (repeatable)")
	readUpstream = cli.MemberFlags(t, command, &f.upstream)
	flags.BoolVar(&f.json, "json", false, "print the result as JSON, including the workspace key")
	for pointer, name := range createPointers {
		terminal.NamePointer(command, pointer, name)
	}
	cli.AddServerFlag(command)
	return command
}

// createPointers are the flags of create by what they set in the request.
var createPointers = map[string]string{
	"/target":                  "URL",
	"/openapi":                 "--openapi",
	"/name":                    "--name",
	"/display_name":            "--display-name",
	"/product":                 "--product",
	"/tenant":                  "--tenant",
	"/version":                 "--version",
	"/team":                    "--team",
	"/environments":            "--environment",
	"/requests_auth":           "--auth",
	"/requests_auth/methods":   "--methods",
	"/requests_auth/jwt":       "--token-issuer",
	"/requests_auth/opaque":    "--introspection",
	"/requests_auth/keyless":   "--keyless",
	"/requests_auth/api_key":   "--key-in",
	"/requests_auth/key_types": "--key-type",
	"/login":                   "--login",
	"/login/redirect_uris":     "--redirect-uri",

	"/requests_auth/api_key/send_metadata": "--send-key-metadata",
}

// input returns the request that the flags describe. The server validates the values.
func (f createFlags) input(t terminal.Terminal) (contract.NewProxy, error) {
	in := f.proxy
	if in.Target == "" && len(f.environments) == 0 && f.openapi == "" && f.upstream.Targets == nil {
		return in, terminal.UsageError("URL is missing. It is the URL that calls are forwarded to.")
	}
	if document := f.openapi; document != "" {
		if !isWebAddress(document) {
			text, err := readDocument(t.In, document)
			if err != nil {
				return in, err
			}
			document = text
		}
		in.OpenAPI = contract.SourceOf(document)
	}
	var err error
	if in.Environments, err = environmentTargets(f.environments); err != nil {
		return in, err
	}
	if err := f.setUpstream(&in); err != nil {
		return in, err
	}
	auth := f.auth
	if f.requireKey {
		if auth.Mode != "" && auth.Mode != "authenticate" {
			return in, terminal.UsageError("--require-key and --auth " + auth.Mode + " can't be combined")
		}
		auth.Mode = "authenticate"
	}
	if auth.KeyTypes, err = newKeyTypes(f.keyTypes); err != nil {
		return in, err
	}
	for _, text := range f.keyPlaces {
		var in contract.KeyPlace
		if err := in.SetText(text); err != nil {
			return contract.NewProxy{}, terminal.UsageError(fmt.Sprintf("--key-in must be %v, not %q", err, text))
		}
		auth.APIKey.In = append(auth.APIKey.In, in)
	}
	if f.sendMetadata {
		auth.APIKey.SendMetadata = &f.sendMetadata
	}
	if auth.JWT, err = tokenIssuers(f.issuers); err != nil {
		return in, err
	}
	if auth.Opaque, err = introspection(t, f.endpoint, f.endpointSecret); err != nil {
		return in, err
	}
	if auth.Opaque != nil || auth.JWT != nil || auth.Mode != "" || auth.Methods != nil || auth.Keyless != "" ||
		auth.KeyTypes != nil || auth.APIKey.In != nil || f.sendMetadata {
		in.RequestsAuth = &auth
	}
	return in, nil
}

// environmentTargets parses --environment NAME=URL; it returns nil without it.
func environmentTargets(pairs []string) (map[string]contract.EnvironmentTarget, error) {
	var out map[string]contract.EnvironmentTarget
	var names []string
	for _, pair := range pairs {
		name, target, ok := strings.Cut(pair, "=")
		if !ok || name == "" || target == "" {
			return nil, terminal.UsageError(fmt.Sprintf("--environment must be NAME=URL, not %q", pair))
		}
		if out == nil {
			out = map[string]contract.EnvironmentTarget{}
		}
		names, out[name] = append(names, name), contract.EnvironmentTarget{Target: target}
	}
	return out, terminal.Once("environment", names)
}

// newKeyTypes parses --key-type NAME=SCOPE,SCOPE; it returns nil without it.
func newKeyTypes(pairs []string) (out []contract.NewKeyType, err error) {
	var names []string
	for _, pair := range pairs {
		name, scopes, ok := strings.Cut(pair, "=")
		if !ok || name == "" || scopes == "" {
			return nil, terminal.UsageError(fmt.Sprintf("--key-type must be NAME=SCOPE,SCOPE, not %q", pair))
		}
		names = append(names, name)
		out = append(out, contract.NewKeyType{Name: name, Scopes: strings.Split(scopes, ",")})
	}
	return out, terminal.Once("key-type", names)
}

// setUpstream gives all environments the settings of the upstream. Without environments there is prod.
func (f createFlags) setUpstream(in *contract.NewProxy) error {
	several := f.upstream.Targets != nil
	switch {
	case !f.hasUpstream:
		return nil
	case several && (in.Target != "" || len(in.Environments) > 0):
		return terminal.UsageError("--weighted-target can't be combined with URL or --environment")
	case !several && in.Target == "" && len(in.Environments) == 0:
		return terminal.UsageError("upstream settings require URL or --environment")
	case len(in.Environments) == 0:
		in.Environments = map[string]contract.EnvironmentTarget{"prod": {Target: in.Target}}
	}
	for name, one := range in.Environments {
		one.Upstream = f.upstream
		in.Environments[name] = one
	}
	return nil
}

func create(ctx context.Context, t terminal.Terminal, s cli.Session, in contract.NewProxy, asJSON bool) error {
	api, err := s.Client(s.Token)
	if err != nil {
		return err
	}
	api = api.WithAnonymousToken(t.Variable("POSTERN_ANONYMOUS_TOKEN"))
	var made contract.Proxy
	person, err := s.Personal()
	if err != nil {
		return err
	}
	if person != nil {
		if made, err = client.Do(ctx, person.Client, contract.CreateProxy, in.Request()); err != nil {
			return person.Explained(err)
		}
		return printCreated(t.Out, made, keysOf(in), "", asJSON)
	}
	created := false
	err = s.Kept.Keeping(s.Server, func() (*credentials.Workspace, error) {
		if made, err = client.Do(ctx, api, contract.CreateProxy, in.Request()); err != nil {
			return nil, err
		}
		created = true
		kept := &credentials.Workspace{
			Project:   made.Project.Name,
			ProjectID: made.Project.ID,
			Key:       made.WorkspaceKey.Reveal(),
			ExpiresAt: made.ExpiresAt,
		}
		if made.Claim != nil {
			kept.ClaimCode = made.Claim.Code.Reveal()
		}
		return kept, nil
	})
	if err != nil && !created {
		return err
	}
	if err != nil {
		// The disk may be full by now. The key is shown, or it would be lost.
		fmt.Fprintf(
			t.Err, "postern: could not store the workspace key. To use it, set POSTERN_TOKEN to this value: %s\n",
			made.WorkspaceKey.Reveal(),
		)
		return fmt.Errorf("%w (the proxy %s was created)", err, made.Project.Name)
	}
	if err := printCreated(t.Out, made, keysOf(in), s.Kept.Path, asJSON); err != nil {
		return err
	}
	return s.Adopt(t)
}

// keysOf says how callers of a new project send their keys.
func keysOf(in contract.NewProxy) contract.APIKeyAuth {
	if in.RequestsAuth == nil {
		return contract.APIKeyAuth{}
	}
	return in.RequestsAuth.APIKey
}

func printCreated(w io.Writer, made contract.Proxy, keys contract.APIKeyAuth, keptIn string, asJSON bool) error {
	if asJSON {
		return terminal.PrintJSON(w, made)
	}
	fmt.Fprintf(w, "%s is ready\n\n", terminal.Printable(made.Project.Name))
	err := terminal.Details(w, func(row func(...string)) {
		for i, e := range made.Project.Environments {
			if len(made.Project.Environments) > 1 {
				if i > 0 {
					row("")
				}
				row("Environment", e.Name)
			}
			row("Gateway URL", e.URL)
			row("Forwards to", e.Target)
			if key, ok := made.APIKeys[e.Name]; ok {
				row("API key", key.Key.Reveal())
			}
		}
	})
	if err != nil {
		return err
	}
	switch len(made.APIKeys) {
	case 0:
	case 1:
		fmt.Fprintf(w, "\nCopy the key now. You won't see it again.\n")
	default:
		fmt.Fprintf(w, "\nCopy the keys now. You won't see them again.\n")
	}
	if err := printLogin(w, made.Login); err != nil {
		return err
	}
	cli.PrintWarnings(w, made.Warnings)
	fmt.Fprintf(w, "\nTry it:\n  %s\n", curl(made, keys))
	if made.Claim != nil {
		fmt.Fprintf(
			w, "\nClaim it before it expires on %s%s:\n  %s\n", terminal.When(made.ExpiresAt),
			terminal.DaysLeft(made.ExpiresAt), made.Claim.URL,
		)
	}
	if keptIn != "" {
		fmt.Fprintf(w, "\nThe workspace key is stored in %s.\n", keptIn)
	}
	return nil
}

// curl returns a call of the first environment to paste into a shell. Keys and
// addresses contain no characters that need quoting.
func curl(made contract.Proxy, keys contract.APIKeyAuth) string {
	first := made.Project.Environments[0]
	if key, ok := made.APIKeys[first.Name]; ok {
		sample := keys.Sample(key.Key.Reveal())
		if sample.Header == "" {
			return fmt.Sprintf("curl '%s'", sample.URL(first.URL+"/"))
		}
		return fmt.Sprintf("curl -H '%s' '%s/'", sample.Header, first.URL)
	}
	return fmt.Sprintf("curl '%s/'", first.URL)
}

// hostedLogin has the flags of create that set up hosted login.
type hostedLogin struct {
	providers []string
	redirects []string
}

// input returns the login that the flags describe, or nil. Secrets come from the
// environment, since every user of a machine can read command lines.
func (f hostedLogin) input(t terminal.Terminal) (*contract.NewLogin, error) {
	if len(f.providers) == 0 {
		if len(f.redirects) > 0 {
			return nil, terminal.UsageError("--redirect-uri requires --login")
		}
		return nil, nil
	}
	out := &contract.NewLogin{RedirectURIs: f.redirects}
	for _, text := range f.providers {
		provider, err := readProvider(t, text)
		if err != nil {
			return nil, err
		}
		out.Providers = append(out.Providers, provider)
	}
	return out, nil
}

// readProvider parses TYPE=CLIENT-ID[,SECRET-VARIABLE][@ISSUER], or github=managed.
func readProvider(t terminal.Terminal, text string) (contract.NewProvider, error) {
	kind, rest, ok := strings.Cut(text, "=")
	rest, issuer, _ := strings.Cut(rest, "@")
	id, variable, named := strings.Cut(rest, ",")
	out := contract.NewProvider{Type: kind, Issuer: issuer}
	if !ok || kind == "" || id == "" || (named && variable == "") {
		return out, terminal.UsageError(
			fmt.Sprintf("--login must be TYPE=CLIENT-ID,SECRET-VARIABLE@ISSUER, not %q", text))
	}
	if id == "managed" && !named {
		out.Managed = true
		return out, nil
	}
	out.ClientID = &id
	if !named {
		return out, nil
	}
	if !slices.ContainsFunc(t.Environ, func(pair string) bool { return strings.HasPrefix(pair, variable+"=") }) {
		// The text does not repeat the name, which may be a misplaced secret.
		return out,
			terminal.UsageError("--login " + kind + ": set the environment variable after the comma to the client " +
				"secret")
	}
	out.ClientSecret = new(contract.Secret(t.Variable(variable)))
	return out, nil
}

// printLogin prints the values to configure in the application and at its providers.
func printLogin(w io.Writer, made *contract.ProxyLogin) error {
	if made == nil {
		return nil
	}
	fmt.Fprintf(w, "\nUsers sign in with OpenID Connect:\n")
	return terminal.Details(w, func(row func(...string)) {
		row("  Issuer", made.Issuer)
		row("  Client ID", made.ClientID)
		for _, provider := range slices.Sorted(maps.Keys(made.Callbacks)) {
			row("  Callback URL for "+provider, made.Callbacks[provider])
		}
	})
}
