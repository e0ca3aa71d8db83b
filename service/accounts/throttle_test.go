package accounts_test

import (
	"fmt"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/service/access"
	"postern/service/accounts"
	"postern/testkit"
	"postern/testkit/state"
)

// Strangers at the address of a signed-in owner don't use up the owner's attempts. Anyone who has a session or token
// still can't guess the password without end.
func TestStepUp_throttled(t *testing.T) {
	type stepUp func(o *testTeam, p access.Principal, word string) error
	for name, tt := range testkit.ByName(map[string]struct {
		try    stepUp
		passes string // code of the error with the right password
	}{
		"change the password": {try: func(o *testTeam, p access.Principal, word string) error {
			return o.s.ChangePassword(o.t.Context(), p, word, password, false)
		}},
		"export secrets": {try: func(o *testTeam, p access.Principal, word string) error {
			return o.s.Prove(o.t.Context(), p, word)
		}},
		"change the email address": {try: func(o *testTeam, p access.Principal, word string) error {
			_, err := o.s.UpdateProfile(o.t.Context(), p, contract.AccountUpdate{Body: contract.AccountChange{
				Email: new("ana@lopez.example"), Password: contract.Secret(word),
			}})
			return err
		}},
		"delete the account": {passes: "only_owner", try: func(o *testTeam, p access.Principal, word string) error {
			return o.deleteAccount(p, "ana@example.com", word)
		}},
	}) {
		t.Run(name, func(t *testing.T) {
			state.Each(t, func(t *testing.T, db *models.DB) {
				o := newTestTeam(t, db)
				at := accounts.From{RemoteAddr: "192.0.2.1:1"}
				here, there := o.ana, o.who(mustSignIn(t, o.s, "ana@example.com"))
				here.RemoteAddr, there.RemoteAddr = at.RemoteAddr, at.RemoteAddr
				var last error
				for i := range 31 {
					_, last = o.s.SignIn(t.Context(), fmt.Sprintf("stranger%d@example.com", i), "guess", at)
				}
				wants(t, "the last stranger", last, "too_many_attempts")
				for range 10 {
					wants(t, "a guess with a session", tt.try(o, here, "guess"), "wrong_password")
				}
				wants(t, "the eleventh", tt.try(o, here, password), "too_many_attempts")
				wants(t, "another session of the owner", tt.try(o, there, password), tt.passes)
			})
		})
	}
}

// All access tokens of an account have the attempts of one session, because a session can create any number of them.
func TestStepUp_tokens(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newTestTeam(t, db)
		prove := func(token int, word string) error {
			p := access.Principal{Account: o.ana.Account, Token: fmt.Sprint("tok_", token), Scoped: true}
			return o.s.Prove(t.Context(), p, word)
		}
		for i := range 10 {
			wants(t, "a guess with a token", prove(i, "guess"), "wrong_password")
		}
		wants(t, "an eleventh token", prove(10, password), "too_many_attempts")
		wants(t, "the owner's session", o.s.Prove(t.Context(), o.ana, password), "")
	})
}

// The right password doesn't count.
func TestStepUp_rightPassword(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newTestTeam(t, db)
		for range 12 {
			wants(t, "the right password", o.s.Prove(t.Context(), o.ana, password), "")
			wants(t, "the same one again", o.s.ChangePassword(t.Context(), o.ana, password, password, false), "")
		}
		for range 10 {
			wants(t, "a guess", o.s.Prove(t.Context(), o.ana, "guess"), "wrong_password")
		}
		wants(t, "the eleventh", o.s.Prove(t.Context(), o.ana, password), "too_many_attempts")
	})
}

// All sessions of an account have 100 attempts together.
func TestStepUp_manySessions(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newTestTeam(t, db)
		for i := range 100 {
			p := o.ana
			p.Token = fmt.Sprint("ses_", i/10)
			wants(t, "a guess", o.s.Prove(t.Context(), p, "guess"), "wrong_password")
		}
		wants(t, "the 101st", o.s.Prove(t.Context(), o.ana, password), "too_many_attempts")
	})
}

// Strangers at the address of a signed-in owner don't keep the owner from linking a sign-in, which has a limit too.
func TestBeginFederated_linkThrottled(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newTestTeam(t, db)
		from := accounts.From{RemoteAddr: "192.0.2.1:1"}
		begin := func(p access.Principal) error {
			_, err := o.s.BeginFederated(t.Context(), p, "github", accounts.NewBrowserSecret(), from)
			return err
		}
		for range 30 {
			wants(t, "a stranger", begin(access.Principal{}), "")
		}
		wants(t, "the 31st", begin(access.Principal{}), "too_many_attempts")
		for range 10 {
			wants(t, "the owner", begin(o.ana), "")
		}
		wants(t, "the owner's eleventh", begin(o.ana), "too_many_attempts")
	})
}
