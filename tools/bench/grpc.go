package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/testkit/ports"
)

// The call of gRPC that is measured: a unary one with an empty message, of the server of gRPC's interoperability tests
// (grpc/grpc, doc/interop-test-descriptions.md).
const (
	grpcPath    = "/grpc.testing.TestService/EmptyCall"
	grpcHost    = "grpc.example.com" // custom domain
	grpcProject = "grpc"
)

// grpcPeers are the servers of the scenario with gRPC. Envoy forwards and does nothing else.
type grpcPeers struct {
	server, envoy *process
	postern       *postern
}

// compareGRPC compares unary calls through the gateway, with a key, to Envoy as a reverse proxy. All of them speak
// HTTP/2 without TLS.
func (l load) compareGRPC(ctx context.Context, binary string, m testbed, p **postern) (err error) {
	const streams = 4
	shared := max(1, l.connections/streams)
	sc := scenario{
		name:        fmt.Sprintf("gRPC, unary calls, %d connections of %d calls", shared, streams),
		connections: shared, path: grpcPath, streams: streams, http2: true, grpc: true,
	}
	if !strings.Contains(sc.name, l.only) {
		return nil
	}
	var t grpcPeers
	defer func() { t.stop() }()
	envoy, err := t.start(ctx, l, binary, m, p)
	if err != nil {
		return err
	}
	sc.peers = []peer{
		{name: "postern", url: t.postern.gateway, key: m.grpc.key, host: grpcHost, pids: t.postern.pids},
		{name: "envoy", url: "http://" + envoy, pids: t.envoy.pids},
	}
	for _, one := range sc.peers {
		if err := one.checkGRPC(ctx); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	return l.compareAll(ctx, []scenario{sc})
}

func (t *grpcPeers) stop() {
	for _, one := range []*process{t.envoy, t.server} {
		if one != nil {
			one.stop()
		}
	}
	if t.postern != nil {
		t.postern.stop()
	}
}

// start starts the servers and returns Envoy's address. Postern gets a copy of p's data, for which p stops and is
// started again.
func (t *grpcPeers) start(ctx context.Context, l load, binary string, m testbed, p **postern) (string, error) {
	upstream, err := ports.ReserveAddress()
	if err != nil {
		return "", err
	}
	program, err := grpcServer()
	if err != nil {
		return "", err
	}
	if t.server, err = start(program, "--port="+upstream[strings.LastIndexByte(upstream, ':')+1:]); err != nil {
		return "", err
	}
	if err := t.server.waitFor(func() bool { return listens(upstream) }); err != nil {
		return "", err
	}
	envoy, err := ports.ReserveAddress()
	if err != nil {
		return "", err
	}
	config := filepath.Join(l.dir, "envoy.yaml")
	if err := os.WriteFile(config, []byte(envoyConfig(envoy, upstream)), 0o600); err != nil {
		return "", fmt.Errorf("start Envoy: %w", err)
	}
	if t.envoy, err = start(envoyProgram, "-c", config, "--log-level", "error", "--use-dynamic-base-id"); err != nil {
		return "", fmt.Errorf("%w (run tools/setup bench)", err)
	}
	if err := t.envoy.waitFor(func() bool { return listens(envoy) }); err != nil {
		return "", err
	}
	data, twin := (*p).data, filepath.Join(l.dir, "data-grpc")
	(*p).stop()
	if err := os.CopyFS(twin, os.DirFS(data)); err != nil {
		return "", fmt.Errorf("copy the data directory: %w", err)
	}
	stock, err := openStock(ctx, twin, "")
	if err != nil {
		return "", err
	}
	err = errors.Join(stock.serveGRPC(ctx, "http://"+upstream), stock.db.Close())
	if err != nil {
		return "", err
	}
	if t.postern, err = startPostern(ctx, binary, twin, "--gateway-h2c", "on"); err != nil {
		return "", err
	}
	again, err := startPostern(ctx, binary, data)
	if err != nil {
		return "", err
	}
	*p = again
	m.movedTo(again)
	return envoy, nil
}

// serveGRPC gives the project for gRPC its target, which is called with HTTP/2, and its custom domain.
func (s *stock) serveGRPC(ctx context.Context, target string) error {
	if err := s.upstream(ctx, grpcProject, contract.Upstream{HTTP: contract.HTTP2}); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *models.Tx) error {
		project, err := tx.ProjectByName(grpcProject)
		if err != nil {
			return err
		}
		environments, err := tx.EnvironmentsOf(project.ID)
		if err != nil {
			return err
		}
		one, now := environments[0], models.Now()
		seen := one.UpdatedAt
		one.Target, one.UpdatedAt = target, seen.Add(time.Microsecond)
		if _, err := tx.UpdateEnvironment(one, seen); err != nil {
			return err
		}
		return tx.Insert(&models.Domain{
			ID: models.NewID("dom"), ProjectID: project.ID, EnvironmentID: one.ID, Host: grpcHost, Challenge: "unused",
			Proof: contract.ProofOperator, VerifiedAt: &now, CreatedAt: now, UpdatedAt: now,
		})
	})
}

// envoyProgram is what `tools/setup bench` installs from requirements.txt.
const envoyProgram = "tools/bench/venv/bin/envoy"

// grpcServer returns the program that tools/setup installs.
func grpcServer() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the server of gRPC: %w", err)
	}
	found, err := filepath.Glob(filepath.Join(cache, "postern", "grpc_interop-*", "server"))
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("the server of gRPC isn't installed (run tools/setup bench)")
	}
	return found[len(found)-1], nil
}

func envoyConfig(listen, upstream string) string {
	address := func(addr string) string {
		host, port, _ := strings.Cut(addr, ":")
		return fmt.Sprintf("{socket_address: {address: %s, port_value: %s}}", host, port)
	}
	const types = "type.googleapis.com/envoy.extensions"
	return fmt.Sprintf(`static_resources:
  listeners:
  - address: %[1]s
    filter_chains:
    - filters:
      - name: http
        typed_config:
          "@type": %[3]s.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: bench
          codec_type: HTTP2
          route_config:
            virtual_hosts:
            - {name: all, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: upstream}}]}
          http_filters:
          - {name: router, typed_config: {"@type": %[3]s.filters.http.router.v3.Router}}
  clusters:
  - name: upstream
    type: STATIC
    load_assignment: {cluster_name: upstream, endpoints: [{lb_endpoints: [{endpoint: {address: %[2]s}}]}]}
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": %[3]s.upstreams.http.v3.HttpProtocolOptions
        explicit_http_config: {http2_protocol_options: {}}
`, address(listen), address(upstream), types)
}

// emptyMessage is an empty message as gRPC sends it: not compressed, of length 0.
var emptyMessage = make([]byte, 5)

// checkGRPC makes one call, because a refused call has the HTTP status 200 too.
func (p peer) checkGRPC(ctx context.Context) error {
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+grpcPath, bytes.NewReader(emptyMessage))
	if err != nil {
		return fmt.Errorf("call with gRPC: %w", err)
	}
	req.Host = p.host
	for _, line := range append(grpcHeaders(), p.credential()) {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("call with gRPC: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	var body bytes.Buffer
	if _, err := body.ReadFrom(resp.Body); err != nil {
		return fmt.Errorf("call with gRPC: %w", err)
	}
	if status := resp.Trailer.Get("grpc-status"); status != "0" {
		return fmt.Errorf("call with gRPC: %s, status %q, headers %v", resp.Status, status, resp.Header)
	}
	return nil
}

func grpcHeaders() []string { return []string{"content-type: application/grpc", "te: trailers"} }

// grpcArguments make h2load send calls of gRPC.
func (l load) grpcArguments(p peer) ([]string, error) {
	file := filepath.Join(l.dir, "empty-message")
	if err := os.WriteFile(file, emptyMessage, 0o600); err != nil {
		return nil, fmt.Errorf("write a message: %w", err)
	}
	out := []string{"-d", file}
	for _, line := range grpcHeaders() {
		out = append(out, "-H", line)
	}
	if p.host != "" {
		out = append(out, "-H", ":authority: "+p.host)
	}
	return out, nil
}
