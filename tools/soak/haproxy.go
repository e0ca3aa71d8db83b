package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// The names that the configuration in docs/replicas.md routes by.
const (
	controlName = "postern.example.com"
	gatewayName = "proxy.example.com"
)

var (
	configuration = regexp.MustCompile("(?s)```haproxy\n(.*?)```")
	tlsBind       = regexp.MustCompile(`bind :443 .*`)
	serverLines   = regexp.MustCompile(`(?m)(^    server \S+ \S+ .*\n)+`)
)

// haproxyConfig is the configuration of docs/replicas.md before these replicas: plain HTTP
// on an address, and health checks at an interval. Answers name the replica.
func haproxyConfig(page, address string, control, gateways []*replica, check time.Duration) (string, error) {
	found := configuration.FindStringSubmatch(page)
	if found == nil {
		return "", fmt.Errorf("docs/replicas.md has no configuration of HAProxy")
	}
	text := tlsBind.ReplaceAllString(found[1], "bind "+address)
	lists := [][]string{nil, nil}
	for i, replicas := range [][]*replica{control, gateways} {
		for _, r := range replicas {
			line := fmt.Sprintf("    server %s %s check inter %dms\n", r.name, r.address, check.Milliseconds())
			lists[i] = append(lists[i], line)
		}
	}
	backends := 0
	text = serverLines.ReplaceAllStringFunc(text, func(string) string {
		backends++
		if backends > len(lists) {
			return ""
		}
		return strings.Join(lists[backends-1], "")
	})
	if backends != len(lists) || !strings.Contains(text, "bind "+address) {
		return "", fmt.Errorf("docs/replicas.md is not as expected: one bind to :443, and servers of the backends " +
			"control and gateway, in this order")
	}
	return text + "    http-response set-header " + gatewayHeader + " %s\n", nil
}

// startHAProxy runs HAProxy, and waits until it has a ready replica in each backend.
func startHAProxy(dir, config string, ready func() bool) (*process, error) {
	program, err := exec.LookPath("haproxy")
	if err != nil {
		program = "/usr/sbin/haproxy" // not in everyone's PATH on Debian
	}
	file := filepath.Join(dir, "haproxy.cfg")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return nil, fmt.Errorf("write haproxy.cfg: %w", err)
	}
	p, err := launch("haproxy", filepath.Join(dir, "haproxy.log"), nil, program, "-db", "-f", file)
	if err != nil {
		return nil, fmt.Errorf("%w (tools/setup installs it)", err)
	}
	if err := p.until(ready); err != nil {
		return p, err
	}
	return p, nil
}
