package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
)

func newUserSessions(t terminal) *cobra.Command {
	var options client.ListOptions
	list := listing(
		t,
		asHolder,
		"list",
		"List a user's sessions, newest first",
		func(ctx context.Context, api *client.Client, args []string) ([]client.UserSession, error) {
			return collect(api.UserSessions(ctx, args[0], options))
		},
		[]string{"ID", "APP CLIENT", "PROVIDER", "SIGNED IN", "LAST SEEN", "BROWSER"},
		func(s client.UserSession) []string {
			return []string{s.ID, s.ClientName, s.Provider, when(&s.CreatedAt), orNever(s.LastSeenAt), s.UserAgent}
		},
		"USER",
	)
	sortFlag(list, &options.Sort, "created", "last_seen", "expires")
	return family(
		"sessions",
		"List and end the sessions of a user",
		list,
		none(
			t,
			asHolder,
			"end",
			"End a session: its tokens are refused at once",
			[]string{"USER", "SESSION"},
			func(ctx context.Context, api *client.Client, args []string) error {
				return api.EndUserSession(ctx, args[0], args[1])
			},
			"%s is ended.",
		),
		one(
			t,
			asHolder,
			"end-all",
			"End all sessions of a user: their tokens are refused at once",
			[]string{"USER"},
			func(ctx context.Context, api *client.Client, args []string) (endedSessions, error) {
				ended, err := api.EndUserSessions(ctx, args[0])
				return endedSessions{ended}, err
			},
			func(s endedSessions) [][2]string { return [][2]string{{"Ended", strconv.FormatInt(s.Ended, 10)}} },
		),
	)
}

// endedSessions is what end-all prints.
type endedSessions struct {
	Ended int64 `json:"ended"`
}

func newConsents(t terminal) *cobra.Command {
	return family(
		"consents",
		"List and withdraw what a user agreed to share",
		listing(
			t,
			asHolder,
			"list",
			"List a user's consents",
			func(ctx context.Context, api *client.Client, args []string) ([]client.Consent, error) {
				return collect(api.Consents(ctx, args[0]))
			},
			[]string{"APP CLIENT", "ID", "SCOPES", "SINCE"},
			func(c client.Consent) []string {
				return []string{c.ClientName, c.Client, strings.Join(c.Scopes, " "), when(&c.CreatedAt)}
			},
			"USER",
		),
		none(
			t,
			asHolder,
			"withdraw",
			"Withdraw a user's consent to an app client, and end their sessions there",
			[]string{"USER", "CLIENT"},
			func(ctx context.Context, api *client.Client, args []string) error {
				return api.WithdrawConsent(ctx, args[0], args[1])
			},
			"The consent to %s is withdrawn.",
		),
	)
}
