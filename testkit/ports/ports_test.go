package ports_test

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"postern/testkit/ports"
)

func TestReserve_differs(t *testing.T) {
	given := map[int]bool{}
	for range 200 {
		port := ports.Port(t)
		if given[port] {
			t.Fatalf("port %d was given out twice", port)
		}
		given[port] = true
	}
}

// forked is set in the process that TestReserve_otherProcess starts.
const forked = "POSTERN_TEST_PORTS"

func TestReserve_otherProcess(t *testing.T) {
	const each = 500 // of 22,768: two processes that knew nothing of each other would share about 11
	if os.Getenv(forked) != "" {
		for range each {
			os.Stdout.WriteString("port " + strconv.Itoa(ports.Port(t)) + "\n")
		}
		return
	}
	own := map[string]bool{}
	for range each {
		own["port "+strconv.Itoa(ports.Port(t))] = true
	}
	other := exec.Command(os.Args[0], "-test.run=^TestReserve_otherProcess$")
	other.Env = append(os.Environ(), forked+"=1")
	out, err := other.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	given := 0
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if own[line] {
			t.Fatalf("%s was given to both processes", line)
		}
		if strings.HasPrefix(line, "port ") {
			given++
		}
	}
	if given != each {
		t.Errorf("the other process got %d ports, want %d", given, each)
	}
}

func TestAddress(t *testing.T) {
	listener, err := net.Listen("tcp", ports.Address(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
}
