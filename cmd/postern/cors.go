package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
)

func newCORS(t terminal) *cobra.Command {
	return family("cors", "Show and set which pages of other origins may call a project",
		newCORSShow(t), newCORSSet(t), newCORSRemove(t))
}

func newCORSShow(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use: "show PROJECT", Short: "Show which pages of other origins may call a project", Args: exactly("PROJECT"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			found, err := onProject(c.Context(), s, args[0],
				func(ctx context.Context, api caller) (client.CORS, error) { return api.CORS(ctx, args[0]) })
			if err != nil {
				return err
			}
			return printCORS(t, c, found)
		},
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func newCORSSet(t terminal) *cobra.Command {
	var in client.CORS
	var age string
	command := &cobra.Command{
		Use:   "set PROJECT",
		Short: "Let pages of other origins call a project",
		Long: `Let pages of other origins call a project. What is given replaces that part; the rest
stays as it is. Preflights are answered by the gateway and need no credential.`,
		Example: `  postern cors set shop --origins https://app.example.com,http://localhost:3000
  postern cors set shop --app-origins --credentials
  postern cors set shop --origins '*' --headers Content-Type,Authorization --max-age 600`,
		Args: exactly("PROJECT"),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().NFlag() == 0 {
				return usageError{"nothing to change: give --origins or another flag"}
			}
			seconds, err := readAge(age)
			if err != nil {
				return err
			}
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			found, err := onProject(c.Context(), s, args[0],
				func(ctx context.Context, api caller) (client.CORS, error) {
					now, err := api.CORS(ctx, args[0])
					if err != nil {
						return now, err
					}
					takeCORSFlags(c, &now, in, seconds)
					return api.SetCORS(ctx, args[0], now)
				})
			if err != nil {
				return err
			}
			return printCORS(t, c, found)
		},
	}
	flags := command.Flags()
	flags.StringSliceVar(&in.Origins, "origins", nil,
		"origins that may call, such as https://app.example.com; * for all")
	flags.BoolVar(&in.AppOrigins, "app-origins", false, "allow the origins of the app clients' redirect URIs too")
	flags.StringSliceVar(&in.Methods, "methods", nil, "methods that pages may use; empty for all")
	flags.StringSliceVar(&in.Headers, "headers", nil, "headers that pages may set; empty for those that they ask for")
	flags.StringSliceVar(&in.ExposedHeaders, "exposed-headers", nil, "headers of responses that pages may read")
	flags.BoolVar(&in.Credentials, "credentials", false, "pages may send cookies; not with --origins '*'")
	flags.StringVar(&age, "max-age", "", "seconds for which browsers cache a preflight; none to leave it to them")
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

// readAge reads --max-age; nil: none.
func readAge(text string) (*int, error) {
	if text == "" || text == "none" {
		return nil, nil
	}
	seconds, err := strconv.Atoi(text)
	if err != nil {
		return nil, usageError{fmt.Sprintf("--max-age %q is no number of seconds, and not none", text)}
	}
	return &seconds, nil
}

// takeCORSFlags replaces the parts that flags were given for.
func takeCORSFlags(c *cobra.Command, now *client.CORS, in client.CORS, age *int) {
	for flag, take := range map[string]func(){
		"origins":         func() { now.Origins = in.Origins },
		"app-origins":     func() { now.AppOrigins = in.AppOrigins },
		"methods":         func() { now.Methods = in.Methods },
		"headers":         func() { now.Headers = in.Headers },
		"exposed-headers": func() { now.ExposedHeaders = in.ExposedHeaders },
		"credentials":     func() { now.Credentials = in.Credentials },
		"max-age":         func() { now.MaxAge = age },
	} {
		if c.Flags().Changed(flag) {
			take()
		}
	}
	for _, list := range []*[]string{&now.Origins, &now.Methods, &now.Headers, &now.ExposedHeaders} {
		*list = append([]string{}, *list...) // null is no list
	}
}

func newCORSRemove(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use: "remove PROJECT", Short: "Leave CORS to a project's upstreams again", Args: exactly("PROJECT"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			_, err = onProject(c.Context(), s, args[0], func(ctx context.Context, api caller) (nothing, error) {
				return nothing{}, api.RemoveCORS(ctx, args[0])
			})
			if err != nil || wantsJSON(c) {
				return err
			}
			_, err = fmt.Fprintf(t.out, "CORS of %s is left to its upstreams.\n", printable(args[0]))
			return err
		},
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func printCORS(t terminal, c *cobra.Command, found client.CORS) error {
	if wantsJSON(c) {
		return printJSON(t.out, found)
	}
	if len(found.Origins) == 0 && !found.AppOrigins {
		_, err := fmt.Fprintln(t.out, "CORS is left to the upstreams.")
		return err
	}
	listed := func(list []string, none string) string { return cmp.Or(strings.Join(list, ", "), none) }
	age := "left to browsers"
	if found.MaxAge != nil {
		age = strconv.Itoa(*found.MaxAge) + " s"
	}
	credentials := "not sent"
	if found.Credentials {
		credentials = "may be sent"
	}
	rows := [][2]string{
		{"Origins", listed(found.Origins, "none")},
		{"Methods", listed(found.Methods, "all")},
		{"Headers", listed(found.Headers, "those that a page asks for")},
		{"Exposed headers", listed(found.ExposedHeaders, "none")},
		{"Cookies", credentials},
		{"Preflight kept", age},
	}
	if found.AppOrigins {
		rows = slices.Insert(rows, 1, [2]string{"From app clients", listed(found.FromApps, "none yet")})
	}
	for _, row := range rows {
		if _, err := fmt.Fprintf(t.out, "%-17s %s\n", row[0], printable(row[1])); err != nil {
			return err
		}
	}
	return nil
}
