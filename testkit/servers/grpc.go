package servers

import (
	"net"
	"os/exec"
	"testing"

	"postern/testkit"
	"postern/testkit/ports"
)

// GRPCInterop is the server of gRPC's interoperability tests
// (grpc/grpc, doc/interop-test-descriptions.md), without TLS.
type GRPCInterop struct{ Address string }

// StartGRPCInterop runs the server until the test ends. Without the program, the test fails.
func StartGRPCInterop(t testing.TB) *GRPCInterop {
	t.Helper()
	for range 10 { // it listens on every address, where another program may have taken the port by then
		if s := startGRPCInterop(t); s != nil {
			return s
		}
	}
	t.Fatal("the gRPC server found no free port")
	return nil
}

// startGRPCInterop returns nil if the server ended before it listened.
func startGRPCInterop(t testing.TB) *GRPCInterop {
	t.Helper()
	s := &GRPCInterop{Address: ports.Address(t)}
	_, port, err := net.SplitHostPort(s.Address)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(grpcInterop(t, "server"), "--port="+port)
	var output testkit.LogBuffer
	command.Stdout, command.Stderr = &output, &output
	endWithTests(command)
	if err := command.Start(); err != nil {
		t.Fatalf("start the gRPC server: %v (run tools/setup)", err)
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("the gRPC server wrote:\n%s", output.String())
		}
	})
	failed := false
	testkit.Eventually(t, "the gRPC server listens", func() bool {
		select {
		case <-ended:
			failed = true
			return true
		default:
		}
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.Address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	if failed {
		return nil
	}
	return s
}

// GRPCCases are the cases of the interoperability tests, without those that need the credentials of a cloud, several
// servers, or ORCA, whose reports this client doesn't get from this server even when it calls it directly.
var GRPCCases = []string{
	"empty_unary", "large_unary", "client_streaming", "server_streaming", "ping_pong", "empty_stream",
	"timeout_on_sleeping_server", "cancel_after_begin", "cancel_after_first_response", "status_code_and_message",
	"special_status_message", "custom_metadata", "unimplemented_method", "unimplemented_service", "rpc_soak",
	"channel_soak",
}

// RunGRPCCase runs one case with the client's flags, and returns what it wrote.
func RunGRPCCase(t testing.TB, name string, flags ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), grpcInterop(t, "client"), append(flags, "--test_case="+name)...).
		CombinedOutput()
	return string(out), err
}

func grpcInterop(t testing.TB, name string) string {
	t.Helper()
	return installed(t, "grpc_interop-"+version("grpc_interop"), name)
}

// Grpcurl runs grpcurl, and returns what it wrote.
func Grpcurl(t testing.TB, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program(t, "grpcurl"), args...).CombinedOutput()
	return string(out), err
}
