package controlplane

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"postern/handlers"
	"postern/handlers/web"
	"postern/models"
	"postern/service/access"
	"postern/service/accounts"
	"postern/service/domains"
	"postern/testkit/servers"
	"postern/views/ui"
)

// Fixture is a control plane with accounts in every role. A caller is the header that it
// sends: name, value, name, value….
type Fixture struct {
	DB      *models.DB
	Server  *handlers.Server
	Handler http.Handler
	Names   *servers.NameServer // that the server looks TXT records up at

	Team      string           // id of the owner's team
	Principal access.Principal // the owner
	Owner     []string
	Members   map[access.Role][]string // the other accounts of the team
	MemberIDs map[access.Role]string   // their ids

	Outsider        []string // an account with its own team
	OutsiderObjects Objects  // that team, and a project in it
	OtherWorkspace  []string // the key of another, unclaimed workspace

	number int // of the objects that were created last
}

// NewFixture returns a control plane on db, which must have no accounts yet.
func NewFixture(t testing.TB, db *models.DB) *Fixture {
	t.Helper()
	o := &Fixture{
		DB:        db,
		Server:    NewServer(t, db),
		Names:     servers.StartNameServer(t),
		Members:   map[access.Role][]string{},
		MemberIDs: map[access.Role]string{},
	}
	o.Server.Domains.Resolver = domains.DNS{Server: o.Names.Addr}
	o.Handler = o.Server.Handler()
	o.Owner = SignUpOwner(t, o.Server)
	o.Principal = o.principalOf(t, o.Owner)
	o.Team = o.Principal.HomeTeam
	o.addMember(t, "mia", access.Member)
	o.addMember(t, "vic", access.Viewer)
	o.addOutsiders(t)
	return o
}

func (o *Fixture) addMember(t testing.TB, name string, role access.Role) {
	t.Helper()
	o.Members[role] = o.createAccount(t, name, o.Team, role)
	o.MemberIDs[role] = o.principalOf(t, o.Members[role]).Account
}

func (o *Fixture) addOutsiders(t testing.TB) {
	t.Helper()
	team := o.createTeam(t, "Others")
	o.Outsider = o.createAccount(t, "sam", team, access.Owner)
	project := o.CreateProject(t, o.principalOf(t, o.Outsider), "theirs").Project
	o.OutsiderObjects = Objects{Project: project.ID, ProjectName: project.Name, Team: team}
	workspace := o.CreateProject(t, access.Principal{}, "").Workspace
	o.OtherWorkspace = []string{"Authorization", "Bearer " + workspace.Key}
}

// NewMember adds an account with a role to the owner's team. It returns the caller, and the account's id.
func (o *Fixture) NewMember(t testing.TB, role access.Role) (caller []string, id string) {
	t.Helper()
	o.number++
	caller = o.createAccount(t, fmt.Sprintf("member-%d", o.number), o.Team, role)
	return caller, o.principalOf(t, caller).Account
}

// NewTeamOwner returns the owner of a new team, who has no account.
func (o *Fixture) NewTeamOwner(t testing.TB) access.Principal {
	t.Helper()
	team := o.createTeam(t, "Shop")
	return access.Principal{Account: "acc_1", Roles: map[string]access.Role{team: access.Owner}, HomeTeam: team}
}

// Do sends a request as a caller: JSON to the API; to pages as a browser does, and a form
// with a valid nonce.
func (o *Fixture) Do(t testing.TB, method, path, body string, caller []string) Response {
	t.Helper()
	header := caller
	if !IsAPI(path) {
		header = append([]string{"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html"}, caller...)
		if method == http.MethodPost {
			_, session, _ := strings.Cut(strings.Join(caller, " "), cookie("")[1])
			body += "&" + ui.NonceField + "=" + web.FormNonce(session, path, "") // for any state
		}
	}
	return Call(t, o.Handler, method, path, "", body, header...)
}

// KeepSession has the owner use the session that an answer sets, if it sets one: after a change of the password the
// session has another secret.
func (o *Fixture) KeepSession(got Response) {
	for _, c := range (&http.Response{Header: got.Header}).Cookies() {
		if c.Name == "postern" {
			o.Owner = cookie(c.Value)
		}
	}
}

// cookie returns the header of a session's secret.
func cookie(session string) []string { return []string{"Cookie", "postern=" + session} }

// principalOf returns the principal of an account.
func (o *Fixture) principalOf(t testing.TB, caller []string) access.Principal {
	t.Helper()
	p, err := o.Server.Accounts.BySession(t.Context(), strings.TrimPrefix(caller[1], cookie("")[1]))
	if err != nil || p.Anonymous() {
		t.Fatalf("no principal: %v", err)
	}
	return p
}

// createAccount creates an account with a role in a team and signs it in.
func (o *Fixture) createAccount(t testing.TB, name, team string, role access.Role) (caller []string) {
	t.Helper()
	now, session := models.Now(), "session-of-"+name
	until, sum := now.Add(accounts.SessionTTL), sha256.Sum256([]byte(session))
	account := models.Account{
		ID:           models.NewID("acc"),
		Email:        name + "@example.com",
		Name:         name,
		PasswordHash: "none",
		CreatedAt:    now,
	}
	o.insert(t,
		&account,
		&models.Membership{TeamID: team, AccountID: account.ID, Role: string(role), CreatedAt: now},
		&models.Token{
			ID:        models.NewID("ses"),
			Kind:      "session",
			AccountID: &account.ID,
			Hash:      sum[:],
			CreatedAt: now,
			ExpiresAt: &until,
		},
	)
	return cookie(session)
}

func (o *Fixture) createTeam(t testing.TB, name string) (id string) {
	t.Helper()
	now := models.Now()
	row := models.Team{ID: models.NewID("team"), Name: name, ClaimedAt: &now, CreatedAt: now}
	o.insert(t, &row)
	return row.ID
}

func (o *Fixture) insert(t testing.TB, rows ...any) {
	t.Helper()
	must(t, o.DB.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(rows...) }))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
