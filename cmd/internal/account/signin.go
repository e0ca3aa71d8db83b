package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/credentials"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
	"postern/platform/fault"
)

type loginFlags struct {
	browser, claim bool
	name           string
	scopes         []string
}

// SignIn returns the commands that connect this machine to an account.
func SignIn(t terminal.Terminal) []*cobra.Command {
	return []*cobra.Command{newLogin(t), newLogout(t), newWhoami(t), newContext(t), newClaim(t)}
}

func newLogin(t terminal.Terminal) *cobra.Command {
	var f loginFlags
	command := &cobra.Command{
		Use:   "login [URL]",
		Short: "Sign in to a server through a browser",
		Long: `Sign in to the server at URL. The command prints a link and a code. Open the
link in a browser on any machine, sign in and enter the code.

After you sign in, other commands use this server. Without a URL, you sign in to the
current server. To show or change the current server, use postern context.

Access tokens are stored in your configuration directory, one per server. To choose
another directory, set POSTERN_CONFIG_DIR. Tokens expire after 90 days. To revoke
one earlier, use postern logout. If POSTERN_TOKEN is set, commands use it instead.`,
		Example: `  postern login https://postern.example.com
  postern login --browser`,
		Args: terminal.AtMost("URL"),
		RunE: func(c *cobra.Command, args []string) error {
			server := c.Flag("server").Value.String()
			if err := terminal.SameAs(c, "/server", &server, "--server", args); err != nil {
				return err
			}
			if _, err := client.Address(server); len(args) > 0 && err != nil {
				return terminal.UsageError("URL must be an http or https URL such as https://postern.example.com")
			}
			s, err := cli.SessionAt(t, server)
			if err != nil {
				return err
			}
			return signInAs(c.Context(), t, s, f)
		},
	}
	flags := command.Flags()
	flags.BoolVar(&f.browser, "browser", false, "open the link in a browser on this machine")
	flags.BoolVar(&f.claim, "claim", false, "claim the workspaces created on this machine, without asking")
	flags.StringVar(&f.name, "name", "", "name of this machine on the approval page. Defaults to your user name and "+
		"the host name")
	flags.StringSliceVar(&f.scopes, "scopes", nil, "scopes of the token: read, write, keys, export, users or admin. "+
		"Defaults to all")
	terminal.NamePointer(command, "/scopes", "--scopes")
	terminal.NamePointer(command, "/machine", "--name")
	terminal.Described(command, [2]string{"URL", "URL of the server"})
	cli.AddServerFlag(command)
	return command
}

// machineName is the default name of a login: user and host.
func machineName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "a machine"
	}
	if who, err := user.Current(); err == nil && who.Username != "" {
		host = who.Username + "@" + host
	}
	name := []rune(terminal.Printable(host))
	return string(name[:min(len(name), 80)])
}

func signInAs(ctx context.Context, t terminal.Terminal, s cli.Session, f loginFlags) error {
	if s.Token != "" {
		fmt.Fprintln(t.Err, "POSTERN_TOKEN is set and overrides this sign-in.")
	}
	if err := s.Kept.Prepare(); err != nil { // before the sign-in starts
		return fmt.Errorf("cannot store credentials (%w): set POSTERN_CONFIG_DIR to another directory", err)
	}
	before, err := s.Kept.LoginOf(s.Server)
	if err != nil {
		return err
	}
	grant, err := approve(ctx, t, s, f)
	if err != nil {
		return err
	}
	api, err := s.Client(grant.AccessToken.Reveal())
	if err != nil {
		return err
	}
	who, err := client.Do(ctx, api, contract.GetWhoami, contract.None{})
	if err != nil {
		return err
	}
	kept := credentials.Login{Token: grant.AccessToken.Reveal()}
	if who.Account != nil {
		kept.Account = who.Account.Email
	}
	if who.Token != nil {
		kept.ExpiresAt = who.Token.ExpiresAt
	}
	used, err := s.Kept.Current()
	if err != nil {
		return err
	}
	if err := s.Kept.KeepLogin(s.Server, &kept); err != nil {
		return errors.Join(err, revokeOwn(ctx, s.Server, kept.Token))
	}
	if before != nil { // the replaced token is no longer stored anywhere
		if err := revokeOwn(ctx, s.Server, before.Token); err != nil && fault.KindOf(err) != fault.Unauthenticated {
			fmt.Fprintln(t.Err, "The token from your previous sign-in couldn't be revoked. Revoke it in the "+
				"dashboard, under Access tokens.")
		}
	}
	fmt.Fprintf(t.Out, "Signed in to %s as %s until %s.\n", s.Server, terminal.Printable(kept.Account),
		terminal.When(kept.ExpiresAt))
	if used != s.Server {
		fmt.Fprintln(t.Out, "Commands now use this server. To change that, run `postern context use`.")
	}
	return offerClaims(ctx, t, s, s.Login(api), who, f.claim)
}

// approve prints the code and waits until it is approved in a browser.
func approve(ctx context.Context, t terminal.Terminal, s cli.Session, f loginFlags) (contract.DeviceToken, error) {
	api, err := s.Client("")
	if err != nil {
		return contract.DeviceToken{}, err
	}
	device, err := api.BeginDevice(ctx, cmp.Or(f.name, machineName()), f.scopes)
	if err != nil {
		return contract.DeviceToken{}, err
	}
	fmt.Fprintf(
		t.Out, "Open %s and enter the code\n\n    %s\n\nor open %s\n", terminal.Printable(device.VerificationURI),
		terminal.Printable(device.UserCode), terminal.Printable(device.VerificationURIComplete),
	)
	fmt.Fprintf(t.Out, "Waiting up to %d minutes for your approval.\n", device.ExpiresIn/int(time.Minute/time.Second))
	if f.browser {
		if err := openBrowser(ctx, device.VerificationURIComplete); err != nil {
			fmt.Fprintf(t.Err, "Could not open a browser (%v). Open the URL yourself.\n", err)
		}
	}
	return api.AwaitDevice(ctx, device)
}

// openBrowser opens http and https URLs only, since the URL comes from a server.
func openBrowser(ctx context.Context, address string) error {
	if !strings.HasPrefix(address, "http://") && !strings.HasPrefix(address, "https://") {
		return errors.New("the server's response doesn't have an http or https URL")
	}
	program, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		program = "open"
	case "windows":
		program, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	return exec.CommandContext(ctx, program, args...).Start() //nolint:gosec // a web URL, see above
}

// revokeOwn revokes a token with the token itself.
func revokeOwn(ctx context.Context, server, token string) error {
	api, err := client.New(server, token)
	if err != nil {
		return err
	}
	who, err := client.Do(ctx, api, contract.GetWhoami, contract.None{})
	if err != nil || who.Token == nil {
		return err
	}
	_, err = client.Do(ctx, api, contract.RevokeToken, contract.TokenPath{Token: who.Token.ID})
	return err
}

func newLogout(t terminal.Terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "logout",
		Short: "Sign out and revoke this machine's access token",
		Args:  terminal.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := cli.SessionAt(t, c.Flag("server").Value.String())
			if err != nil {
				return err
			}
			kept, err := s.Kept.LoginOf(s.Server)
			if err != nil {
				return err
			}
			if kept == nil {
				return s.NotSignedIn("")
			}
			// A kept token can be revoked later; a removed one cannot.
			if err := revokeOwn(c.Context(), s.Server, kept.Token); err != nil &&
				fault.KindOf(err) != fault.Unauthenticated {
				return fmt.Errorf("could not revoke the token, so you are still signed in: %w", err)
			}
			if err := s.Kept.KeepLogin(s.Server, nil); err != nil {
				return err
			}
			_, err = fmt.Fprintf(t.Out, "Signed out of %s.\n", s.Server)
			return err
		},
	}
	cli.AddServerFlag(command)
	return command
}

func newWhoami(t terminal.Terminal) *cobra.Command {
	var in contract.None
	op := contract.GetWhoami.Operation
	op.Summary = "Show your account, teams and access token"
	command := cli.RequestCommand(t, cli.AsPerson, op, &in, func(c *cobra.Command, api *client.Client) error {
		who, err := client.Do(c.Context(), api, contract.GetWhoami, in)
		if err != nil {
			return err
		}
		if terminal.WantsJSON(c) {
			return terminal.PrintJSON(t.Out, who)
		}
		s, err := cli.OpenSession(t, c)
		if err != nil {
			return err
		}
		return printWhoami(t, s.Server, who)
	})
	terminal.AddJSONFlag(command)
	return command
}

func printWhoami(t terminal.Terminal, server string, who contract.Whoami) error {
	return terminal.Details(t.Out, func(row func(...string)) {
		row("Server", server)
		if who.Account != nil {
			row("Account", who.Account.Name+" <"+who.Account.Email+">")
		}
		for _, team := range who.Teams {
			row("Team", team.Name+" ("+team.Role+")", team.ID)
		}
		if who.Token != nil {
			row("Token", who.Token.Name+" ("+who.Token.Kind+")", who.Token.ID)
			if len(who.Token.Scopes) > 0 {
				row("Scopes", strings.Join(who.Token.Scopes, ", "))
			}
			row("Expires", terminal.OrNever(who.Token.ExpiresAt))
		}
	})
}
