package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/platform/fault"
)

func newProjectsSetTarget(t terminal) *cobra.Command {
	var version string
	command := &cobra.Command{
		Use:   "set-target PROJECT ENVIRONMENT URL",
		Short: "Change where the calls of an environment go",
		Args:  exactly("PROJECT", "ENVIRONMENT", "URL"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			e, err := onProject(
				c.Context(),
				s,
				args[0],
				func(ctx context.Context, api caller) (client.Environment, error) {
					e, err := findPlace(ctx, api, args[0], version, args[1])
					if err != nil {
						return e, err
					}
					return api.IfMatch(e.ETag).UpdateEnvironment(ctx, args[0], e.ID, args[2])
				},
			)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(t.out, "%s %s now forwards to %s.\n", args[0], e.Name, e.Target)
			return err
		},
	}
	addVersionFlag(command, &version)
	addServerFlag(command)
	return command
}

func newProjectsSetAccess(t terminal) *cobra.Command {
	var version, mode, keyless, endpoint, endpointSecret string
	var methods, issuers, allow, deny []string
	command := &cobra.Command{
		Use: "set-access PROJECT [--mode MODE] [--methods METHOD,...] [--keyless WHAT] [--token-issuer PAIR] " +
			"[--introspection ENDPOINT] [--allow-ip CIDR,...] [--deny-ip CIDR,...]",
		Short: "Change who may call a project",
		Args:  exactly("PROJECT"),
		RunE: func(c *cobra.Command, args []string) error {
			var change client.AuthChange
			if c.Flags().Changed("mode") {
				change.Mode = &mode
			}
			if c.Flags().Changed("methods") {
				change.Methods = &methods
			}
			if c.Flags().Changed("keyless") {
				change.Keyless = &keyless
			}
			var err error
			if change.JWT, err = tokenIssuers(issuers); err != nil {
				return err
			}
			if change.Opaque, err = introspection(t, endpoint, endpointSecret); err != nil {
				return err
			}
			in := client.VersionChange{}
			if change != (client.AuthChange{}) {
				in.RequestsAuth = &change
			}
			in.IP = readIPChange(c, allow, deny)
			if in == (client.VersionChange{}) {
				return usageError{"nothing to change: give --mode, --methods, --keyless, --token-issuer, " +
					"--introspection, --allow-ip or --deny-ip"}
			}
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			v, err := onProject(c.Context(), s, args[0], func(ctx context.Context, api caller) (client.Version, error) {
				v, err := findVersion(ctx, api, args[0], version)
				if err != nil {
					return v, err
				}
				return api.IfMatch(v.ETag).UpdateVersion(ctx, args[0], v.ID, in)
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(t.out, "Access to %s %s is now %s.\n", args[0], v.Name, accessOf(v.RequestsAuth))
			printWarnings(t.out, v.Warnings)
			return nil
		},
	}
	flags := command.Flags()
	flags.StringVar(&mode, "mode", "", "passthrough or authenticate")
	flags.StringSliceVar(&methods, "methods", nil, "how calls authenticate: api_key, jwt, opaque")
	flags.StringArrayVar(&issuers, "token-issuer", nil, tokenIssuerHelp)
	flags.StringVar(&endpoint, "introspection", "", introspectionHelp)
	flags.StringVar(&endpointSecret, "introspection-secret-file", "", introspectionSecretHelp)
	flags.StringVar(&keyless, "keyless", "", "calls without a key: reject or owner_fallback")
	flags.StringSliceVar(&allow, "allow-ip", nil, "address ranges that calls may come from; empty for anywhere")
	flags.StringSliceVar(&deny, "deny-ip", nil, "address ranges that no call may come from; empty for none")
	addVersionFlag(command, &version)
	addServerFlag(command)
	return command
}

// readIPChange takes "" for no ranges, and returns nil without flags.
func readIPChange(c *cobra.Command, allow, deny []string) *client.IPChange {
	var out client.IPChange
	for name, list := range map[string]struct {
		given []string
		into  **[]string
	}{"allow-ip": {allow, &out.Allow}, "deny-ip": {deny, &out.Deny}} {
		if c.Flags().Changed(name) {
			given := slices.DeleteFunc(append([]string{}, list.given...), func(s string) bool { return s == "" })
			*list.into = &given
		}
	}
	if out == (client.IPChange{}) {
		return nil
	}
	return &out
}

// findVersion returns the version by name or id, or without a name the project's only one.
func findVersion(ctx context.Context, api caller, project, name string) (client.Version, error) {
	p, err := api.Project(ctx, project)
	if err != nil {
		return client.Version{}, err
	}
	return chooseVersion(p, project, name)
}

func chooseVersion(p client.Project, project, name string) (client.Version, error) {
	var names []string
	for _, v := range p.Versions {
		if v.Name == name || v.ID == name || (name == "" && len(p.Versions) == 1) {
			return v, nil
		}
		names = append(names, v.Name)
	}
	if name == "" {
		return client.Version{}, usageError{
			fmt.Sprintf("%s has several versions: name one of %s with --version", project, strings.Join(names, ", ")),
		}
	}
	return client.Version{}, fault.New(
		fault.NotFound, "no_version", "%s has no version %q; it has %s", project, name,
		strings.Join(names, ", "),
	)
}

// findEnvironment returns the environment of a version by name or id.
func findEnvironment(v client.Version, name string) (client.Environment, error) {
	for _, e := range v.Environments {
		if e.Name == name || e.ID == name {
			return e, nil
		}
	}
	return client.Environment{}, fault.New(
		fault.NotFound, "no_environment", "version %s has no environment %q; it has %s", v.Name, name,
		environmentNames(v),
	)
}
