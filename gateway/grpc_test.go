package gateway_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/gateway"
	"postern/testkit"
	"postern/testkit/sample"
	"postern/testkit/servers"
)

// grpcRig serves gRPC's interoperability server on a custom domain. The file has the certificate to trust.
func grpcRig(t *testing.T, options ...rigOption) (r *rig, port, roots string) {
	t.Helper()
	cert, key := testkit.Certificate(t, ownHost)
	pair := newPairOf(t, cert, key)
	server := servers.StartGRPCInterop(t)
	r = newRig(t, nil, append(options, overTLS(pair), calledWith(contract.HTTP2, "http://"+server.Address))...)
	roots = filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, pair.pem, 0o600); err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(r.addr)
	if err != nil {
		t.Fatal(err)
	}
	return r, port, roots
}

// The public client of gRPC's interoperability tests calls its server through the gateway, in all four kinds of
// streams.
func TestGRPC_interoperability(t *testing.T) {
	for way, option := range map[string]rigOption{
		"own":      func(*rig, *gateway.Options) {},
		"net/http": func(_ *rig, o *gateway.Options) { o.HTTP2 = gateway.HTTP2NetHTTP },
	} {
		r, port, roots := grpcRig(t, option)
		for _, name := range servers.GRPCCases {
			t.Run(way+", "+name, func(t *testing.T) {
				out, err := servers.RunGRPCCase(t, name, "--server_host=127.0.0.1", "--server_port="+port, "--use_tls",
					"--use_test_ca", "--ca_file="+roots, "--server_host_override="+ownHost,
					"--additional_metadata=x-api-key:"+r.key,
					"--soak_per_iteration_max_acceptable_latency_ms=60000", "--soak_overall_timeout_seconds=60")
				if err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}

// A custom domain can take one service of gRPC: its prefix stays.
func TestGRPC_prefix(t *testing.T) {
	r, port, roots := grpcRig(t, withProject(func(p *snapshot.Project) {
		p.Versions[0].Environments[1].Domains = []snapshot.Domain{
			sample.Kept(sample.DomainAt(ownHost, "/grpc.testing.TestService", "POST")),
		}
	}))
	for name, want := range map[string]bool{"ping_pong": true, "unimplemented_service": false} {
		out, err := servers.RunGRPCCase(t, name, "--server_host=127.0.0.1", "--server_port="+port, "--use_tls",
			"--use_test_ca", "--ca_file="+roots, "--server_host_override="+ownHost,
			"--additional_metadata=x-api-key:"+r.key)
		if (err == nil) != want {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// Rules match the paths of gRPC's methods, and callers read refusals as statuses.
func TestGRPC_grpcurl(t *testing.T) {
	const service = "grpc.testing.TestService/"
	proto := t.TempDir()
	source := `syntax = "proto3";
package grpc.testing;
message Empty {}
service TestService {
  rpc EmptyCall(Empty) returns (Empty);
  rpc UnimplementedCall(Empty) returns (Empty);
}
`
	if err := os.WriteFile(filepath.Join(proto, "test.proto"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	r, port, roots := grpcRig(t, withRules(snapshot.Rules{
		Default: snapshot.RulesDeny,
		List: []snapshot.Rule{
			{ID: "rul_1", Path: "/grpc.testing.TestService/EmptyCall", Methods: []string{"POST"}},
		},
	}))
	for _, tc := range []struct{ method, key, want string }{
		{"EmptyCall", r.key, "{}"},
		{"EmptyCall", "", "Code: Unauthenticated"},
		{"EmptyCall", "pst_wrong", "Message: This API key isn't valid here."},
		{"UnimplementedCall", r.key, "Code: PermissionDenied"},
	} {
		args := []string{"-import-path", proto, "-proto", "test.proto", "-cacert", roots, "-authority", ownHost}
		if tc.key != "" {
			args = append(args, "-H", "x-api-key: "+tc.key)
		}
		out, _ := servers.Grpcurl(t, append(args, "127.0.0.1:"+port, service+tc.method)...)
		if !strings.Contains(out, tc.want) {
			t.Errorf("%s with %q: %s, want %q", tc.method, tc.key, out, tc.want)
		}
	}
}
