package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"postern/core/contract"
	"postern/models"
)

// upstream sets the upstream of a project's only environment.
func (s *stock) upstream(ctx context.Context, name string, upstream contract.Upstream) error {
	return s.db.Write(ctx, func(tx *models.Tx) error {
		project, err := tx.ProjectByName(name)
		if err != nil {
			return err
		}
		environments, err := tx.EnvironmentsOf(project.ID)
		if err != nil {
			return err
		}
		one := environments[0]
		seen := one.UpdatedAt
		one.Upstream, one.UpdatedAt = upstream, seen.Add(time.Microsecond)
		_, err = tx.UpdateEnvironment(one, seen)
		return err
	})
}

// upstreamAddresses are the addresses of this machine that the upstream listens on. They are one server, so that
// several targets differ from one only in what the gateway does.
func upstreamAddresses(addr string) ([]string, error) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("read the upstream's address: %w", err)
	}
	var out []string
	for i := range 3 {
		out = append(out, net.JoinHostPort(fmt.Sprintf("127.0.0.%d", 1+i), port))
	}
	return out, nil
}

// spread gives the project all addresses of the upstream as its targets.
func (s *stock) spread(ctx context.Context, name, addr string) error {
	addresses, err := upstreamAddresses(addr)
	if err != nil {
		return err
	}
	var upstream contract.Upstream
	for _, one := range addresses {
		upstream.Targets = append(upstream.Targets, contract.UpstreamTarget{URL: "http://" + one})
	}
	return s.upstream(ctx, name, upstream)
}
