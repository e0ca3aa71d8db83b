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

const defaultServer = "http://127.0.0.1:8080"

// variable returns an environment variable, or "". The last one of a name counts, as in
// os/exec.
func (t terminal) variable(name string) string {
	for _, pair := range slices.Backward(t.environ) {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return strings.TrimSpace(value) // a token read from a file ends with its newline
		}
	}
	return ""
}

// session is a server and the available credentials for it.
type session struct {
	server string
	token  string // POSTERN_TOKEN, which overrides kept credentials
	kept   credentials
}

func addServerFlag(c *cobra.Command) {
	c.Flags().String("server", "", "address of the Postern server (POSTERN_SERVER) (default "+defaultServer+")")
}

func addJSONFlag(c *cobra.Command) {
	c.Flags().Bool("json", false, "print the API's answer as JSON")
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
		return session{}, usageError(fmt.Sprintf("%s is not an address such as %s", from, defaultServer))
	}
	kept, err := credentialsFile(t)
	return session{server: server, token: t.variable("POSTERN_TOKEN"), kept: kept}, err
}

// caller is a client and the project of its workspace key, "" for POSTERN_TOKEN and for
// a login.
type caller struct {
	*client.Client
	project string
	login   bool
}

// personal returns the client of the signed-in account, or nil.
func (s session) personal() (*caller, error) {
	if s.token != "" {
		api, err := client.New(s.server, s.token)
		return &caller{Client: api}, err
	}
	kept, err := s.kept.loginOf(s.server)
	if err != nil || kept == nil {
		return nil, err
	}
	api, err := client.New(s.server, kept.Token)
	return &caller{Client: api, login: true}, err
}

// signedIn opens a session for a command that acts for an account.
func signedIn(t terminal, c *cobra.Command) (session, *caller, error) {
	s, err := openSession(t, c)
	if err != nil {
		return s, nil, err
	}
	person, err := s.person()
	return s, person, err
}

// person returns the client of the signed-in account, or an error if no account is signed in.
func (s session) person() (*caller, error) {
	c, err := s.personal()
	if err == nil && c == nil {
		err = fault.New(fault.Unauthenticated, "credentials_required", "not signed in to %s: run `postern login`, "+
			"or set POSTERN_TOKEN to an access token", s.server)
	}
	return c, err
}

// loginOver adds what to do to the error of a refused login.
func (s session) loginOver(c *caller, err error) error {
	if c != nil && c.login && fault.KindOf(err) == fault.Unauthenticated {
		return fault.New(
			fault.Unauthenticated,
			"login_over",
			"the sign-in at %s is over: run `postern login` again",
			s.server,
		).Because(
			err,
		)
	}
	return err
}

// callers returns clients for all credentials of the server, at least one.
func (s session) callers() ([]caller, error) {
	own, err := s.personal()
	if err != nil {
		return nil, err
	}
	if s.token != "" {
		return []caller{*own}, nil
	}
	workspaces, err := s.kept.of(s.server)
	if err != nil {
		return nil, err
	}
	list, err := s.with(workspaces)
	if own != nil {
		list = append([]caller{*own}, list...)
	}
	if err == nil && len(list) == 0 {
		err = noCredential(s.server)
	}
	return list, err
}

func (s session) with(workspaces []workspace) ([]caller, error) {
	var list []caller
	for _, w := range workspaces {
		api, err := client.New(s.server, w.Key)
		if err != nil {
			return nil, err
		}
		list = append(list, caller{Client: api, project: w.Project})
	}
	return list, nil
}

// callersOf returns the clients that may be valid for a project: those of its kept
// workspace keys, the newest first, and the login, whose account may have claimed it.
// Without a kept key it returns all.
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
	if len(own) == 0 {
		return s.callers()
	}
	list, err := s.with(own)
	if err != nil {
		return nil, err
	}
	person, err := s.personal()
	if person != nil {
		list = append(list, *person)
	}
	return list, err
}

// first tries a call with one credential after another until the response is neither "not
// found" nor "not valid": a server does not reveal objects that a credential may not
// read. If all are refused, it returns the most specific error.
func first[T any](ctx context.Context, callers []caller, call func(context.Context, caller) (T, error)) (T, error) {
	var refused error
	for _, c := range callers {
		out, err := call(ctx, c)
		switch fault.KindOf(err) {
		case fault.NotFound:
			if refused == nil || fault.KindOf(refused) != fault.NotFound || fault.CodeOf(refused) == "not_found" {
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

// claimHint is how a project gets into reach that another program created without an account.
const claimHint = "if you made it without an account, say with curl: `postern login`, then `postern claim URL` with " +
	"the claim url of the answer; or set POSTERN_TOKEN to its workspace_key"

// onProject tries a call with each credential that may be valid for a project.
func onProject[T any](
	ctx context.Context, s session, project string, call func(context.Context, caller) (T, error),
) (T, error) {
	return onThing(ctx, s, project, fmt.Sprintf("project %q", project), call)
}

// onThing is onProject for what a project has.
func onThing[T any](
	ctx context.Context, s session, project, what string, call func(context.Context, caller) (T, error),
) (T, error) {
	callers, err := s.callersOf(project)
	if err != nil {
		var none T
		return none, err
	}
	out, err := first(ctx, callers, call)
	if fault.CodeOf(err) == "not_found" {
		return out, fault.New(fault.NotFound, "not_found", "there is no %s at %s, or none that the "+
			"credentials stored on this machine can access\n%s", what, s.server, claimHint).Because(err)
	}
	return out, err
}

// onKey sends a call with the credential of the project that has the key with this id.
func onKey[T any](ctx context.Context, s session, id string, call func(context.Context, caller) (T, error)) (T, error) {
	callers, err := s.callers()
	if err != nil {
		var none T
		return none, err
	}
	out, err := first(ctx, callers, call)
	if fault.CodeOf(err) == "not_found" {
		return out, fault.New(fault.NotFound, "not_found", "there is no key %q at %s, or none that the credentials "+
			"stored on this machine can access;  `postern keys list PROJECT` shows the ids", id, s.server).Because(err)
	}
	return out, err
}
