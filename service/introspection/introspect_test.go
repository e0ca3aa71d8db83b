package introspection_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"postern/core/contract"
	"postern/models"
	"postern/service/introspection"
	"postern/service/projects"
	"postern/testkit/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// endpoint is where tokens are introspected.
type endpoint struct {
	*httptest.Server
	asked  atomic.Int64
	answer atomic.Value // func(http.ResponseWriter, *http.Request)
}

func newEndpoint(t *testing.T) *endpoint {
	t.Helper()
	e := &endpoint{}
	e.says(`{"active":true,"sub":"alice","scope":"read write","iss":"https://accounts.example","aud":["shop"]}`)
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.asked.Add(1)
		e.answer.Load().(func(http.ResponseWriter, *http.Request))(w, r)
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) does(answer func(http.ResponseWriter, *http.Request)) { e.answer.Store(answer) }

func (e *endpoint) says(body string) {
	e.does(func(w http.ResponseWriter, r *http.Request) {
		name, secret, _ := r.BasicAuth()
		if name != "my-api" || secret != "canary-secret" || r.PostFormValue("token") == "" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(body))
	})
}

func opaque(name, at string) projects.CreateInput {
	secret := contract.Secret("canary-secret")
	return projects.CreateInput{Name: name, Auth: contract.NewRequestsAuth{
		Mode: "authenticate", Methods: []string{"opaque"},
		Opaque: &contract.NewIntrospection{
			Introspection: contract.Introspection{Endpoint: at, ClientID: "my-api"}, ClientSecret: &secret,
		}}}
}

func TestIntrospect_everyCall(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w, e := newWorld(t, db), newEndpoint(t)
		w.create(t, opaque("shop", e.URL+"/introspect"))
		for range 3 {
			w.call(t, "shop", "canary-token").wants(t, "a good token", 200, "")
		}
		if n := e.asked.Load(); n != 3 {
			t.Errorf("3 calls asked %d times", n)
		}
		seen := w.upstream.Requests()
		last := seen[len(seen)-1].Headers
		for name, want := range map[string]string{
			"X-Authenticated-Userid": "alice",
			"X-Authenticated-Scope":  "read write",
			"X-Consumer-Username":    "",
			"Authorization":          "Bearer canary-token",
		} {
			if got := last.Get(name); got != want {
				t.Errorf("the upstream got %s: %q, want %q", name, got, want)
			}
		}
		if last.Get("X-Tenant-Id") == "" {
			t.Error("the upstream got no X-Tenant-Id")
		}
	})
}

func TestIntrospect_refusedAnswers(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w, e := newWorld(t, db), newEndpoint(t)
		w.create(t, opaque("shop", e.URL+"/introspect"))
		for body, code := range map[string]string{
			`{"active":false}`: "401 invalid_token",
			`{"active":true}`:  "401 invalid_token",
			`{"active":true,"sub":"al\r\nX-Consumer-Username: root"}`: "401 invalid_token",
			`{"active":true,"sub":"alice","exp":1}`:                   "401 invalid_token",
			`{"active":true,"sub":"alice","scope":"\u0001"}`:          "401 invalid_token",
			`<html>`: "502 provider_answer_invalid",
			`{"active":true,"sub":"alice","x":"` + strings.Repeat("x", 1<<20) + `"}`: "502 provider_answer_invalid",
		} {
			e.says(body)
			status := 401
			if code[0] == '5' {
				status = 502
			}
			w.call(t, "shop", "canary-token").wants(t, body[:min(len(body), 50)], status, code[4:])
		}
		for status, want := range map[int]string{
			302: "502 provider_answer_invalid",
			401: "502 provider_answer_invalid",
			500: "503 provider_unavailable",
			429: "503 provider_unavailable",
		} {
			e.does(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", e.URL+"/elsewhere")
				w.WriteHeader(status)
			})
			code := map[byte]int{'2': 502, '3': 503}[want[2]]
			w.call(t, "shop", "canary-token").wants(t, "an endpoint with another status", code, want[4:])
		}
		e.does(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		w.call(t, "shop", "canary-token").wants(t, "an endpoint that breaks off", 503, "provider_unavailable")
		over := make(chan struct{})
		w.introspector.Within = 50 * time.Millisecond
		e.does(func(http.ResponseWriter, *http.Request) { <-over })
		w.call(t, "shop", "canary-token").wants(t, "an endpoint that does not answer", 503, "provider_unavailable")
		close(over)
		e.Close()
		w.call(t, "shop", "canary-token").wants(t, "an endpoint that is down", 503, "provider_unavailable")
		log := w.log.String()
		if !strings.Contains(log, "could not check a token") {
			t.Errorf("the log has nothing of it:\n%s", log)
		}
		for _, canary := range []string{"canary-token", "canary-secret"} {
			if strings.Contains(log, canary) {
				t.Errorf("the log has %s:\n%s", canary, log)
			}
		}
	})
}

func TestIntrospect_issuerAndAudience(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w, e := newWorld(t, db), newEndpoint(t)
		shop, owner := w.create(t, opaque("shop", e.URL+"/introspect"))
		asked := e.asked.Load()
		e.says(`{"active":true,"sub":"alice","iss":"https://accounts.example","aud":["shop"]}`)
		w.call(t, "shop", strings.Repeat("x", 17<<10)).wants(t, "a huge token", 401, "invalid_token")
		if e.asked.Load() != asked {
			t.Error("a huge token was sent on")
		}
		for _, one := range []struct {
			iss, aud string
			status   int
		}{{"https://accounts.example", "shop", 200}, {"https://other.example", "", 401}, {"", "other", 401}} {
			change := contract.RequestsAuthChange{Opaque: &contract.NewIntrospection{
				Introspection: contract.Introspection{
					Endpoint: e.URL + "/introspect", ClientID: "my-api", Issuer: one.iss, Audience: one.aud,
				},
			}}
			_, err := w.projects.UpdateVersion(t.Context(), owner, contract.VersionChange{RequestsAuth: change}.Of(
				"shop", shop.Versions[0].ID,
			))
			if err != nil {
				t.Fatal(err)
			}
			w.call(t, "shop", "canary-token").wants(t, "with iss "+one.iss+" and aud "+one.aud, one.status, "")
		}
	})
}

// An issuer that does not answer holds up no calls to others; and no more calls than can be
// told wait for it.
func TestIntrospect_stuckIssuer(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w, stuck, fine := newWorld(t, db), newEndpoint(t), newEndpoint(t)
		w.introspector.Within = time.Minute
		w.create(t, opaque("shop", stuck.URL+"/introspect"))
		w.create(t, opaque("books", fine.URL+"/introspect"))
		release, arrived := make(chan struct{}), make(chan struct{}, introspection.MaxInside)
		let := sync.OnceFunc(func() { close(release) })
		t.Cleanup(let)
		stuck.does(func(w http.ResponseWriter, _ *http.Request) {
			arrived <- struct{}{}
			<-release
			_, _ = w.Write([]byte(`{"active":true,"sub":"alice"}`))
		})
		var waiting sync.WaitGroup
		var good atomic.Int64
		for range introspection.MaxInside {
			waiting.Go(func() {
				if w.call(t, "shop", "token").status == 200 {
					good.Add(1)
				}
			})
		}
		for range introspection.MaxInside {
			<-arrived
		}
		w.call(t, "shop", "token").wants(t, "one call more", 503, "provider_unavailable")
		for range 20 {
			w.call(t, "books", "token").wants(t, "a call of another project", 200, "")
		}
		let()
		waiting.Wait()
		if n := good.Load(); n != introspection.MaxInside {
			t.Errorf("%d of %d calls that waited were answered", n, introspection.MaxInside)
		}
		w.call(t, "shop", "token").wants(t, "when it answers again", 200, "")
	})
}
