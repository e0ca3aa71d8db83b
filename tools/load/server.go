package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"postern/client"
	"postern/core/contract"
	"postern/tools/shipped"
)

// server is the product, running.
type server struct {
	cmd              *exec.Cmd
	output           bytes.Buffer // read when it has ended
	gone             chan struct{}
	control, gateway string // host:port
	data             string // its folder
}

// startServer builds the product as it ships and starts it on an empty directory.
func startServer(ctx context.Context, dir string) (*server, error) {
	binary := filepath.Join(dir, "postern")
	if err := shipped.Build(ctx, ".", binary); err != nil {
		return nil, err
	}
	s := &server{gone: make(chan struct{}), data: filepath.Join(dir, "data")}
	for _, addr := range []*string{&s.control, &s.gateway} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		*addr = l.Addr().String()
		_ = l.Close()
	}
	s.cmd = exec.CommandContext(
		ctx, binary, "serve", "--data-dir", s.data, "--control-addr", s.control,
		"--gateway-addr", s.gateway,
	)
	s.cmd.Stdout, s.cmd.Stderr = &s.output, &s.output
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(os.Interrupt) }
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start postern: %w", err)
	}
	go func() { defer close(s.gone); _ = s.cmd.Wait() }()
	for late := time.After(30 * time.Second); ; {
		if resp, err := http.Get("http://" + s.control + "/readyz"); err == nil { //nolint:forbidigo // on loopback
			_ = resp.Body.Close()
			return s, nil
		}
		select {
		case <-s.gone:
			return nil, fmt.Errorf("postern ended before it was ready:\n%s", s.output.String())
		case <-late:
			s.stop()
			return nil, fmt.Errorf("postern was not ready after 30 s:\n%s", s.output.String())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (s *server) stop() {
	_ = s.cmd.Process.Signal(os.Interrupt) // which skips the drain
	<-s.gone
}

// createProject puts a proxy that requires no key before the upstream and returns the path of its environment at the
// gateway.
func (s *server) createProject(ctx context.Context, name, target string) (string, error) {
	paths, err := s.create(ctx, contract.NewProxy{Name: name, Target: target})
	if err != nil {
		return "", err
	}
	return paths[0], nil
}

// create creates a project without an account and returns the paths of its environments at the gateway.
func (s *server) create(ctx context.Context, body contract.NewProxy) ([]string, error) {
	c, err := client.New("http://"+s.control, "")
	if err != nil {
		return nil, err
	}
	proxy, err := client.Do(ctx, c, contract.CreateProxy, body.Request())
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, one := range proxy.Project.Environments {
		paths = append(paths, strings.TrimPrefix(one.URL, "http://"+s.gateway))
	}
	return paths, nil
}
