package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"postern/tools/shipped"
)

// server is the product, running.
type server struct {
	cmd              *exec.Cmd
	output           bytes.Buffer // read when it has ended
	gone             chan struct{}
	control, gateway string // host:port
}

// startServer builds the product as it ships and starts it on an empty directory.
func startServer(ctx context.Context, dir string) (*server, error) {
	binary := filepath.Join(dir, "postern")
	if err := shipped.Build(ctx, ".", binary); err != nil {
		return nil, err
	}
	s := &server{gone: make(chan struct{})}
	for _, addr := range []*string{&s.control, &s.gateway} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		*addr = l.Addr().String()
		_ = l.Close()
	}
	s.cmd = exec.CommandContext(
		ctx, binary, "serve", "--data-dir", filepath.Join(dir, "data"), "--control-addr", s.control,
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
	body := fmt.Sprintf(`{"name": %q, "target": %q}`, name, target)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.control+"/proxy", strings.NewReader(body))
	if err != nil {
		return "", fmt.Errorf("POST /proxy: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("POST /proxy: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Project struct {
			Environments []struct{ URL string }
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || len(answer.Project.Environments) != 1 {
		return "", fmt.Errorf("POST /proxy: %s, %w", resp.Status, err)
	}
	return strings.TrimPrefix(answer.Project.Environments[0].URL, "http://"+s.gateway), nil
}
