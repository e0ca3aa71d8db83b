package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"postern/testkit/pgserver"
	"postern/testkit/ports"
	"postern/tools/account"
	"postern/tools/shipped"
)

// installation is Postern as docs/replicas.md builds it: replicas before one PostgreSQL,
// behind HAProxy.
type installation struct {
	dir        string
	program    string
	programOff string // the same with a clock that is off
	database   *pgserver.Server
	upstream   *httptest.Server
	redis      *redisServer
	haproxy    *process
	address    string     // of HAProxy
	gateways   []*replica // take calls
	control    []*replica // take changes, and work on exports
}

// install builds the program as it ships, and starts everything. stop has to be called also after an
// error.
func install(ctx context.Context, root, dir string, s settings) (in *installation, err error) {
	in = &installation{dir: dir, program: filepath.Join(dir, "postern")}
	if err := shipped.Build(ctx, root, in.program); err != nil {
		return in, err
	}
	if s.clock > 0 {
		progress("building with another clock, which takes minutes the first time")
		in.programOff = filepath.Join(dir, "postern-off")
		if err := buildOff(ctx, root, dir, in.programOff); err != nil {
			return in, err
		}
	}
	if in.database, err = pgserver.Start(true); err != nil {
		return in, err
	}
	if in.redis, err = startRedis(dir); err != nil {
		return in, err
	}
	in.upstream = httptest.NewServer(http.HandlerFunc(echoCaller))
	if in.address, err = ports.ReserveAddress(); err != nil {
		return in, err
	}
	// Gateways cannot bring the schema up to date, and wait for the others.
	for _, name := range []string{"c", "d", "a", "b"} {
		roles := "control,worker"
		if name < "c" {
			roles = "gateway"
		}
		r, err := in.newReplica(name, roles, s.drain)
		if err != nil {
			return in, err
		}
		if roles == "gateway" {
			in.gateways = append(in.gateways, r)
		} else {
			in.control = append(in.control, r)
		}
		if err := r.start(ctx); err != nil {
			return in, err
		}
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "replicas.md"))
	if err != nil {
		return in, err
	}
	config, err := haproxyConfig(string(page), in.address, in.control, in.gateways, s.check)
	if err != nil {
		return in, err
	}
	in.haproxy, err = startHAProxy(dir, config, func() bool { return isReady(ctx, in.address) })
	return in, err
}

func (in *installation) newReplica(name, roles string, drain time.Duration) (*replica, error) {
	r := &replica{name: name, roles: roles, program: in.program, dir: in.dir}
	for _, address := range []*string{&r.address, &r.admin} {
		var err error
		if *address, err = ports.ReserveAddress(); err != nil {
			return nil, err
		}
	}
	r.env = []string{
		"POSTERN_DATABASE_URL=" + in.database.URL(),
		"POSTERN_SECRETS_KEY=" + strings.Repeat("A", 43) + "=",
		"POSTERN_BLOB_URL=file://" + filepath.Join(in.dir, "exports"),
		"POSTERN_PUBLIC_URL=https://" + controlName,
		"POSTERN_GATEWAY_URL=https://" + gatewayName,
		"POSTERN_GATEWAY_DOMAIN=" + gatewayName,
		"POSTERN_TRUSTED_PROXIES=127.0.0.1/32",
		"POSTERN_EGRESS_ALLOW=127.0.0.1/32", // where the upstream is
		"POSTERN_REDIS_URL=redis://" + in.redis.address,
		"POSTERN_GATEWAY_MAX_CALLS=" + strconv.Itoa(2*callers), // as many wait for a gateway that is frozen
		"POSTERN_DRAIN=" + drain.String(),
	}
	return r, nil
}

// echoCaller is the upstream: it answers with what it was told about the caller.
func echoCaller(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{
		"key":   r.Header.Get("X-Credential-Identifier"),
		"owner": r.Header.Get("X-Consumer-Custom-Id"),
	})
}

// clientAddresses are so many of 127.1.0.0/24 that clients call from, since a gateway admits half of all
// calls under way from one address.
const clientAddresses = 32

// client makes requests to HAProxy under whatever name they have.
func (in *installation) client(timeout time.Duration) *http.Client {
	return in.clientOf(timeout, in.address)
}

// clientOf is client for one replica.
func (in *installation) clientOf(timeout time.Duration, address string) *http.Client {
	var dialed atomic.Uint32
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			MaxIdleConnsPerHost: callers,
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				from := &net.TCPAddr{IP: net.IPv4(127, 1, 0, byte(dialed.Add(1)%clientAddresses))}
				return (&net.Dialer{LocalAddr: from}).DialContext(ctx, network, address)
			},
		},
	}
}

// replicas are all of them, in the order in which they are replaced.
func (in *installation) replicas() []*replica {
	return append(in.gateways[:len(in.gateways):len(in.gateways)], in.control...)
}

// project is what POST /proxy creates.
type project struct {
	ID           string `json:"id"`
	Environments []struct {
		URL string `json:"url"`
	} `json:"environments"`
}

// create puts a proxy before the upstream, in the team of a new account.
func (in *installation) create(ctx context.Context, a *api) (project, error) {
	var made struct{ Project project }
	// The data directory of the command does not matter.
	env := append(slices.Clone(in.control[0].env), "POSTERN_DATA_DIR="+in.dir)
	token, err := account.First(ctx, in.client(callWithin), "http://"+controlName, in.program, env...)
	if err != nil {
		return made.Project, err
	}
	a.token = token
	err = a.do(ctx, http.MethodPost, "/proxy", map[string]any{
		"name":          "shop",
		"target":        in.upstream.URL,
		"requests_auth": map[string]any{"mode": "authenticate", "methods": []string{"api_key"}},
	}, &made)
	if err == nil && len(made.Project.Environments) != 1 {
		err = errors.New("POST /proxy: the answer names no environment")
	}
	return made.Project, err
}

// auditIntact verifies the chain of the audit log.
func (in *installation) auditIntact(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, in.program, "audit", "verify", "--database-url", in.database.URL(),
		"--data-dir", filepath.Join(in.dir, "c"))
	cmd.Env = append(os.Environ(), in.control[0].env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("audit verify: %w\n%s", err, out)
	}
	return nil
}

// stop ends what was started.
func (in *installation) stop() error {
	var failed error
	if in.haproxy != nil {
		failed = in.haproxy.end(syscall.SIGKILL)
	}
	for _, r := range in.replicas() {
		if r.process != nil {
			failed = errors.Join(failed, r.process.end(syscall.SIGKILL))
		}
	}
	if in.redis != nil {
		failed = errors.Join(failed, in.redis.stop())
	}
	if in.upstream != nil {
		in.upstream.Close()
	}
	if in.database != nil {
		failed = errors.Join(failed, in.database.Stop())
	}
	return failed
}
