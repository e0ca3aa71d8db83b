package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/credentials"
	"postern/cmd/internal/terminal"
	"postern/platform/fault"
)

const defaultServer = "http://127.0.0.1:8080"

// Session is a server and the available credentials for it.
type Session struct {
	Server string
	Token  string // POSTERN_TOKEN, which overrides kept credentials
	Kept   credentials.File
}

// OpenSession returns the session of a command: its server is that of --server, else of POSTERN_SERVER.
func OpenSession(t terminal.Terminal, c *cobra.Command) (Session, error) {
	server, from := c.Flag("server").Value.String(), "--server"
	if server == "" {
		server, from = t.Variable("POSTERN_SERVER"), "POSTERN_SERVER"
	}
	if server == "" {
		server = defaultServer
	}
	server, err := client.Address(server)
	if err != nil {
		return Session{}, terminal.UsageError(fmt.Sprintf("%s is not an address such as %s", from, defaultServer))
	}
	kept, err := credentials.Open(t)
	return Session{Server: server, Token: t.Variable("POSTERN_TOKEN"), Kept: kept}, err
}

// Caller is a client and the project of its workspace key, "" for POSTERN_TOKEN and for
// a login.
type Caller struct {
	*client.Client
	project string
	Login   bool
}

// Personal returns the client of the signed-in account, or nil.
func (s Session) Personal() (*Caller, error) {
	if s.Token != "" {
		api, err := client.New(s.Server, s.Token)
		return &Caller{Client: api}, err
	}
	kept, err := s.Kept.LoginOf(s.Server)
	if err != nil || kept == nil {
		return nil, err
	}
	api, err := client.New(s.Server, kept.Token)
	return &Caller{Client: api, Login: true}, err
}

// SignedIn opens a session for a command that acts for an account.
func SignedIn(t terminal.Terminal, c *cobra.Command) (Session, *Caller, error) {
	s, err := OpenSession(t, c)
	if err != nil {
		return s, nil, err
	}
	person, err := s.person()
	return s, person, err
}

// person returns the client of the signed-in account, or an error if no account is signed in.
func (s Session) person() (*Caller, error) {
	c, err := s.Personal()
	if err == nil && c == nil {
		err = fault.New(fault.Unauthenticated, "credentials_required", "not signed in to %s: run `postern login`, "+
			"or set POSTERN_TOKEN to an access token", s.Server)
	}
	return c, err
}

// LoginOver adds what to do to the error of a refused login.
func (s Session) LoginOver(c *Caller, err error) error {
	if c != nil && c.Login && fault.KindOf(err) == fault.Unauthenticated {
		return fault.New(
			fault.Unauthenticated,
			"login_over",
			"the sign-in at %s is over: run `postern login` again",
			s.Server,
		).Because(
			err,
		)
	}
	return err
}

// Callers returns clients for all credentials of the server, at least one.
func (s Session) Callers() ([]Caller, error) {
	own, err := s.Personal()
	if err != nil {
		return nil, err
	}
	if s.Token != "" {
		return []Caller{*own}, nil
	}
	workspaces, err := s.Kept.WorkspacesOf(s.Server)
	if err != nil {
		return nil, err
	}
	list, err := s.with(workspaces)
	if own != nil {
		list = append([]Caller{*own}, list...)
	}
	if err == nil && len(list) == 0 {
		err = noCredential(s.Server)
	}
	return list, err
}

func (s Session) with(workspaces []credentials.Workspace) ([]Caller, error) {
	var list []Caller
	for _, w := range workspaces {
		api, err := client.New(s.Server, w.Key)
		if err != nil {
			return nil, err
		}
		list = append(list, Caller{Client: api, project: w.Project})
	}
	return list, nil
}

// callersOf returns the clients that may be valid for a project: those of its kept
// workspace keys, the newest first, and the login, whose account may have claimed it.
// Without a kept key it returns all.
func (s Session) callersOf(project string) ([]Caller, error) {
	if s.Token != "" {
		return s.Callers()
	}
	workspaces, err := s.Kept.WorkspacesOf(s.Server)
	if err != nil {
		return nil, err
	}
	var own []credentials.Workspace
	for _, w := range slices.Backward(workspaces) {
		if w.Project == project || w.ProjectID == project {
			own = append(own, w)
		}
	}
	if len(own) == 0 {
		return s.Callers()
	}
	list, err := s.with(own)
	if err != nil {
		return nil, err
	}
	person, err := s.Personal()
	if person != nil {
		list = append(list, *person)
	}
	return list, err
}

// First tries a call with one credential after another until the response is neither "not
// found" nor "not valid": a server does not reveal objects that a credential may not
// read. If all are refused, it returns the most specific error.
func First[T any](ctx context.Context, callers []Caller, call func(context.Context, Caller) (T, error)) (T, error) {
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

// OnProject tries a call with each credential that may be valid for a project.
func OnProject[T any](
	ctx context.Context, s Session, project string, call func(context.Context, Caller) (T, error),
) (T, error) {
	return onThing(ctx, s, project, fmt.Sprintf("project %q", project), call)
}

// onThing is OnProject for what a project has.
func onThing[T any](
	ctx context.Context, s Session, project, what string, call func(context.Context, Caller) (T, error),
) (T, error) {
	callers, err := s.callersOf(project)
	if err != nil {
		var none T
		return none, err
	}
	out, err := First(ctx, callers, call)
	if fault.CodeOf(err) == "not_found" {
		return out, fault.New(fault.NotFound, "not_found", "there is no %s at %s, or none that the "+
			"credentials stored on this machine can access\n%s", what, s.Server, claimHint).Because(err)
	}
	return out, err
}

// onKey sends a call with the credential of the project that has the key with this id.
func onKey[T any](ctx context.Context, s Session, id string, call func(context.Context, Caller) (T, error)) (T, error) {
	callers, err := s.Callers()
	if err != nil {
		var none T
		return none, err
	}
	out, err := First(ctx, callers, call)
	if fault.CodeOf(err) == "not_found" {
		return out, fault.New(fault.NotFound, "not_found", "there is no key %q at %s, or none that the credentials "+
			"stored on this machine can access;  `postern keys list PROJECT` shows the ids", id, s.Server).Because(err)
	}
	return out, err
}

func noCredential(server string) error {
	return fault.New(fault.Unauthenticated, "credentials_required",
		"no credential for %s is stored on this machine: sign in with `postern login`, "+
			"create a proxy with `postern create`, or set POSTERN_TOKEN", server)
}
