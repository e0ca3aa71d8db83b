package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/fault"
)

const defaultServer = "http://127.0.0.1:8080"

// variable is an environment variable's value, "" without one. As everywhere in
// a process's environment, the last one counts.
func (t terminal) variable(name string) string {
	for _, pair := range slices.Backward(t.environ) {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// session is a server and the credentials there are for it.
type session struct {
	server string
	token  string // POSTERN_TOKEN, which wins over what is kept
	kept   credentials
}

func addServerFlag(c *cobra.Command) {
	c.Flags().String("server", "", "address of the Postern server (POSTERN_SERVER) (default "+defaultServer+")")
}

func addJSONFlag(c *cobra.Command) {
	c.Flags().Bool("json", false, "print what the API answers, as JSON")
}

func openSession(t terminal, c *cobra.Command) (session, error) {
	server, from := c.Flag("server").Value.String(), "--server"
	if server == "" {
		server, from = t.variable("POSTERN_SERVER"), "POSTERN_SERVER"
	}
	if server == "" {
		server = defaultServer
	}
	server, err := client.Address(server)
	if err != nil {
		return session{}, usageError{fmt.Sprintf("%s is not an address such as %s", from, defaultServer)}
	}
	kept, err := credentialsFile(t)
	return session{server: server, token: t.variable("POSTERN_TOKEN"), kept: kept}, err
}

// caller is a client and the project whose credential it has, "" for
// POSTERN_TOKEN's.
type caller struct {
	*client.Client
	project string
}

// callers lists every credential there is for the server; there is at least one.
func (s session) callers() ([]caller, error) {
	if s.token != "" {
		api, err := client.New(s.server, s.token)
		return []caller{{Client: api}}, err
	}
	workspaces, err := s.kept.of(s.server)
	if err != nil {
		return nil, err
	}
	if len(workspaces) == 0 {
		return nil, noCredential(s.server)
	}
	return s.with(workspaces)
}

func (s session) with(workspaces []workspace) ([]caller, error) {
	var list []caller
	for _, w := range workspaces {
		api, err := client.New(s.server, w.Key)
		if err != nil {
			return nil, err
		}
		list = append(list, caller{api, w.Project})
	}
	return list, nil
}

// callersOf lists the credentials that may be good for a project: its own, the
// newest first, where one is kept; else all.
func (s session) callersOf(project string) ([]caller, error) {
	if s.token != "" {
		return s.callers()
	}
	workspaces, err := s.kept.of(s.server)
	if err != nil {
		return nil, err
	}
	var own []workspace
	for _, w := range slices.Backward(workspaces) {
		if w.Project == project || w.ProjectID == project {
			own = append(own, w)
		}
	}
	if len(own) > 0 {
		return s.with(own)
	}
	return s.callers()
}

// first makes a call with one credential after another until one is answered
// otherwise than by "not found" or "not valid": a server tells nobody whether
// there is what he may not see. With none, the most telling refusal is the error.
func first[T any](ctx context.Context, callers []caller, call func(context.Context, caller) (T, error)) (T, error) {
	var refused error
	for _, c := range callers {
		out, err := call(ctx, c)
		switch fault.KindOf(err) {
		case fault.NotFound:
			if refused == nil || fault.KindOf(refused) != fault.NotFound {
				refused = err
			}
		case fault.Unauthenticated:
			if refused == nil {
				refused = err
			}
		default:
			return out, err
		}
	}
	var none T
	return none, refused
}

// onProject makes a call with the credentials that may be good for a project.
func onProject[T any](ctx context.Context, s session, project string, call func(context.Context, caller) (T, error)) (T, error) {
	callers, err := s.callersOf(project)
	if err != nil {
		var none T
		return none, err
	}
	out, err := first(ctx, callers, call)
	if fault.CodeOf(err) == "not_found" {
		return out, fault.New(fault.NotFound, "not_found", "there is no project %q at %s, or none that the credentials kept here may see", project, s.server).Because(err)
	}
	return out, err
}

// onKey makes a call with whatever credential the key with this id belongs to.
func onKey[T any](ctx context.Context, s session, id string, call func(context.Context, caller) (T, error)) (T, error) {
	callers, err := s.callers()
	if err != nil {
		var none T
		return none, err
	}
	out, err := first(ctx, callers, call)
	if fault.CodeOf(err) == "not_found" {
		return out, fault.New(fault.NotFound, "not_found", "there is no key %q at %s, or none that the credentials kept here may see; `postern keys list PROJECT` shows the ids", id, s.server).Because(err)
	}
	return out, err
}
