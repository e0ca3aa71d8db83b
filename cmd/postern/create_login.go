package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"postern/core/contract"
)

// hostedLogin has the flags of create that set up hosted login.
type hostedLogin struct {
	providers []string
	redirects []string
}

// input returns the login that the flags describe, or nil. Secrets come from the
// environment, since every user of a machine can read command lines.
func (f hostedLogin) input(t terminal) (*contract.NewLogin, error) {
	if len(f.providers) == 0 {
		if len(f.redirects) > 0 {
			return nil, usageError("--redirect-uri is of a login: name its provider with --login")
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
func readProvider(t terminal, text string) (contract.NewProvider, error) {
	kind, rest, ok := strings.Cut(text, "=")
	rest, issuer, _ := strings.Cut(rest, "@")
	id, variable, named := strings.Cut(rest, ",")
	out := contract.NewProvider{Type: kind, Issuer: issuer}
	if !ok || kind == "" || id == "" || (named && variable == "") {
		return out, usageError(fmt.Sprintf("--login %q is not TYPE=CLIENT-ID,SECRET-VARIABLE@ISSUER", text))
	}
	if id == "managed" && !named {
		out.Managed = true
		return out, nil
	}
	out.ClientID = &id
	if !named {
		return out, nil
	}
	if !slices.ContainsFunc(t.environ, func(pair string) bool { return strings.HasPrefix(pair, variable+"=") }) {
		// The text does not repeat the name, which may be a misplaced secret.
		return out, usageError("--login " + kind + ": there is no environment variable of that name to read the " +
			"client secret from")

	}
	out.ClientSecret = new(contract.Secret(t.variable(variable)))
	return out, nil
}

// printLogin prints the values to configure in the application and at its providers.
func printLogin(w io.Writer, made *contract.ProxyLogin) error {
	if made == nil {
		return nil
	}
	fmt.Fprintf(w, "\nPeople sign in with OpenID Connect:\n")
	return details(w, func(row func(...string)) {
		row("  issuer", made.Issuer)
		row("  client ID", made.ClientID)
		for _, provider := range slices.Sorted(maps.Keys(made.Callbacks)) {
			row("  register with "+provider, made.Callbacks[provider])
		}
	})
}
