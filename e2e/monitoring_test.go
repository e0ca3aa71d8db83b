package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
	"postern/testkit"
	"postern/testkit/ports"
	"postern/testkit/servers"
)

const deployed = "../deploy/prometheus"

func TestPrometheus_alerts(t *testing.T) {
	t.Parallel()
	for _, arguments := range [][]string{
		{"check", "config", "prometheus.yaml"},
		{"test", "rules", "rules_test.yaml"},
	} {
		command := exec.Command("promtool", arguments...)
		command.Dir = deployed
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v (tools/setup installs Prometheus)\n%s", arguments, err, out)
		}
	}
}

// TestPrometheus_series has a Prometheus scrape a server that has been used, and
// asks it every expression of the dashboard and of the alerts.
func TestPrometheus_series(t *testing.T) {
	t.Parallel()
	admin := ports.Address(t)
	server := harness.Serve(t, t.TempDir(), testkit.Postgres(t), "POSTERN_ADMIN_ADDR="+admin,
		"POSTERN_REDIS_URL="+servers.StartRedis(t).URL(), "POSTERN_TRACES_ENDPOINT="+servers.StartCollector(t).URL)
	proxy := newProxy(t, server.URL)
	api := harness.Connect(t, server.URL, proxy.WorkspaceKey.Reveal())
	key := createKeys(t, api, proxy.Project.ID, 1)[0]
	in := contract.NewExport{Format: "data"}.In(proxy.Project.ID)
	export, err := client.Do(t.Context(), api, contract.CreateExport, in)
	if err != nil {
		t.Fatal(err)
	}
	harness.WaitForExport(t, api, export.ID)
	harness.WaitForStatus(t, callAddress(server, proxy), key.Secret.Reveal(), http.StatusOK)
	harness.WaitForStatus(t, callAddress(server, proxy), "no key", http.StatusUnauthorized)
	for _, path := range []string{"/metrics", "/readyz", "/debug/pprof/goroutine?debug=1"} {
		if status, _ := fetch(t, "http://"+admin+path); status != http.StatusOK {
			t.Errorf("the admin address answers %s with %d", path, status)
		}
	}
	for _, address := range []string{server.URL, server.Gateway} {
		if status, _ := fetch(t, address+"/debug/pprof/"); status != http.StatusNotFound {
			t.Errorf("%s answers /debug/pprof/ with %d, want 404", address, status)
		}
	}
	prometheus := startPrometheus(t, admin)
	for _, expression := range expressions(t) {
		testkit.Eventually(t, "a series of "+expression, func() bool {
			series, err := query(t, prometheus, expression)
			if err != nil {
				t.Fatalf("%s: %v", expression, err)
			}
			return series > 0
		})
	}
}

// expressions are those of the dashboard, with its variables replaced, and the left sides
// of the alerts' comparisons, which have values while nothing is wrong.
func expressions(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../deploy/grafana/postern.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			all = append(all, strings.NewReplacer("$__rate_interval", "5s", "$instance", ".*").Replace(target.Expr))
		}
	}
	if len(all) < 20 {
		t.Fatalf("the dashboard has %d expressions", len(all))
	}
	return append(all, `up{job="postern"}`, `postern_change_feed_age_seconds`, `postern_projects_outdated`,
		`rate(postern_database_wait_seconds_total{pool!="bulk"}[5s]) and on (instance, job, pool)
			postern_database_connections_max`,
		`postern_connections / postern_connections_max`, `max by (job) (postern_usage_log_age_seconds)`)
}

func startPrometheus(t *testing.T, target string) (address string) {
	t.Helper()
	dir, address := t.TempDir(), ports.Address(t)
	rules, err := filepath.Abs(filepath.Join(deployed, "postern.rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%q]\n"+
		"scrape_configs: [{job_name: postern, static_configs: [{targets: [%q]}]}]\n", rules, target)
	file := filepath.Join(dir, "prometheus.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	log := &testkit.LogBuffer{}
	command := exec.Command("prometheus", "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+address)
	command.Stderr = log
	if err := command.Start(); err != nil {
		t.Fatalf("start Prometheus, which tools/setup installs: %v", err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if t.Failed() {
			t.Log(log)
		}
	})
	testkit.Await(t, "Prometheus to be ready", func() (error, bool) {
		err := answersOK(t, "http://"+address+"/-/ready")
		return err, err == nil
	})
	return "http://" + address
}

// query returns how many series an expression finds.
func query(t *testing.T, prometheus, expression string) (int, error) {
	t.Helper()
	status, body := fetch(t, prometheus+"/api/v1/query?query="+url.QueryEscape(expression))
	var answer struct {
		Error string
		Data  struct{ Result []json.RawMessage }
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return 0, err
	}
	if status != http.StatusOK {
		return 0, fmt.Errorf("%d: %s", status, answer.Error)
	}
	return len(answer.Data.Result), nil
}

// answersOK returns an error if the address doesn't answer 200.
func answersOK(t *testing.T, address string) error {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return nil
}

func fetch(t *testing.T, address string) (status int, body []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if body, err = io.ReadAll(answer.Body); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, body
}
