package kong

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"postern/bundle"
	"postern/bundle/jsonfile"
	"postern/core/policy"
	"postern/core/snapshot"
)

const probesFile = "verify/probes.jsonl"

// probe is a recorded request and the hosted gateway's response to it. The order of the
// fields and the characters in them are part of the format: verify.sh parses the lines
// with only a shell.
type probe struct {
	ID      string   `json:"id"`
	Needs   string   `json:"needs"` // one of the needs below
	Path    string   `json:"path"`
	Headers []string `json:"headers"`
	Status  int      `json:"status"` // 0: any status of the upstream
	Code    string   `json:"code"`   // of the body; "": not checked
}

// The needs of a probe: the caller's own key; to be sent from the gateway's machine, because the response depends on
// the client address; or leave to spend a counted call of the fallback owner.
const (
	needsNothing   = "nothing"
	needsKey       = "key"
	needsNearby    = "nearby"
	needsNearbyKey = "nearby key"

	needsCounted       = "counted"
	needsNearbyCounted = "nearby counted"
)

// probesFor returns the probes of one route. hash is the SHA-256 of an accepted key, in hexadecimal; "" if there is
// none.
func probesFor(b *bundle.Build, pl place, r route, hash string) []probe {
	id := func(name string) string { return r.name + ":" + name }
	guarded := policy.CredentialsRequired
	base := r.path + "/"
	var out []probe
	if r.domain != nil && taker(b.Project, r.domain.Host, "GET", base) != r.domain {
		return nil // verify.sh sends GET
	}
	if r.domain == nil && !routed(b, r.path+"x") {
		out = append(out, boundaryOf(r))
	}
	access := pl.version.Access
	if access.Mode == snapshot.Authenticate && !keylessAllowed(b.Project, access) {
		out = append(out, probe{
			ID:      id("no_credentials"),
			Needs:   needsNothing,
			Path:    base,
			Headers: r.hostHeader(),
			Status:  guarded.Status,
			Code:    guarded.Code,
		})
		if !takesKeysIn(access, inQuery) {
			out = append(out, probe{
				ID:      id("key_in_query"),
				Needs:   needsNothing,
				Path:    base + "?api_key=" + b.UnknownKey(pl.environment.Name),
				Headers: r.hostHeader(),
				Status:  guarded.Status,
				Code:    guarded.Code,
			})
		}
		// Otherwise the header is read as a token or a key.
		if !access.TakesTokens() && !takesKeysIn(access, inAuthorization) {
			out = append(out, probe{
				ID:      id("key_in_authorization"),
				Needs:   needsNothing,
				Path:    base,
				Headers: append(r.hostHeader(), "Authorization: Bearer "+b.UnknownKey(pl.environment.Name)),
				Status:  guarded.Status,
				Code:    guarded.Code,
			})
		}
	} else if p, ok := letThrough(r, "no_credentials", needsOfKeyless(b.Project, access), access.IP); ok {
		out = append(out, p)
	}
	out = append(out, tokenProbes(b.Project, pl.version, r)...)
	if !access.Allows(snapshot.APIKey) {
		return out
	}
	return append(out, keyProbes(b, pl, r, hash)...)
}

// keyProbes returns the probes of a route with keys. There are none where only WebSockets can carry one.
func keyProbes(b *bundle.Build, pl place, r route, hash string) (out []probe) {
	access := pl.version.Access
	in, ok := samplePlace(access.APIKey)
	if !ok {
		return nil
	}
	refused := func(name string, keys ...string) {
		p := probe{
			ID:      r.name + ":" + name,
			Needs:   needsNothing,
			Path:    r.path + "/",
			Headers: r.hostHeader(),
			Status:  policy.InvalidKey.Status,
			Code:    policy.InvalidKey.Code,
		}
		for _, key := range keys {
			p.carry(in, key)
		}
		out = append(out, p)
	}
	unknown := b.UnknownKey(pl.environment.Name)
	refused("unknown_key", unknown)
	if isToken := access.TakesTokens() && inAuthorization(in); !isToken { // a token, if it doesn't look like a key
		refused("malformed_key", "not-a-key")
		refused("repeated_key", unknown, unknown)
		if hash != "" {
			refused("leaked_hash", hash)
		}
	}
	// verify.sh gets a key's environment from the path, which a custom domain doesn't have.
	if p, ok := letThrough(r, "valid_key", needsKey, access.IP); ok && r.domain == nil {
		if !access.APIKey.IsDefault() {
			p.carry(in, keyMark)
		}
		out = append(out, p)
	}
	return out
}

// carry adds a key to the request, in a place.
func (p *probe) carry(in snapshot.KeyPlace, key string) {
	header, query := carrying(in, key)
	switch {
	case header != "":
		p.Headers = append(p.Headers, header)
	case strings.Contains(p.Path, "?"):
		p.Path += "&" + query
	default:
		p.Path += "?" + query
	}
}

func inQuery(in snapshot.KeyPlace) bool { return in.Query != "" }

func inAuthorization(in snapshot.KeyPlace) bool { return strings.EqualFold(in.Header, "Authorization") }

// takesKeysIn reports whether one of the places of a version's keys is of a kind.
func takesKeysIn(access snapshot.Access, kind func(snapshot.KeyPlace) bool) bool {
	return access.Allows(snapshot.APIKey) && slices.ContainsFunc(access.APIKey.Places(), kind)
}

// boundaryOf returns the probe of a path that only begins like the path of a route.
func boundaryOf(r route) probe {
	return probe{
		ID:      r.name + ":boundary",
		Needs:   needsNothing,
		Path:    r.path + "x",
		Headers: []string{},
		Status:  policy.NoRoute.Status,
	}
}

// routed reports whether a path is below the path of an environment. The path of a boundary probe can be below a
// shorter one if a version has the project's name.
func routed(b *bundle.Build, path string) bool {
	paths := layoutOf(b).paths
	for end := len(path); end > 0; end = strings.LastIndexByte(path[:end], '/') {
		if paths[path[:end]] {
			return true
		}
	}
	return false
}

// letThrough returns a probe that only address rules may refuse. It returns false if the
// answer depends on which of the local addresses the caller has.
func letThrough(r route, name, needs string, rules snapshot.IPRules) (probe, bool) {
	p := probe{ID: r.name + ":" + name, Needs: needs, Path: r.path + "/", Headers: r.hostHeader()}
	if len(rules.Allow) == 0 && len(rules.Deny) == 0 {
		return p, true
	}
	p.Needs = needsNearby
	switch fromNearby(rules) {
	case nearbyTaken:
		if needs == needsCounted {
			p.Needs = needsNearbyCounted
		}
	case nearbyDenied:
		p.Status, p.Code = policy.IPDenied.Status, policy.IPDenied.Code
	default:
		return probe{}, false
	}
	if needs == needsKey {
		p.Needs = needsNearbyKey
	}
	return p, true
}

// needsOfKeyless returns the requirements that a call without a key has to meet.
func needsOfKeyless(p *snapshot.Project, access snapshot.Access) string {
	if access.Mode == snapshot.Authenticate && !p.Limits.None() {
		return needsCounted
	}
	return needsNothing
}

func keylessAllowed(p *snapshot.Project, access snapshot.Access) bool {
	return access.Allows(snapshot.APIKey) && access.Keyless == snapshot.OwnerFallback && p.FallbackOwner != ""
}

// probesOf returns the IDs of the probes that demonstrate a subject. It leaves out the leaked hash, because it doesn't
// read the keys.
func probesOf(b *bundle.Build, s bundle.Subject) []string {
	var ids []string
	for _, pl := range layoutOf(b).of(s) {
		for _, r := range pl.routes {
			if (s.Form != "" && r.form != s.Form) || (s.Domain != nil && r.domain != s.Domain) {
				continue
			}
			for _, p := range probesFor(b, pl, r, "") {
				if shows(p, s.Feature) {
					ids = append(ids, p.ID)
				}
			}
		}
	}
	return ids
}

// probesOfKey returns the ID of a probe with which the holder of a key can test the key: the probe of the first route
// that accepts the key. It is nil for a key that not every address may use, and if address rules refuse the gateway's
// own machine.
func probesOfKey(b *bundle.Build, k *snapshot.Key) []string {
	l := layoutOf(b)
	if l.openedBy == nil {
		l.openedBy = map[string][]string{}
		for _, pl := range l.places {
			for _, r := range pl.routes {
				for _, p := range probesFor(b, pl, r, "") {
					if !strings.HasSuffix(p.ID, ":valid_key") || p.Status != 0 {
						continue // address rules refuse it with any key
					}
					for _, name := range []string{"", pl.environment.Name} {
						if l.openedBy[name] == nil {
							l.openedBy[name] = []string{p.ID}
						}
					}
				}
			}
		}
	}
	if len(k.AllowedIPs) > 0 {
		return nil
	}
	return l.openedBy[k.Environment]
}

// shows reports whether a probe demonstrates a feature: rules about credentials and
// about addresses have their own probes, and all other features have the path's.
func shows(p probe, f snapshot.Feature) bool {
	switch f {
	case snapshot.FeatureAccess:
		return !strings.HasSuffix(p.ID, ":boundary")
	case snapshot.FeatureIPRules:
		return strings.HasPrefix(p.Needs, needsNearby)
	case snapshot.FeatureTokenIssuer:
		return strings.HasSuffix(p.ID, malformedToken)
	case snapshot.FeatureIntrospection:
		return strings.HasSuffix(p.ID, unknownToken)
	case snapshot.FeatureCustomDomains, snapshot.FeatureOwnerFallback:
		return strings.HasSuffix(p.ID, ":no_credentials")
	}
	return strings.HasSuffix(p.ID, ":boundary")
}

func writeProbes(ctx context.Context, b *bundle.Build, w io.Writer) error {
	hash, err := someHash(ctx, b)
	if err != nil {
		return err
	}
	out := jsonfile.NewStream(w)
	for _, pl := range layoutOf(b).places {
		for _, r := range pl.routes {
			for _, p := range probesFor(b, pl, r, hash) {
				if p.Headers == nil {
					p.Headers = []string{}
				}
				out.Value(p)
				out.Raw("\n")
			}
		}
	}
	return out.Close()
}

// someHash returns the hash of the first accepted key, "" if there is none.
func someHash(ctx context.Context, b *bundle.Build) (string, error) {
	if !b.HasKeys() {
		return "", nil
	}
	for k, err := range b.Keys(ctx, probesFile) {
		if err != nil {
			return "", err
		}
		if needsEntry(k) {
			return fmt.Sprintf("%x", k.Hash), nil
		}
	}
	return "", nil
}

// pathsByKey returns the prefixes, in host form, that do and do not require a key.
func pathsByKey(b *bundle.Build) (keyed, open []string) {
	for _, pl := range layoutOf(b).places {
		path := pl.routes[0].path + "/"
		access := pl.version.Access
		if access.Mode == snapshot.Authenticate && !keylessAllowed(b.Project, access) {
			keyed = append(keyed, path)
		} else {
			open = append(open, path)
		}
	}
	return slices.Clip(keyed), slices.Clip(open)
}

// environmentPaths returns the prefixes of all environments, in host form and in the
// order of their services in gateway.yaml.
func environmentPaths(b *bundle.Build) []string {
	var paths []string
	for _, pl := range layoutOf(b).places {
		paths = append(paths, pl.routes[0].path+"/")
	}
	return paths
}
