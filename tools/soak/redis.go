package main

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"syscall"
	"time"

	"postern/testkit/ports"
)

// redisServer is a Redis without a file, which keeps its address when it is started again.
type redisServer struct {
	address string
	dir     string
	process *process
}

func startRedis(dir string) (*redisServer, error) {
	address, err := ports.ReserveAddress()
	if err != nil {
		return nil, err
	}
	s := &redisServer{address: address, dir: dir}
	return s, s.up()
}

// up starts the server, empty.
func (s *redisServer) up() error {
	_, port, err := net.SplitHostPort(s.address)
	if err != nil {
		return err
	}
	s.process, err = launch("redis", filepath.Join(s.dir, "redis.log"), nil, "redis-server", "--port", port,
		"--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", s.dir)
	if err != nil {
		return fmt.Errorf("%w (tools/setup installs it)", err)
	}
	return s.process.until(func() bool {
		conn, err := new(net.Dialer).Dial("tcp", s.address)
		if err != nil {
			return false
		}
		_ = conn.Close()
		return true
	})
}

func (s *redisServer) stop() error {
	if s.process == nil {
		return nil
	}
	return s.process.end(syscall.SIGKILL)
}

// redisRestarted ends Redis by a signal, for the time of an outage or not at all.
func redisRestarted(signal syscall.Signal, outage bool) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		ends := r.limits.goes(false, true)
		defer ends()
		return r.restartRedis(ctx, signal, outage)
	}
}

func (r *run) restartRedis(ctx context.Context, signal syscall.Signal, outage bool) error {
	if err := r.in.redis.process.end(signal); err != nil {
		return err
	}
	if outage {
		if err := sleep(ctx, r.settings.outage); err != nil {
			return err
		}
	}
	r.limits.starting()
	return r.in.redis.up()
}

func redisFrozen(_ context.Context, r *run) error {
	ends := r.limits.goes(false, false)
	defer ends()
	if err := r.in.redis.process.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	time.Sleep(r.settings.outage)
	return r.in.redis.process.signal(syscall.SIGCONT)
}

// redisFailsClosed has Redis be away while the gateways refuse calls that it does not count.
func redisFailsClosed(ctx context.Context, r *run) error {
	for _, g := range r.in.gateways {
		g.extra = []string{"POSTERN_REDIS_FAILURE=closed"}
	}
	if err := r.replace(ctx, r.in.gateways...); err != nil {
		return err
	}
	ends := r.limits.goes(true, true)
	err := r.restartRedis(ctx, syscall.SIGKILL, true)
	ends()
	for _, g := range r.in.gateways {
		g.extra = nil
	}
	if err != nil {
		return err
	}
	if err := sleep(ctx, recountedWithin); err != nil {
		return err
	}
	return r.replace(ctx, r.in.gateways...)
}
