package accounts_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/config"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/accounts"
	"postern/testkit/state"
)

func TestMaySignUp_settings(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newTestTeam(t, db)
		for i, tt := range []struct {
			policy     config.AccountSignUp
			ticket     string
			code, none string // what a ticket and no ticket lead to
		}{
			{config.SignUpOpen, "invitation", "", ""},
			{config.SignUpOpen, "claim", "", ""},
			{config.SignUpInvite, "invitation", "", "signup_closed"},
			{config.SignUpInvite, "claim", "", "signup_closed"},
			{"", "claim", "", "signup_closed"}, // the zero policy
			{config.SignUpClosed, "invitation", "signup_closed", "signup_closed"},
			{config.SignUpClosed, "claim", "signup_closed", "signup_closed"},
		} {
			o.s.Policy = tt.policy
			ticket := accounts.Ticket{Invitation: o.invite(access.Member, "")}
			if tt.ticket == "claim" {
				ticket = accounts.Ticket{Claim: o.workspace().ClaimCode}
			}
			in := accounts.SignUp{
				Email:    fmt.Sprintf("with%d@example.com", i),
				Name:     "P",
				Password: password,
				From:     accounts.From{RemoteAddr: fmt.Sprint(i)},
			}
			session, err := o.s.SignUp(t.Context(), in, ticket)
			wants(t, fmt.Sprintf("%s with %s", tt.policy, tt.ticket), err, tt.code)
			if err == nil {
				p := o.who(session)
				if invited := p.Roles[o.team] == access.Member; invited != (tt.ticket == "invitation") ||
					len(p.Roles) != 1 {
					t.Errorf("%s with %s: is in %v", tt.policy, tt.ticket, p.Roles)
				}
			}
			in.Email = fmt.Sprintf("without%d@example.com", i)
			_, err = o.s.SignUp(t.Context(), in, accounts.Ticket{})
			wants(t, fmt.Sprintf("%s without %s", tt.policy, tt.ticket), err, tt.none)
		}
	})
}

func TestSignUp_throttled(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newTestTeam(t, db)
		o.s.Policy = config.SignUpOpen
		in := accounts.SignUp{
			Email:    "ANA@example.com",
			Name:     "Eve",
			Password: password,
			From:     accounts.From{RemoteAddr: "192.0.2.1:1"},
		}
		for range 10 {
			_, err := o.s.SignUp(t.Context(), in, accounts.Ticket{})
			wants(t, "a taken address", err, "email_taken")
		}
		_, err := o.s.SignUp(t.Context(), in, accounts.Ticket{})
		wants(t, "the eleventh time", err, "too_many_attempts")
		for i := range 90 {
			in.From.RemoteAddr = fmt.Sprintf("198.51.100.%d:1", i)
			_, err := o.s.SignUp(t.Context(), in, accounts.Ticket{})
			wants(t, "the same address from elsewhere", err, "email_taken")
		}
		in.From.RemoteAddr = "192.0.2.2:1"
		_, err = o.s.SignUp(t.Context(), in, accounts.Ticket{})
		wants(t, "the same address from everywhere", err, "too_many_attempts")

		o.s.Policy = config.SignUpClosed // costs no hashing
		var last error
		for i := range 40 {
			in.Email, in.From.RemoteAddr = fmt.Sprintf("p%d@example.com", i), fmt.Sprintf("[2001:db8::%x]:1", i)
			_, last = o.s.SignUp(t.Context(), in, accounts.Ticket{})
		}
		wants(t, "many addresses from one network", last, "too_many_attempts")
	})
}

// Signing in to an own account must not reset the count of guesses at others'.
func TestSignUp_throttledAfterSuccess(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newTestTeam(t, db)
		from := accounts.From{RemoteAddr: "192.0.2.1:1"}
		var last error
		for i := range 31 {
			_, last = o.s.SignIn(t.Context(), fmt.Sprintf("victim%d@example.com", i), "guess", from)
			if i == 15 {
				if _, err := o.s.SignIn(t.Context(), "ana@example.com", password, from); err != nil {
					t.Fatal(err)
				}
			}
		}
		wants(t, "the 31st guess", last, "too_many_attempts")
	})
}

func TestSessions_listAndEnd(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newTestTeam(t, db)
		from := accounts.From{RemoteAddr: "192.0.2.7:4711", UserAgent: "Firefox\x00\u202e"}
		var sessions []string
		for range 3 {
			session, err := o.s.SignIn(t.Context(), "ana@example.com", password, from)
			if err != nil {
				t.Fatal(err)
			}
			sessions = append(sessions, session)
		}
		here := o.who(sessions[0])
		list, err := o.s.Sessions(t.Context(), here, contract.SessionList{})
		if err != nil || len(list.Items) != 4 {
			t.Fatalf("%d sessions, %v", len(list.Items), err)
		}
		for _, session := range list.Items {
			if session.Current != (session.ID == here.Token) {
				t.Errorf("current: %+v", session)
			}
		}
		if list.Items[0].UserAgent != "Firefox" || list.Items[0].RemoteAddr != "192.0.2.7" {
			t.Errorf("kept as %+v", list.Items[0])
		}
		bob := o.joins("bob", access.Member)
		_, err = o.s.EndSession(t.Context(), here, contract.SessionPath{Session: bob.Token})
		wants(t, "another's session", err, "not_found")
		second := contract.SessionPath{Session: o.who(sessions[1]).Token}
		if _, err := o.s.EndSession(t.Context(), here, second); err != nil {
			t.Fatal(err)
		}
		if p, err := o.s.BySession(t.Context(), sessions[1]); err != nil || !p.Anonymous() {
			t.Errorf("an ended session is %v, %v", p, err)
		}
		if got, err := o.s.EndOtherSessions(t.Context(), here, contract.None{}); err != nil || got.Ended != 2 {
			t.Errorf("%d others ended, %v", got.Ended, err)
		}
		if p, err := o.s.BySession(t.Context(), sessions[2]); err != nil || !p.Anonymous() {
			t.Errorf("the third session is %v, %v", p, err)
		}
		fresh, err := o.s.Rotate(t.Context(), here)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := o.s.BySession(t.Context(), sessions[0]); err != nil || !p.Anonymous() {
			t.Errorf("the secret before the rotation works: %v, %v", p, err)
		}
		if o.who(fresh).Token != here.Token {
			t.Error("rotating made another session")
		}
		o.who(mustSignIn(t, o.s, "bob@example.com")) // untouched by all that
	})
}

func mustSignIn(t *testing.T, s *accounts.Service, email string) string {
	t.Helper()
	session, err := s.SignIn(t.Context(), email, password, accounts.From{})
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func TestChangePassword(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newTestTeam(t, db)
		elsewhere := mustSignIn(t, o.s, "ana@example.com")
		const next = "another four words"
		wants(t, "a wrong old one", o.s.ChangePassword(t.Context(), o.ana, "wrong", next, false), "wrong_password")
		wants(t, "too short", o.s.ChangePassword(t.Context(), o.ana, password, "short", false), "invalid_password")
		if err := o.s.ChangePassword(t.Context(), o.ana, password, next, false); err != nil {
			t.Fatal(err)
		}
		if p, err := o.s.BySession(t.Context(), elsewhere); err != nil || !p.Anonymous() {
			t.Errorf("the session elsewhere goes on: %v, %v", p, err)
		}
		list, err := o.s.Sessions(t.Context(), o.ana, contract.SessionList{})
		if err != nil || len(list.Items) != 1 || !list.Items[0].Current {
			t.Errorf("left are %v, %v", list, err)
		}
		_, err = o.s.SignIn(t.Context(), "ana@example.com", password, accounts.From{})
		wants(t, "the old password", err, "wrong_password")
		if _, err := o.s.SignIn(t.Context(), "ana@example.com", next, accounts.From{}); err != nil {
			t.Error(err)
		}
		for range 12 {
			err = o.s.ChangePassword(t.Context(), o.ana, "guess", next, false)
		}
		wants(t, "guessing", err, "too_many_attempts")
	})
}

// A workspace is free to make where anonymous callers may: its code must not make
// accounts without end where accounts are by invitation.
func TestSignUp_claimCode(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newTestTeam(t, db)
		ticket := accounts.Ticket{Claim: o.workspace().ClaimCode}
		var in, late atomic.Int32
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				_, err := o.s.SignUp(t.Context(), accounts.SignUp{
					Email:    fmt.Sprintf("p%d@example.com", i),
					Name:     "P",
					Password: password,
					From:     accounts.From{RemoteAddr: fmt.Sprint(i)},
				}, ticket)
				switch {
				case err == nil:
					in.Add(1)
				case fault.CodeOf(err) == "signup_closed":
					late.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if in.Load() != 1 || late.Load() != 3 {
			t.Errorf("%d signed up, %d were late", in.Load(), late.Load())
		}
		if n, err := db.Read(t.Context()).CountAccounts(); err != nil || n != 2 {
			t.Errorf("%d accounts, %v", n, err)
		}
		wants(t, "to ask for the form", o.s.MaySignUp(t.Context(), ticket), "signup_closed")
		if _, err := o.s.PreviewClaim(t.Context(), o.ana, ticket.Claim); err != nil {
			t.Errorf("the code can no longer claim: %v", err)
		}
	})
}
