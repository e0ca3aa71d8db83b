package controlplane

import (
	"crypto/rand"
	"crypto/sha256"
	"testing"
	"time"

	"postern/models"
	"postern/service/access"
	"postern/service/accounts"
)

// createPeople creates a team with two owners, a member to act on and an open invitation;
// and for the owner an invitation to another team, a session and a linked sign-in.
func (o *Fixture) createPeople(t testing.TB, has *Objects) {
	t.Helper()
	now := models.Now()
	has.Team, has.account = o.createTeam(t, "Team"), o.createTom(t)
	host := o.createTom(t) // the other owner: invitations end with the account that created them
	for i, member := range []models.Membership{
		{AccountID: o.Principal.Account, Role: string(access.Owner)},
		{AccountID: host, Role: string(access.Owner)},
		{AccountID: has.account, Role: string(access.Member)},
		{AccountID: o.MemberIDs[access.Member], Role: string(access.Member)},
		{AccountID: o.MemberIDs[access.Viewer], Role: string(access.Viewer)},
	} {
		member.TeamID, member.CreatedAt = has.Team, now.Add(time.Duration(i)*time.Millisecond) // in this order
		o.insert(t, &member)
	}
	has.invitation, _ = o.invite(t, has.Team, host)
	other := o.createTeam(t, "Team")
	o.insert(t, &models.Membership{TeamID: other, AccountID: host, Role: string(access.Owner), CreatedAt: now})
	_, has.invite = o.invite(t, other, host)

	until, sum := now.Add(accounts.SessionTTL), sha256.Sum256([]byte(has.Team))
	session := models.Token{
		ID:        models.NewID("ses"),
		Kind:      "session",
		AccountID: &o.Principal.Account,
		Hash:      sum[:],
		CreatedAt: now,
		ExpiresAt: &until,
	}
	identity := models.LinkedAccount{
		ID:        models.NewID("idn"),
		AccountID: o.Principal.Account,
		Issuer:    "https://id.example",
		Subject:   has.Team,
		CreatedAt: now,
		SeenAt:    now,
	}
	o.insert(t, &session, &identity)
	has.session, has.identity = session.ID, identity.ID
}

// createTom creates an account without a team.
func (o *Fixture) createTom(t testing.TB) (id string) {
	t.Helper()
	row := models.Account{ID: models.NewID("acc"), Name: "Tom", CreatedAt: models.Now()}
	row.Email = row.ID + "@example.com"
	o.insert(t, &row)
	return row.ID
}

func (o *Fixture) invite(t testing.TB, team, by string) (id, code string) {
	t.Helper()
	now, code := models.Now(), rand.Text()
	sum := sha256.Sum256([]byte(code))
	row := models.Invitation{
		ID:        models.NewID("inv"),
		TeamID:    team,
		Role:      "member",
		CodeHash:  sum[:],
		CreatedBy: by,
		CreatedAt: now,
		ExpiresAt: now.Add(accounts.InvitationTTL),
	}
	o.insert(t, &row)
	return row.ID, code
}
