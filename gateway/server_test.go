package gateway_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"postern/gateway"
)

func TestShutdown_runningCalls(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	r := newRig(t, func(http.ResponseWriter, *http.Request) { close(began); <-release })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := r.gateway.Server(l.Addr().String())
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	r.addr = l.Addr().String()

	status := make(chan int, 1)
	go func() { status <- r.get("/shop/1.0.0/prod").StatusCode }()
	within(t, "the call at the upstream", began)
	stopped := make(chan error, 1)
	go func() { stopped <- server.Shutdown(context.WithoutCancel(t.Context())) }()
	if err := within(t, "the end of Serve", served); !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("Serve: %v, want http.ErrServerClosed", err)
	}
	if conn, err := net.Dial("tcp", r.addr); err == nil {
		_ = conn.Close()
		t.Error("a new connection was taken while stopping")
	}
	close(release)
	if got := within(t, "the response", status); got != 200 {
		t.Errorf("the call under way got %d", got)
	}
	if err := within(t, "the end of Shutdown", stopped); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
}

func TestListenAndServe_addressInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	g := gateway.New(gateway.Options{})
	defer g.Close()
	if err := g.Server(l.Addr().String()).ListenAndServe(); err == nil ||
		!strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("ListenAndServe: %v, want an error that names %s", err, l.Addr())
	}
}
