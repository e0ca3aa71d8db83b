package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// pair is the files of a certificate for loopback addresses.
type pair struct{ cert, key string }

func newPair(dir string) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, fmt.Errorf("make a key: %w", err)
	}
	now := time.Now()
	text := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(24 * time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	cert, err := x509.CreateCertificate(rand.Reader, text, text, key.Public(), key)
	if err != nil {
		return pair{}, fmt.Errorf("make a certificate: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return pair{}, fmt.Errorf("make a key: %w", err)
	}
	out := pair{cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem")}
	write := func(file, kind string, der []byte) error {
		return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
	}
	return out, errors.Join(write(out.cert, "CERTIFICATE", cert), write(out.key, "PRIVATE KEY", private))
}

// secured are the peers that callers reach over TLS. Postern is the build that is measured, and
// with -before the earlier one, each on a copy of the data.
type secured struct {
	current, earlier *postern
	nginx            *server
}

// compareSecured compares calls over TLS, last of all, because the servers for them take memory.
func (l load) compareSecured(ctx context.Context, binary, upstream string, m testbed, p **postern) error {
	var t secured
	left := slices.DeleteFunc(t.scenarios(l.settings, m), func(sc scenario) bool {
		return !strings.Contains(sc.name, l.only)
	})
	if len(left) == 0 {
		return nil
	}
	defer func() { t.stop() }()
	if err := t.start(ctx, l, binary, upstream, m, p); err != nil {
		return err
	}
	return l.compareAll(ctx, t.scenarios(l.settings, m))
}

// start starts what is called over TLS, on copies of p's data. p stops for that and is started again.
func (t *secured) start(ctx context.Context, l load, binary, upstream string, m testbed, p **postern) error {
	certificate, err := newPair(l.dir)
	if err != nil {
		return err
	}
	if t.nginx, err = startReference(l.dir, l.nginx, upstream, m.keys, &certificate); err != nil {
		return err
	}
	data := (*p).data
	(*p).stop()
	flags := []string{"--gateway-tls-cert", certificate.cert, "--gateway-tls-key", certificate.key}
	onCopy := func(name, binary string) (*postern, error) {
		twin := filepath.Join(l.dir, name)
		if err := os.CopyFS(twin, os.DirFS(data)); err != nil {
			return nil, fmt.Errorf("copy the data directory: %w", err)
		}
		return startPostern(ctx, binary, twin, flags...)
	}
	if t.current, err = onCopy("data-tls", binary); err != nil {
		return err
	}
	if l.before != "" {
		if t.earlier, err = onCopy("data-tls-before", l.before); err != nil {
			return err
		}
	}
	again, err := startPostern(ctx, binary, data)
	if err != nil {
		return err
	}
	*p = again
	m.movedTo(again)
	return nil
}

func (t *secured) stop() {
	if t.nginx != nil {
		t.nginx.stop()
	}
	for _, one := range []*postern{t.current, t.earlier} {
		if one != nil {
			one.stop()
		}
	}
}

// scenarios are calls over TLS, as many at once as in the scenarios without it. HTTP/2 calls share connections. Before
// start, they have no peers.
func (t *secured) scenarios(s settings, m testbed) []scenario {
	const streams, path = 4, "/orders/42"
	var peers []peer
	add := func(name string, p *postern) {
		if p != nil {
			url := strings.Replace(p.gateway, "http://", "https://", 1) + prefix
			peers = append(peers, peer{name: name, url: url, key: m.keys[0], pids: p.pids})
		}
	}
	add("postern", t.current)
	if t.earlier != nil {
		add("postern"+earlierSuffix, t.earlier)
		peers[1].earlierOf = "postern"
	}
	if t.nginx != nil {
		url := "https://" + t.nginx.addr + prefix
		peers = append(peers, peer{name: "nginx", url: url, key: m.keys[0], pids: t.nginx.pids})
	}
	shared := max(1, s.connections/streams)
	return []scenario{
		{
			name:        fmt.Sprintf("HTTP/1.1 over TLS, forward 1 KiB, %d connections", s.connections),
			connections: s.connections, path: path, peers: peers, streams: 1,
		},
		{
			name:        fmt.Sprintf("HTTP/2 over TLS, forward 1 KiB, %d connections of %d calls", shared, streams),
			connections: shared, path: path, peers: peers, streams: streams, http2: true,
		},
	}
}

// measureStreams sends the calls of a scenario over TLS or of gRPC, with h2load.
func (l load) measureStreams(ctx context.Context, sc scenario, p peer) (observed, error) {
	log := filepath.Join(l.dir, "h2load.log")
	if err := os.Remove(log); err != nil && !errors.Is(err, os.ErrNotExist) {
		return observed{}, fmt.Errorf("h2load: %w", err)
	}
	cmd := exec.CommandContext(
		ctx, l.h2load, "-t", "1", "-c", fmt.Sprint(sc.connections), "-m", fmt.Sprint(sc.streams), "-D",
		fmt.Sprint(l.seconds), "-H", p.credential(), "--log-file", log,
	)
	if !sc.http2 {
		cmd.Args = append(cmd.Args, "--h1")
	}
	if sc.grpc {
		more, err := l.grpcArguments(p)
		if err != nil {
			return observed{}, err
		}
		cmd.Args = append(cmd.Args, more...)
	}
	cmd.Args = append(cmd.Args, p.url+sc.path)
	if out, err := cmd.CombinedOutput(); err != nil {
		return observed{}, fmt.Errorf("h2load: %w\n%s", err, out)
	}
	file, err := os.Open(log)
	if err != nil {
		return observed{}, fmt.Errorf("h2load: %w", err)
	}
	defer func() { _ = file.Close() }()
	var took []float64
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var began, status, µs float64
		if _, err := fmt.Sscan(lines.Text(), &began, &status, &µs); err != nil || status != 200 {
			return observed{}, fmt.Errorf("h2load: an answer other than 200: %s", lines.Text())
		}
		took = append(took, µs)
	}
	if len(took) == 0 {
		return observed{}, fmt.Errorf("h2load: no answers")
	}
	slices.Sort(took)
	at := func(share float64) float64 { return took[int(share*float64(len(took)-1))] }
	return observed{float64(len(took)), float64(l.seconds), at(0.5), at(0.99)}, nil
}
