package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"postern/core/policy"
)

// testbed is the state that calls are made to.
type testbed struct {
	bench    *project   // every kind of limit is on
	plain    *project   // none is; it has as many keys
	million  *project   // has settings.million keys
	projects []*project // many, one key each
	keys     []string   // of bench, all of them
	known    []string   // of plain, all of them
	few      []string   // of million, as many
	of       []calling  // the many projects with their keys
	rules    required
	pages    required
	targets  required
	grpc     *project
}

// stockUp creates the projects through the API and their keys without it; the
// server is stopped for that and started again.
func stockUp(ctx context.Context, s settings, binary string, target string, p **postern) (m testbed, err error) {
	create := func(name string) (one *project) {
		if err == nil {
			one, err = (*p).createProject(ctx, name, target)
		}
		return one
	}
	m.bench, m.plain, m.million = create("bench"), create("plain"), create("million")
	if err == nil {
		m.rules, err = (*p).requireRules(ctx, target)
	}
	if err == nil {
		m.pages, err = (*p).requirePages(ctx, target)
	}
	if err == nil {
		m.targets, err = (*p).pair(ctx, "targets", target)
	}
	m.grpc = create(grpcProject)
	for i := range s.projects {
		m.projects = append(m.projects, create(fmt.Sprintf("p%d", i)))
	}
	if err != nil {
		return m, err
	}
	for _, one := range m.projects {
		m.of = append(m.of, calling{path: "/" + one.name + "/1.0.0/prod", key: one.key})
	}
	data := (*p).data
	(*p).stop()
	if err := m.fill(ctx, s, data, target); err != nil {
		return m, err
	}
	progress("starting on %d keys", s.keys+s.million+s.projects)
	*p, err = startPostern(ctx, binary, data)
	m.movedTo(*p)
	return m, err
}

func (m *testbed) fill(ctx context.Context, s settings, data, target string) error {
	stock, err := openStock(ctx, data, "")
	if err != nil {
		return err
	}
	defer func() { _ = stock.db.Close() }()
	for _, one := range m.all() {
		if err := stock.claim(ctx, one.name); err != nil {
			return err
		}
	}
	if err := stock.spread(ctx, m.targets.with.name, strings.TrimPrefix(target, "http://")); err != nil {
		return err
	}
	if m.keys, err = stock.keys(ctx, m.bench.name, s.keys, s.keys); err != nil {
		return err
	}
	if m.known, err = stock.keys(ctx, m.plain.name, s.keys, s.keys); err != nil {
		return err
	}
	if m.few, err = stock.keys(ctx, m.million.name, s.million, s.keys); err != nil {
		return err
	}
	return stock.limit(ctx, m.bench.name)
}

func (m *testbed) all() []*project {
	some := []*project{m.bench, m.plain, m.million, m.rules.with, m.rules.without, m.pages.with, m.pages.without}
	some = append(some, m.targets.with, m.targets.without, m.grpc)
	return append(some, m.projects...)
}

// movedTo sets the addresses that the server has after a new start.
func (m *testbed) movedTo(p *postern) {
	if p == nil {
		return
	}
	for _, one := range m.all() {
		one.control, one.url = p.control, p.gateway+"/"+one.name+"/1.0.0/prod"
	}
}

// scenarios lists what is measured, in the order of the tables. nginx looks up
// one of settings.keys and forwards, and does nothing else.
func scenarios(s settings, m testbed, ours func() []int, nginx peer) []scenario {
	wrong, err := policy.NewKey(policy.DefaultKeyPrefix, "prod") // well-formed, so that it is looked up
	if err != nil {
		panic(err)
	}
	nginx.key = m.keys[len(m.keys)/2]
	all := peer{name: "postern", url: m.bench.url, key: nginx.key, pids: ours}
	plain := peer{name: "postern without limits", url: m.plain.url, key: m.plain.key, pids: ours}
	refusing, refusingNginx := all, nginx
	refusing.key, refusingNginx.key = wrong, wrong
	crowd := func(name string, of []calling) peer {
		return peer{name: name, url: m.bench.url, keys: of, pids: ours}
	}
	others := peer{name: "nginx", url: nginx.url, keys: callings(m.bench, m.keys), pids: nginx.pids}
	forward := fmt.Sprintf("forward 1 KiB, %d connections", s.connections)
	const path = "/orders/42"
	return []scenario{
		{
			name:        forward + ", key, identity, limits and usage",
			connections: s.connections,
			path:        path,
			peers:       []peer{all, plain, nginx},
		},
		{
			name:        fmt.Sprintf("wrong key, %d connections", s.connections),
			connections: s.connections,
			path:        path,
			refused:     true,
			peers:       []peer{refusing, refusingNginx},
		},
		{name: "forward 1 KiB, 1 connection", connections: 1, path: path, peers: []peer{all, nginx}},
		{
			name:        fmt.Sprintf("forward 64 KiB, %d connections", s.connections),
			connections: s.connections,
			path:        bigPath,
			peers:       []peer{all, nginx},
		},
		{name: forward + ", each call another key", connections: s.connections, path: path, peers: []peer{
			crowd(fmt.Sprintf("one of %d", s.million), callings(m.million, m.few)),
			crowd(fmt.Sprintf("one of %d", s.keys), callings(m.plain, m.known)),
			crowd("one", callings(m.plain, m.known[:1])),
			others,
		}},
		{name: forward + ", each call another project", connections: s.connections, path: path, peers: []peer{
			crowd(fmt.Sprintf("one of %d", s.projects), m.of),
			crowd("one of 1", callings(m.plain, slices.Repeat([]string{m.plain.key}, len(m.of)))),
		}},
		m.rules.scenario(forward+", rules", "50 rules, 5 groups", s.connections, ours),
		m.pages.scenario(forward+", from a page", "CORS", s.connections, ours),
		m.targets.scenario(forward+", several targets", "three targets", s.connections, ours),
	}
}

// callings are one project's address with each of the keys.
func callings(p *project, keys []string) []calling {
	var out []calling
	for _, key := range keys {
		out = append(out, calling{path: "/" + p.name + strings.TrimPrefix(prefix, "/bench"), key: key})
	}
	return out
}
