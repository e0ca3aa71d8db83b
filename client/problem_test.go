package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"postern/client"
	"postern/core/contract"
	"postern/platform/fault"
	"postern/testkit"
)

func TestProblem(t *testing.T) {
	server := start(t)
	api, _ := workspace(t, server)
	t.Run("two invalid fields", func(t *testing.T) {
		_, err := client.Do(t.Context(), api, contract.CreateProxy,
			contract.NewProxy{Target: "ftp://x", Name: "Bad_"}.Request())
		problem, ok := errors.AsType[*fault.Error](err)
		if !ok {
			t.Fatalf("error = %#v, want a fault", err)
		}
		if problem.Kind != fault.Invalid {
			t.Errorf("kind = %v, want %v", problem.Kind, fault.Invalid)
		}
		if problem.Code != "invalid_fields" {
			t.Errorf("code = %q, want invalid_fields", problem.Code)
		}
		if len(problem.Fields) != 2 {
			t.Fatalf("fields = %v, want two", problem.Fields)
		}
		if first := problem.Fields[0]; first.Pointer == "" || first.Detail == "" {
			t.Errorf("first field = %+v, want a pointer and a detail", first)
		}
	})
	t.Run("taken name", func(t *testing.T) {
		_, err := client.Do(t.Context(), api, contract.CreateProxy,
			contract.NewProxy{Target: testkit.NewUpstream(t).URL, Name: "shop"}.Request())
		if fault.KindOf(err) != fault.Conflict || fault.CodeOf(err) != "name_taken" {
			t.Errorf("error = %v, want a conflict with the code name_taken", err)
		}
	})
	t.Run("wrong token", func(t *testing.T) {
		err := getShop(t.Context(), connect(t, server, "canary"))
		if fault.KindOf(err) != fault.Unauthenticated {
			t.Errorf("error = %v, want that of a missing credential", err)
		}
		if strings.Contains(err.Error(), "canary") {
			t.Errorf("the error repeats the token: %v", err)
		}
	})
	for _, name := range []string{"", ".", "..", "nope", "a/b", "../keys", "%2e%2e"} {
		t.Run("project "+name, func(t *testing.T) {
			at := contract.ProjectPath{Project: name}
			if _, err := client.Do(t.Context(), api, contract.GetProject, at); fault.KindOf(err) != fault.NotFound {
				t.Errorf("error = %v, want not found", err)
			}
		})
	}
}

func getShop(ctx context.Context, c *client.Client) error {
	_, err := client.Do(ctx, c, contract.GetProject, contract.ProjectPath{Project: "shop"})
	return err
}

func TestProblem_kind(t *testing.T) {
	for status, want := range map[int]fault.Kind{
		400: fault.Malformed,
		401: fault.Unauthenticated,
		403: fault.Forbidden,
		404: fault.NotFound,
		409: fault.Conflict,
		410: fault.Gone,
		412: fault.Stale,
		413: fault.TooLarge,
		415: fault.Unsupported,
		422: fault.Invalid,
		429: fault.TooMany,
		500: fault.Internal,
		502: fault.Unavailable,
		503: fault.Unavailable,
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			c := connect(t, answering(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/problem+json")
				w.WriteHeader(status)
				_, _ = io.WriteString(w, `{"code": "some_code", "detail": "Some text."}`)
			}), "")
			err := getShop(t.Context(), c)
			problem, ok := errors.AsType[*fault.Error](err)
			if !ok {
				t.Fatalf("error = %#v, want a fault", err)
			}
			if problem.Kind != want {
				t.Errorf("kind = %v, want %v", problem.Kind, want)
			}
			if problem.Code != "some_code" || problem.Public != "Some text." {
				t.Errorf("code and text = %q, %q", problem.Code, problem.Public)
			}
		})
	}
}

func answering(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

func TestDo_redirect(t *testing.T) {
	reached := make(chan string, 1)
	target := answering(t, func(_ http.ResponseWriter, r *http.Request) { reached <- r.Header.Get("Authorization") })
	server := answering(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, target+"/canary-path?token=canary-query", http.StatusTemporaryRedirect)
	})
	err := getShop(t.Context(), connect(t, server, "canary-token"))
	if fault.CodeOf(err) != "redirected" {
		t.Fatalf("error = %v, want the code redirected", err)
	}
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("the error repeats the token, path or query: %v", err)
	}
	if !strings.Contains(err.Error(), target) {
		t.Errorf("the error does not name %s: %v", target, err)
	}
	select {
	case got := <-reached:
		t.Errorf("the target of the redirect was called, with Authorization %q", got)
	default:
	}
}

func TestDo_otherServer(t *testing.T) {
	page := answering(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") })
	t.Run("no server", func(t *testing.T) {
		err := getShop(t.Context(), connect(t, "http://127.0.0.1:1", "canary"))
		problem, ok := errors.AsType[*fault.Error](err)
		if !ok || problem.Kind != fault.Unavailable {
			t.Fatalf("error = %#v, want one of the kind unavailable", err)
		}
		want := "no Postern server is responding at http://127.0.0.1:1: " +
			"run `postern serve` to start one, or choose another with --server or POSTERN_SERVER"
		if problem.Public != want {
			t.Errorf("text = %q, want %q", problem.Public, want)
		}
	})
	t.Run("a page", func(t *testing.T) {
		if err := getShop(t.Context(), connect(t, page, "")); fault.CodeOf(err) != "unexpected_answer" {
			t.Errorf("error = %v, want the code unexpected_answer", err)
		}
	})
	t.Run("caller cancels", func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if err := getShop(ctx, connect(t, page, "")); !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v, want %v", err, context.Canceled)
		}
	})
}

func TestNew(t *testing.T) {
	for _, address := range []string{
		"",
		"foo",
		"127.0.0.1:8080",
		"ftp://x",
		"http://",
		"http://user:canary@x",
		"http://x?canary=1",
		"http://x:canary",
	} {
		t.Run("refuses "+address, func(t *testing.T) {
			_, err := client.New(address, "")
			if err == nil {
				t.Fatal("the address was accepted")
			}
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("the error repeats a part that may be secret: %v", err)
			}
		})
	}
}

func TestAddress_spelling(t *testing.T) {
	for _, spelling := range []string{"http://Example.com:80/", "HTTP://example.COM:80", " http://example.com:80// "} {
		t.Run(spelling, func(t *testing.T) {
			if got, err := client.Address(spelling); err != nil || got != "http://example.com:80" {
				t.Errorf("Address = %q, %v", got, err)
			}
		})
	}
}
