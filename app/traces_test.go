package app_test

import (
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"postern/client"
	"postern/core/contract"
	"postern/platform/config"
	"postern/testkit/servers"
	"postern/testkit/state"
)

// The export of a project is requested, built by a job, and each part of that is a span.
func TestTraces(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { testTraces(t, "", "sqlite") })
	t.Run("postgres", func(t *testing.T) { testTraces(t, state.Postgres(t), "postgresql") })
}

func testTraces(t *testing.T, databaseURL, system string) {
	to := servers.StartCollector(t)
	settings := settingsFor(t, databaseURL)
	settings.Traces = config.Traces{Endpoint: to.URL, Ratio: 1, Service: "postern"}
	settings, stop := serve(t, settings)
	export(t, settings)
	isBuild := func(s servers.Span) bool { return s.Name == "job export" }
	to.Await(t, isBuild)
	stop()

	request := to.Await(t, func(s servers.Span) bool {
		return s.Kind == "server" && s.Name == "POST /api/v1/projects/:project/exports"
	})
	if request.Parent != "" || request.Failed || request.Attrs["http.response.status_code"] != "202" ||
		request.Attrs["http.route"] != "/api/v1/projects/:project/exports" {
		t.Errorf("the request's span is %+v", request)
	}
	insert := to.Await(t, func(s servers.Span) bool {
		return s.Trace == request.Trace && s.Attrs["db.operation.name"] == "INSERT" &&
			s.Attrs["db.collection.name"] == "exports"
	})
	transaction := to.Await(t, func(s servers.Span) bool { return s.ID == insert.Parent })
	if transaction.Name != "transaction" || transaction.Parent != request.ID || insert.Kind != "client" {
		t.Errorf("the request's statements are %+v and %+v", transaction, insert)
	}
	if text := insert.Attrs["db.query.text"]; !strings.Contains(text, "INSERT INTO") ||
		insert.Attrs["db.system.name"] != system {
		t.Errorf("the statement is %q of %q", text, insert.Attrs["db.system.name"])
	}
	build := to.Await(t, isBuild)
	if build.Kind != "consumer" || build.Failed || build.Trace == request.Trace || len(build.Links) != 1 ||
		!strings.HasPrefix(build.Links[0], request.Trace+"-") {
		t.Errorf("the job's span is %+v, want a link to %s", build, request.Trace)
	}
	to.Await(t, func(s servers.Span) bool { return s.Trace == build.Trace && s.Attrs["db.system.name"] == system })
	write := to.Await(t, func(s servers.Span) bool { return s.Name == "store write" })
	if write.Trace != build.Trace || write.Kind != "internal" || write.Failed ||
		write.Attrs["postern.store"] != "directory" || write.Attrs["postern.outcome"] != "" {
		t.Errorf("the span of the zip is %+v", write)
	}
	id := regexp.MustCompile(`[a-z]{3,4}_[0-9a-hjkmnp-tv-z]{26}`)
	for _, s := range to.Spans() {
		if id.MatchString(s.Name) || id.MatchString(s.Attrs["db.query.text"]) {
			t.Errorf("an id is in the name or statement of %+v", s)
		}
	}
}

// export creates a project and waits for an export of it.
func export(t *testing.T, settings config.Config) {
	t.Helper()
	anonymous, err := client.New(settings.PublicURL, "")
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := client.Do(t.Context(), anonymous, contract.CreateProxy,
		contract.NewProxy{Target: "http://127.0.0.1:1", Name: "shop"}.Request())
	if err != nil {
		t.Fatal(err)
	}
	api, err := client.New(settings.PublicURL, proxy.WorkspaceKey.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	request, err := client.Do(t.Context(), api, contract.CreateExport, contract.NewExport{Format: "data"}.In("shop"))
	if err != nil {
		t.Fatal(err)
	}
	if request, err = api.WaitExport(t.Context(), request.ID, nil); err != nil || request.State != "ready" {
		t.Fatalf("the export is %+v, %v", request, err)
	}
}

// Only a trusted caller's trace is continued, and probes are not recorded.
func TestTraces_trustedCaller(t *testing.T) {
	const trace, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for _, tt := range []struct {
		name    string
		trusted string
		want    bool
	}{{"trusted", "127.0.0.0/8", true}, {"not trusted", "192.0.2.0/24", false}} {
		t.Run(tt.name, func(t *testing.T) {
			to := servers.StartCollector(t)
			settings := settingsFor(t, "")
			settings.Traces = config.Traces{
				Endpoint:     to.URL,
				FollowParent: true,
				Trusted:      []netip.Prefix{netip.MustParsePrefix(tt.trusted)},
			}
			settings, stop := serve(t, settings)
			for _, path := range []string{"/api/v1/projects", "/healthz"} {
				address := settings.PublicURL + path
				request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				request.Header.Set("Traceparent", "00-"+trace+"-"+span+"-01")
				answer, err := http.DefaultClient.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				_ = answer.Body.Close()
			}
			stop()
			var spans []servers.Span
			for _, s := range to.Spans() {
				if s.Kind == "server" {
					spans = append(spans, s)
				}
			}
			if !tt.want {
				if len(spans) > 0 {
					t.Errorf("got %+v, want no span of a caller that is not trusted", spans)
				}
				return
			}
			if len(spans) != 1 || spans[0].Trace != trace || spans[0].Parent != span ||
				spans[0].Attrs["postern.code"] != "credentials_required" || spans[0].Failed {
				t.Errorf("got %+v, want one span in the caller's trace", spans)
			}
		})
	}
}

// A collector that never answers does not keep the server from stopping.
func TestStop_hungCollector(t *testing.T) {
	settings := settingsFor(t, "")
	settings.Traces = config.Traces{Endpoint: servers.StartHungCollector(t), Ratio: 1}
	settings, stop := serve(t, settings)
	answer, err := http.DefaultClient.Get(settings.PublicURL + "/signin")
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	stop()
}
