package main

import (
	"context"
	"fmt"

	"postern/client"
	"postern/core/contract"
)

// required is a pair of projects that differ in what they ask of a call, and the calls to them.
type required struct {
	with, without *project
	origin        string // of the page that both are called from; "": no page
}

const pageOrigin = "https://app.example.com"

// requireRules makes two projects with one key each, of a user who is in one of five groups. One of them has 50 rules,
// each of which requires a scope and a group.
func (p *postern) requireRules(ctx context.Context, target string) (required, error) {
	pair, err := p.pair(ctx, "rules", target)
	if err != nil {
		return pair, err
	}
	for _, one := range []*project{pair.with, pair.without} {
		if err := one.memberKey(ctx); err != nil {
			return pair, fmt.Errorf("make a key of a group's member: %w", err)
		}
	}
	in := contract.Rules{Default: "deny", Mode: "enforce"}
	for i := range 25 {
		resource := "/orders/{id}"
		if i > 0 {
			resource = fmt.Sprintf("/resource-%d/{id}", i)
		}
		for _, methods := range [][]string{{"GET"}, {"POST", "PUT", "DELETE"}} {
			in.List = append(in.List, contract.Rule{
				Methods: methods, Path: resource, Scopes: []string{"orders:read"},
				Groups: []string{fmt.Sprintf("group-%d", i%4), "group-4"},
			})
		}
	}
	c, err := client.New(pair.with.control, pair.with.workspaceKey)
	if err != nil {
		return pair, err
	}
	_, err = client.Do(ctx, c, contract.SetRules, contract.RulesUpdate{
		VersionPath: contract.VersionPath{
			ProjectPath: contract.ProjectPath{Project: pair.with.name}, Version: "1.0.0",
		},
		Body: in,
	})
	return pair, err
}

// requirePages makes two projects, of which one lets pages of one origin call it.
func (p *postern) requirePages(ctx context.Context, target string) (required, error) {
	pair, err := p.pair(ctx, "pages", target)
	if err != nil {
		return pair, err
	}
	pair.origin = pageOrigin
	c, err := client.New(pair.with.control, pair.with.workspaceKey)
	if err != nil {
		return pair, err
	}
	_, err = client.Do(ctx, c, contract.SetCORS, contract.CORSUpdate{
		ProjectPath: contract.ProjectPath{Project: pair.with.name},
		Body:        contract.CORS{Origins: []string{pageOrigin}, Methods: []string{"GET"}},
	})
	return pair, err
}

func (p *postern) pair(ctx context.Context, name, target string) (pair required, err error) {
	if pair.with, err = p.createProject(ctx, name, target); err != nil {
		return pair, err
	}
	pair.without, err = p.createProject(ctx, "no-"+name, target)
	return pair, err
}

// memberKey replaces the key of a project by one of a user in the last of five groups.
func (one *project) memberKey(ctx context.Context) error {
	c, err := client.New(one.control, one.workspaceKey)
	if err != nil {
		return err
	}
	for tenant, err := range client.Each(ctx, c, contract.ListTenants, contract.TeamList{}) {
		if err != nil {
			return err
		}
		user, err := client.Do(ctx, c, contract.CreateUser, contract.NewUser{Email: "ana@example.com"}.In(tenant.ID))
		if err != nil {
			return err
		}
		for i := range 5 {
			group, err := client.Do(
				ctx, c, contract.CreateGroup, contract.NewGroup{Name: fmt.Sprintf("group-%d", i)}.In(tenant.ID),
			)
			if err != nil {
				return err
			}
			if i < 4 {
				continue
			}
			if _, err := client.Do(
				ctx, c, contract.SetGroupMember, contract.InGroup(group.ID, user.ID).As("member"),
			); err != nil {
				return err
			}
		}
		key, err := client.Do(ctx, c, contract.CreateKey, contract.NewKey{Owner: user.ID}.In(one.name))
		if err != nil {
			return err
		}
		one.key = key.Secret.Reveal()
		return nil
	}
	return fmt.Errorf("%s has no tenant", one.name)
}

// scenario compares the two projects.
func (r required) scenario(name, with string, connections int, pids func() []int) scenario {
	of := func(name string, one *project) peer {
		return peer{name: name, url: one.url, key: one.key, origin: r.origin, pids: pids}
	}
	return scenario{
		name: name, connections: connections, path: "/orders/42",
		peers: []peer{of(with, r.with), of("without", r.without)},
	}
}
