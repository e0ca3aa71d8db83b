package app_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"postern/app"
	"postern/models"
	"postern/platform/config"
	"postern/testkit"
	"postern/testkit/ports"
	"postern/testkit/state"
)

// Every goroutine that an App starts ends with it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func settings(dir, databaseURL string) config.Config {
	c := config.Default()
	c.ControlAddr = "127.0.0.1:0"
	c.GatewayAddr = "127.0.0.1:0"
	c.DataDir = dir
	c.DatabaseURL = config.Secret(databaseURL)
	c.Drain = 0
	state.Wait(&c)
	return c
}

func newApp(t *testing.T, c config.Config) *app.App {
	t.Helper()
	a, err := app.New(t.Context(), c, "test", slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// refused returns the error of a start, and checks that it has one line.
func refused(t *testing.T, c config.Config) string {
	t.Helper()
	a, err := app.New(t.Context(), c, "test", slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err == nil {
		t.Fatalf("started all the same; closing it gave %v", a.Close())
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line: %q", err)
	}
	return err.Error()
}

// during runs the app while fn does something with it, and stops it.
func during(t *testing.T, a *app.App, fn func(browser *http.Client)) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("stop: %v", err)
		}
	}()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Transport: &http.Transport{}}
	defer browser.CloseIdleConnections()
	fn(browser)
}

func get(t *testing.T, browser *http.Client, address string) (status int, body string) {
	t.Helper()
	answer, err := browser.Get(address)
	return read(t, answer, err)
}

func post(t *testing.T, browser *http.Client, address string, form url.Values) (status int, body string) {
	t.Helper()
	answer, err := browser.PostForm(address, form)
	return read(t, answer, err)
}

func read(t *testing.T, answer *http.Response, err error) (int, string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

var ana = url.Values{"email": {"ana@example.com"}, "name": {"Ana"}, "password": {"four unrelated words"}}

// A stopped server starts again on its state. Until the first account exists, each start
// creates a new link for it, which voids the one before; then there is no link.
func TestRun_again(t *testing.T) {
	testkit.EachDatabase(t, func(t *testing.T, databaseURL string) {
		c := settings(t.TempDir(), databaseURL)
		first := newApp(t, c)
		during(t, first, func(browser *http.Client) {
			if status, body := get(t, browser, first.Config.PublicURL+"/readyz"); status != http.StatusOK {
				t.Errorf("not ready: %d %s", status, body)
			}
			if status, _ := get(t, browser, first.FirstLink); status != http.StatusOK {
				t.Errorf("the sign-in link answers %d", status)
			}
		})

		second := newApp(t, c)
		code := func(link string) string { return link[strings.LastIndex(link, "/")+1:] }
		if second.FirstLink == "" || code(second.FirstLink) == code(first.FirstLink) {
			t.Fatal("no new sign-in link although there is no account")
		}
		during(t, second, func(browser *http.Client) {
			voided := second.Config.PublicURL + "/welcome/" + code(first.FirstLink)
			if status, _ := post(t, browser, voided, ana); status != http.StatusGone {
				t.Errorf("the link of the start before answers %d", status)
			}
			if status, body := post(t, browser, second.FirstLink, ana); status != http.StatusOK ||
				!strings.Contains(body, "Projects") {
				t.Errorf("the first account: %d %s", status, body)
			}
		})

		third := newApp(t, c)
		if third.FirstLink != "" {
			t.Error("a sign-in link although there is an account")
		}
		during(t, third, func(browser *http.Client) {
			credentials := url.Values{"email": ana["email"], "password": ana["password"]}
			status, body := post(t, browser, third.Config.PublicURL+"/signin", credentials)
			if status != http.StatusOK || !strings.Contains(body, "Projects") {
				t.Errorf("the account of the start before cannot sign in: %d %s", status, body)
			}
		})
	})
}

func TestNew_notRun(t *testing.T) {
	testkit.EachDatabase(t, func(t *testing.T, databaseURL string) {
		c := settings(t.TempDir(), databaseURL)
		c.ControlAddr, c.GatewayAddr = ports.Address(t), ports.Address(t)
		a := newApp(t, c)
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		if err := newApp(t, c).Close(); err != nil { // same ports, same data directory
			t.Error(err)
		}
	})
}

func TestNew_portInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	busy := taken.Addr().String()
	for flag, take := range testkit.ByName(map[string]func(*config.Config){
		"--control-addr": func(c *config.Config) { c.ControlAddr = busy },
		"--gateway-addr": func(c *config.Config) { c.GatewayAddr = busy },
	}) {
		c := settings(t.TempDir(), "")
		take(&c)
		if got := refused(t, c); !strings.Contains(got, busy+" is in use") || !strings.Contains(got, flag) {
			t.Errorf("%s: %s", flag, got)
		}
		if err := newApp(t, settings(c.DataDir, "")).Close(); err != nil {
			t.Errorf("%s: started elsewhere: %v", flag, err)
		}
	}
}

// Two servers on one SQLite file would overwrite each other's files of exports.
func TestNew_secondServer(t *testing.T) {
	c := settings(t.TempDir(), "")
	during(t, newApp(t, c), func(*http.Client) {
		if got := refused(t, c); !strings.Contains(got, "is using the data directory "+c.DataDir) {
			t.Error(got)
		}
	})
	if err := newApp(t, c).Close(); err != nil {
		t.Errorf("after the first has stopped: %v", err)
	}
}

// An import of a process that was killed is in no one's way after the next start.
func TestRun_unfinishedImports(t *testing.T) {
	c := settings(t.TempDir(), "")
	if err := newApp(t, c).Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, c, "INSERT INTO teams (id, name, claimed_at, created_at) VALUES "+
		"('imp_0', 'Import', '2026-01-01', '2026-01-01')")
	during(t, newApp(t, c), func(*http.Client) {
		db, err := models.Open(t.Context(), "", c.SQLitePath())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		testkit.Eventually(t, "its team is removed", func() bool {
			_, err := db.Read(t.Context()).TeamByID("imp_0")
			return errors.Is(err, models.ErrNotFound)
		})
	})
}
