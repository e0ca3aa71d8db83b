package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/platform/fault"
)

func newUpstreams(t terminal) *cobra.Command {
	return family("upstreams", "Check upstreams, and set what shows them that a call comes from this project",
		newUpstreamsList(t), newUpstreamsSetHeader(t), newUpstreamsRemoveHeader(t),
		newUpstreamsSigning(t), newUpstreamsEnableSigning(t), newUpstreamsRotateSigningKey(t),
		newUpstreamsDisableSigning(t),
		newUpstreamsCertificate(t), newUpstreamsSetCertificate(t), newUpstreamsRemoveCertificate(t),
		newUpstreamsCheck(t))
}

// upstreamHeaders are the headers of one environment.
type upstreamHeaders struct {
	Version     string                  `json:"version"`
	Environment string                  `json:"environment"`
	Target      string                  `json:"target"`
	Headers     []client.UpstreamHeader `json:"headers"`
}

func newUpstreamsList(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "list PROJECT",
		Short: "List the upstreams of a project, and what calls carry to them",
		Args:  exactly("PROJECT"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			list, err := onProject(c.Context(), s, args[0],
				func(ctx context.Context, api caller) ([]upstreamHeaders, error) {
					return listUpstreams(ctx, api, args[0])
				})
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSONList(t.out, list)
			}
			return table(t.out, func(row func(...string)) {
				row("VERSION", "ENVIRONMENT", "FORWARDS TO", "HEADER", "SET AT")
				for _, u := range list {
					if len(u.Headers) == 0 {
						row(u.Version, u.Environment, u.Target, "-", "-")
					}
					for _, h := range u.Headers {
						row(u.Version, u.Environment, u.Target, h.Name, h.UpdatedAt.Format(time.RFC3339))
					}
				}
			})
		},
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func listUpstreams(ctx context.Context, api caller, project string) ([]upstreamHeaders, error) {
	p, err := api.Project(ctx, project)
	if err != nil {
		return nil, err
	}
	list := []upstreamHeaders{}
	for _, v := range p.Versions {
		for _, e := range v.Environments {
			one := upstreamHeaders{v.Name, e.Name, e.Target, []client.UpstreamHeader{}}
			for h, err := range api.UpstreamHeaders(ctx, project, e.ID) {
				if err != nil {
					return nil, err
				}
				one.Headers = append(one.Headers, h)
			}
			list = append(list, one)
		}
	}
	return list, nil
}

func newUpstreamsSetHeader(t terminal) *cobra.Command {
	var version, file string
	command := &cobra.Command{
		Use:   "set-header PROJECT ENVIRONMENT NAME",
		Short: "Set a header with a secret value that every call carries to the upstream",
		Long: `Set a header with a secret value that every call carries to the upstream. What
callers send under that name is removed. The value is the input, or the file that
--file names: every user of a machine can read command lines. It is never shown again.`,
		Example: `  openssl rand -hex 32 | tee upstream-token | postern upstreams set-header shop prod X-Upstream-Token
  postern upstreams set-header shop prod Authorization --file bearer-token`,
		Args: exactly("PROJECT", "ENVIRONMENT", "NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			value, err := readSecret(t, file)
			if err != nil {
				return err
			}
			set := func(ctx context.Context, api caller) (client.UpstreamHeader, error) {
				e, err := environmentNamed(ctx, api, args[0], version, args[1])
				if err != nil {
					return client.UpstreamHeader{}, err
				}
				return api.SetUpstreamHeader(ctx, args[0], e.ID, args[2], value)
			}
			h, err := onProject(c.Context(), s, args[0], set)
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSON(t.out, h)
			}
			_, err = fmt.Fprintf(t.out, "Calls to %s carry %s to the upstream.\n", args[1], h.Name)
			return err
		},
	}
	command.Flags().StringVar(&file, "file", "-", "file with the value; - is the standard input")
	addVersionFlag(command, &version)
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func newUpstreamsRemoveHeader(t terminal) *cobra.Command {
	var version string
	command := &cobra.Command{
		Use:   "remove-header PROJECT ENVIRONMENT NAME",
		Short: "Remove a header that calls carry to the upstream",
		Args:  exactly("PROJECT", "ENVIRONMENT", "NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			remove := func(ctx context.Context, api caller) (struct{}, error) {
				e, err := environmentNamed(ctx, api, args[0], version, args[1])
				if err != nil {
					return struct{}{}, err
				}
				err = api.RemoveUpstreamHeader(ctx, args[0], e.ID, args[2])
				return struct{}{}, absent(
					err, "no_upstream_header",
					"calls to %s carry no header %s; `postern upstreams list %s` shows those they carry",
					args[1], args[2], args[0],
				)
			}
			if _, err := onProject(c.Context(), s, args[0], remove); err != nil {
				return err
			}
			_, err = fmt.Fprintf(t.out, "Calls to %s no longer carry %s to the upstream.\n", args[1], args[2])
			return err
		},
	}
	addVersionFlag(command, &version)
	addServerFlag(command)
	return command
}

func environmentNamed(
	ctx context.Context, api caller, project, version, environment string,
) (client.Environment, error) {
	e, err := findPlace(ctx, api, project, version, environment)
	return e, err
}

// absent names what an environment does not have, in place of the API's "not found". The
// caller has found the environment, so the project is not what is missing.
func absent(err error, code, public string, args ...any) error {
	if fault.CodeOf(err) != "not_found" {
		return err
	}
	return fault.New(fault.NotFound, code, public, args...).Because(err)
}
