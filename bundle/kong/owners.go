package kong

import (
	"context"

	"postern/core/policy"
	"postern/core/snapshot"
)

// mostConsumers is the highest number of owners that are written as Kong consumers. Our plugin doesn't need them: they
// are for Kong's other plugins, which can be scoped to a consumer. Kong needs most of a minute and half a gigabyte to
// load 100,000.
const mostConsumers = 10_000

// owners writes a consumer for each distinct owner, and none if there are too many.
func (c *configWriter) owners(ctx context.Context) error {
	names, err := c.distinctOwners(ctx)
	if err != nil {
		return err
	}
	c.out.Open("[")
	for _, owner := range names {
		c.out.Next("    ")
		c.out.Value(consumerDoc{ID: policy.ConsumerID(c.b.Project.ID, owner), Username: owner, CustomID: owner})
	}
	c.out.Raw("\n  ]")
	return nil
}

// distinctOwners returns the fallback owners and those of the keys that are accepted, in the order of their keys. It
// returns nil if there are too many.
func (c *configWriter) distinctOwners(ctx context.Context) ([]string, error) {
	var names []string
	seen := map[string]struct{}{}
	add := func(owner string) {
		if _, have := seen[owner]; !have {
			seen[owner] = struct{}{}
			names = append(names, owner)
		}
	}
	if owner, ok := fallbackOwner(c.b.Project); ok {
		add(owner.Owner)
	}
	for _, t := range c.b.Project.Tenants {
		if owner, ok := tenantFallback(c.b.Project, t); ok && !t.Detached {
			add(owner.Owner)
		}
	}
	for _, client := range c.b.Project.Clients {
		if client.Machine && acceptsOwnTokens(c.b.Project) {
			add(client.ID)
		}
	}
	if !c.b.HasKeys() {
		return names, nil
	}
	for k, err := range c.b.Keys(ctx, gatewayFile) {
		if err != nil {
			return nil, err
		}
		if needsEntry(k) {
			add(k.Owner)
		}
		if len(names) > mostConsumers {
			return nil, nil
		}
	}
	return names, nil
}

// fallbackOwner returns the owner that calls without a key count for, and whether a version admits such calls.
func fallbackOwner(p *snapshot.Project) (ownerDoc, bool) {
	for _, v := range p.Versions {
		if v.Access.Keyless == snapshot.OwnerFallback && p.FallbackOwner != "" {
			return ownerDoc{Owner: p.FallbackOwner, Consumer: policy.ConsumerID(p.ID, p.FallbackOwner)}, true
		}
	}
	return ownerDoc{}, false
}
