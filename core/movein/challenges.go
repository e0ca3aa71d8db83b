package movein

import "postern/core/policy"

// acme is the plugin of Kong that answers the challenges of certificate authorities, below this path.
const (
	acme       = "acme"
	challenges = "/.well-known/acme-challenge"
)

// denyChallenges refuses the calls that Kong's acme answers on its own, so that they don't reach a target.
func (p *planner) denyChallenges() {
	for _, r := range p.routes {
		if r.left || r.opened || r.plugins[acme] == nil {
			continue
		}
		for _, one := range r.prefixes {
			switch {
			case isBelow(one.path, challenges) && one.path != challenges:
				p.deny(r, r, everything, []string{policy.AnyMethod})
			case isBelow(challenges, one.path):
				path := challenges
				if r.strips() {
					path = path[len(one.path):]
				}
				p.deny(r, r, path+everything, []string{policy.AnyMethod})
			}
		}
	}
}
