package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	Source string // what the server is from, such as --server
	Token  string // POSTERN_TOKEN, which overrides kept credentials
	Kept   credentials.File

	waits func() (end func()) // says that a request waits for its answer
}

// The sources of a session's server, the first of which that names one counts.
const (
	fromFlag    = "--server"
	fromServer  = "POSTERN_SERVER"
	fromContext = "POSTERN_CONTEXT"
	fromCurrent = "the current context"
	fromDefault = "the default"
)

// OpenSession returns the session of a command. Its error is one of SessionAt, or that nothing says which server
// POSTERN_TOKEN is for: the current context may have changed since the variable was set.
func OpenSession(t terminal.Terminal, c *cobra.Command) (Session, error) {
	s, err := SessionAt(t, c.Flag("server").Value.String())
	if err == nil && s.Token != "" && s.Source == fromCurrent {
		return Session{}, terminal.UsageError("POSTERN_TOKEN is set, but its server isn't: set " +
			"POSTERN_SERVER or POSTERN_CONTEXT, or use --server. The server of the current context is " + s.Server)
	}
	return s, err
}

// SessionAt returns the session of a server, "" for the one that variables and the current context name.
func SessionAt(t terminal.Terminal, server string) (Session, error) {
	kept, err := credentials.Open(t)
	if err != nil {
		return Session{}, err
	}
	from := fromFlag
	if server == "" {
		if server, from, err = usualServer(t, kept); err != nil {
			return Session{}, err
		}
	}
	address, err := client.Address(server)
	if err != nil {
		return Session{}, terminal.UsageError(fmt.Sprintf("%s must be a URL such as %s", from, defaultServer))
	}
	return Session{
		Server: address, Source: from, Token: t.Variable("POSTERN_TOKEN"), Kept: kept,
		waits: func() func() { return t.Waiting("Waiting for " + address) },
	}, nil
}

// IsFromFlag reports whether the flag --server names the server.
func (s Session) IsFromFlag() bool { return s.Source == fromFlag }

// Client returns a client of the session's server with a credential, "" for none.
func (s Session) Client(token string) (*client.Client, error) {
	api, err := client.New(s.Server, token)
	if err != nil {
		return nil, err
	}
	return api.Watched(s.waits), nil
}

// usualServer returns the URL of the server that commands use without --server, and what named it.
func usualServer(t terminal.Terminal, kept credentials.File) (server, from string, err error) {
	if server := t.Variable("POSTERN_SERVER"); server != "" {
		return server, fromServer, nil
	}
	if name := t.Variable("POSTERN_CONTEXT"); name != "" {
		found, err := kept.ContextNamed(name)
		if err == nil && found == nil {
			err = NoContext(fromContext, name)
		}
		if err != nil {
			return "", fromContext, err
		}
		return found.Server, fromContext, nil
	}
	server, err = kept.Current()
	if server != "" || err != nil {
		return server, fromCurrent, err
	}
	return defaultServer, fromDefault, nil
}

// NoContext is the error about the name of a context that doesn't exist. from is the variable that has the name, "" for
// an argument.
func NoContext(from, name string) error {
	if from != "" {
		from += ": "
	}
	return fault.New(fault.NotFound, "no_context", "%s", from+fmt.Sprintf("there is no context %q. Run "+
		"`postern context list` to list your contexts, or `postern login URL` to add one", name))
}

// Caller is a client and the project of its workspace key, "" for POSTERN_TOKEN and for
// a login.
type Caller struct {
	*client.Client
	server    string
	project   string
	workspace bool // the credential is a workspace key
	login     bool
}

// workspaceKeyPrefix begins every workspace key.
const workspaceKeyPrefix = "pstw_"

// Explained says what to do, in place of the server's error about a credential that isn't valid, or about what a
// workspace key may not do.
func (c Caller) Explained(err error) error {
	known, ok := errors.AsType[*fault.Error](err)
	switch {
	case !ok:
		return err
	case known.Kind == fault.Unauthenticated:
		return c.refused().Because(err)
	case !c.workspace || known.Code != "not_allowed":
		return err
	}
	out := *known
	out.Public = "this requires an account: sign in with `postern login`, and run `postern claim` to claim " +
		"workspaces that you created without an account"
	if c.project == "" {
		out.Public = "this requires an account, but POSTERN_TOKEN is a workspace key: unset it, and sign in with " +
			"`postern login`"
	}
	return out.Because(err)
}

// refused is the error of a credential that isn't valid.
func (c Caller) refused() *fault.Error {
	switch {
	case c.login:
		return fault.New(fault.Unauthenticated, "login_over", "your sign-in to %s has expired: run `postern login` "+
			"again", c.server)
	case c.project != "":
		return fault.New(fault.Unauthenticated, "workspace_over", "the workspace key for %s is no longer valid: its "+
			"workspace has expired or been claimed. If you claimed it, run `postern login`", c.project)
	}
	return fault.New(fault.Unauthenticated, "invalid_token", "POSTERN_TOKEN isn't valid for %s, or its workspace has "+
		"expired or been claimed: set it to a valid token, or unset it and run `postern login`", c.server)
}

// Login returns the caller of a login.
func (s Session) Login(api *client.Client) Caller {
	return Caller{Client: api, server: s.Server, login: true}
}

// Personal returns the client of the signed-in account, or nil.
func (s Session) Personal() (*Caller, error) {
	if s.Token != "" {
		api, err := s.Client(s.Token)
		return &Caller{Client: api, server: s.Server, workspace: strings.HasPrefix(s.Token, workspaceKeyPrefix)}, err
	}
	kept, err := s.Kept.LoginOf(s.Server)
	if err != nil || kept == nil {
		return nil, err
	}
	api, err := s.Client(kept.Token)
	return new(s.Login(api)), err
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
		err = s.NotSignedIn(": run `postern login`, or set POSTERN_TOKEN to an access token")
	}
	return c, err
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
		err = s.noCredential()
	}
	return list, err
}

func (s Session) with(workspaces []credentials.Workspace) ([]Caller, error) {
	var list []Caller
	for _, w := range workspaces {
		api, err := s.Client(w.Key)
		if err != nil {
			return nil, err
		}
		list = append(list, Caller{Client: api, server: s.Server, project: w.Project, workspace: true})
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
				refused = c.Explained(err)
			}
		default:
			return out, c.Explained(err)
		}
	}
	var none T
	return none, refused
}

// claimHint is how a project gets into reach that another program created without an account.
func claimHint(callers []Caller) string {
	run := "run `postern login` and then `postern claim URL`"
	if slices.ContainsFunc(callers, func(c Caller) bool { return !c.workspace }) { // an account is signed in
		run = "run `postern claim URL`"
	}
	return "\nIf you created it with curl, without an account, " + run + " with the claim URL from the response. Or " +
		"set POSTERN_TOKEN to the workspace_key from the response"
}

// OnProject tries a call with each credential that may be valid for a project.
func OnProject[T any](
	ctx context.Context, s Session, project string, call func(context.Context, Caller) (T, error),
) (T, error) {
	callers, err := s.callersOf(project)
	if err != nil {
		var none T
		return none, err
	}
	return firstOf(ctx, callers, fmt.Sprintf("project %q", project), claimHint(callers), call)
}

// OnAny tries a call about a thing with each of the session's credentials. hint says where to find its name.
func OnAny[T any](
	ctx context.Context, s Session, what, hint string, call func(context.Context, Caller) (T, error),
) (T, error) {
	callers, err := s.Callers()
	if err != nil {
		var none T
		return none, err
	}
	return firstOf(ctx, callers, what, hint, call)
}

// firstOf is First with an error that names what was not found.
func firstOf[T any](
	ctx context.Context, callers []Caller, what, hint string, call func(context.Context, Caller) (T, error),
) (T, error) {
	out, err := First(ctx, callers, call)
	if fault.CodeOf(err) == "not_found" {
		return out, fault.New(fault.NotFound, "not_found", "the %s%s%s", what, isAbsent, hint).Because(err)
	}
	return out, err
}

func (s Session) noCredential() error {
	return s.unauthenticated(fmt.Sprintf("no credential for %s is stored on this machine: run `postern login`, create "+
		"a proxy with `postern create`, or set POSTERN_TOKEN", s.Server))
}

// NotSignedIn is the error of a command that acts for an account on a server that no account is signed in to. remedy
// completes its text.
func (s Session) NotSignedIn(remedy string) error {
	return s.unauthenticated("not signed in to " + s.Server + remedy)
}

// unauthenticated returns an error about a missing credential. It names another context that has one, unless a flag or
// a variable chose the server.
func (s Session) unauthenticated(text string) error {
	if s.Source == fromDefault || s.Source == fromCurrent {
		others, _ := s.Kept.Contexts() // the error is about something else
		for _, one := range others {
			if one.Server != s.Server && (one.Account != "" || one.Workspaces > 0) {
				text += fmt.Sprintf(". To use %s, run `postern context use %s`", one.Server, one.Name)
				break
			}
		}
	}
	return fault.New(fault.Unauthenticated, "credentials_required", "%s", text)
}

// Adopt makes the server of the session the current context if it is the only one that something is kept for, unless
// commands use it by default. It says if later commands use another server.
func (s Session) Adopt(t terminal.Terminal) error {
	used, _, err := usualServer(t, s.Kept)
	if err != nil || used == s.Server {
		return err
	}
	current, err := s.Kept.Current()
	if err != nil {
		return err
	}
	contexts, err := s.Kept.Contexts()
	if err != nil {
		return err
	}
	if current == "" && len(contexts) == 1 {
		if err := s.Kept.Use(s.Server); err != nil {
			return err
		}
		fmt.Fprintf(t.Err, "Commands now use %s.\n", s.Server)
		return nil
	}
	fmt.Fprintf(t.Err, "Commands still use %s. To use %s, run `postern context use %s`.\n", used, s.Server, s.Server)
	return nil
}
