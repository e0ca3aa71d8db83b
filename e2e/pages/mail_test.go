package pages

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"postern/app"
	"postern/e2e/harness"
	"postern/models"
	"postern/platform/config"
	"postern/testkit/servers"
)

// startMailing starts a server that sends mail, with a first account.
func startMailing(t *testing.T) (*app.App, *servers.SMTP) {
	t.Helper()
	mails := servers.StartSMTP(t, servers.SMTPOptions{})
	host, port, err := net.SplitHostPort(mails.Addr)
	if err != nil {
		t.Fatal(err)
	}
	server := harness.StartWith(t, func(c *config.Config) {
		c.Mail = config.Mail{Host: host, Port: port, TLS: config.MailPlain, From: "Postern <postern@example.com>"}
	})
	visitor(t).fills(t, server.FirstLink, "email", "ana@example.com", "name", "Ana", "password", "four unrelated words")
	return server, mails
}

func linkIn(t *testing.T, m servers.Mail, prefix string) string {
	t.Helper()
	link, err := m.Link(prefix)
	if err != nil {
		t.Fatalf("%v %s in:\n%s", err, prefix, m.Text)
	}
	return link
}

// A forgotten password is replaced through a mailed link, whatever the request says about its host.
func TestMail_recovery(t *testing.T) {
	server, mails := startMailing(t)
	public := server.Config.PublicURL
	signedIn := visitor(t)
	signedIn.fills(t, public+"/signin", "email", "ana@example.com", "password", "four unrelated words")

	forgetful := visitor(t)
	forgetful.fills(t, public+"/recover", "email", "unknown@example.com")
	mails.Refuse(1) // the first attempt fails
	hostile, err := http.NewRequest(http.MethodPost, public+"/recover",
		strings.NewReader(url.Values{"email": {"Ana@Example.com "}}.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	hostile.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	hostile.Host = "evil.example"
	if answer, err := forgetful.Do(hostile); err != nil {
		t.Fatal(err)
	} else {
		answer.Body.Close()
	}
	forgetful.fills(t, public+"/recover", "email", "ana@example.com")
	got := mails.Wait(t, 1)
	if got[0].To != "ana@example.com" || got[0].From != "postern@example.com" {
		t.Errorf("mail from %s to %s", got[0].From, got[0].To)
	}
	link := linkIn(t, got[0], public+"/recover/")
	code := link[strings.LastIndex(link, "/")+1:]
	jobs := storedJobs(t, server)
	if strings.Contains(jobs, code) || !strings.Contains(jobs, "recovery_mail") {
		t.Errorf("jobs with the code, or none: %s", jobs)
	}

	forgetful.fills(t, link, "password", "five words that are new")
	if status := forgetful.visit(t, public+"/projects"); status != http.StatusOK {
		t.Errorf("after the new password: %d", status)
	}
	if status := visitor(t).visit(t, link); status != http.StatusGone {
		t.Errorf("the link again: %d", status)
	}
	if answer, err := signedIn.Get(public + "/projects"); err != nil || answer.Request.URL.Path != "/signin" {
		t.Errorf("the earlier session goes on: %v", err)
	}
	if all := mails.Messages(); len(all) != 1 {
		t.Errorf("%d messages, want 1: the address without an account gets none", len(all))
	}
}

// storedJobs returns the kinds, arguments and errors of all jobs.
func storedJobs(t *testing.T, server *app.App) string {
	t.Helper()
	db, err := models.Open(t.Context(), server.Config.DatabaseURL.Reveal(), server.Config.SQLitePath())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.SQL().Query("SELECT kind, args, errors FROM river_job")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var all strings.Builder
	for rows.Next() {
		var kind string
		var args, errs []byte
		if err := rows.Scan(&kind, &args, &errs); err != nil {
			t.Fatal(err)
		}
		all.WriteString(kind + " " + string(args) + " " + string(errs) + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// An invitation with an address is mailed, and its link is enough to join with a password.
func TestMail_invitation(t *testing.T) {
	server, mails := startMailing(t)
	public := server.Config.PublicURL
	owner := visitor(t)
	owner.fills(t, public+"/signin", "email", "ana@example.com", "password", "four unrelated words")
	team := firstTeam(t, server)
	answer, err := owner.Post(public+"/api/v1/teams/"+team+"/invitations", "application/json",
		strings.NewReader(`{"role": "member", "email": "bob@example.com"}`))
	if err != nil {
		t.Fatal(err)
	}
	shown, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil || answer.StatusCode != http.StatusCreated || strings.Contains(string(shown), "/invite/") {
		t.Errorf("answered %s, %v, want 201 without the link: %s", answer.Status, err, shown)
	}
	got := mails.Wait(t, 1)
	if got[0].To != "bob@example.com" || !strings.Contains(got[0].Text, "ana@example.com invited you") {
		t.Errorf("mail to %s:\n%s", got[0].To, got[0].Text)
	}
	link := linkIn(t, got[0], public+"/invite/")
	if status := visitor(t).visit(t, link); status != http.StatusOK {
		t.Errorf("the invitation gets %d", status)
	}
	invited := visitor(t)
	invited.fills(t, public+"/signup", "next", strings.TrimPrefix(link, public), "email", "bob@example.com",
		"name", "Bob", "password", "four unrelated words")
	if status := invited.visit(t, public+"/teams/"+team); status != http.StatusOK {
		t.Errorf("the team's page for the invited: %d", status)
	}
}

func firstTeam(t *testing.T, server *app.App) string {
	t.Helper()
	db, err := models.Open(t.Context(), server.Config.DatabaseURL.Reveal(), server.Config.SQLitePath())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var id string
	if err := db.SQL().QueryRow("SELECT team_id FROM memberships").Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}
