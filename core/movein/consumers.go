package movein

import (
	"crypto/sha1" //nolint:gosec // UUIDs of version 5 are made of it
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"postern/core/configfile"
	"postern/core/contract"
	"postern/core/keyfile"
	"postern/core/kongfile"
)

// Key is an API key to be imported.
type Key struct {
	SHA256       [32]byte
	Last4        string // at most a quarter of the key
	CredentialID string // X-Credential-Identifier; "" without one in the file: Kong makes one at each start
	State        string // contract.KeyActive or contract.KeyFrozen
	ExpiresAt    time.Time
	Pointer      string
	Line         int
}

// planConsumers makes owners of consumers.
func (p *planner) planConsumers() {
	seen := map[[32]byte]bool{}
	for _, c := range p.file.Of(kongfile.Consumer) {
		if len(c.Value.Get("username").Unfilled())+len(c.Value.Get("custom_id").Unfilled()) > 0 {
			p.say(c, "consumer.placeholder")
			for _, e := range c.Credentials {
				p.skipKey(e, "keyauth_credential.consumer")
			}
			continue
		}
		o := contract.PlannedOwner{
			Name: p.ownerName(c.Name()), Username: c.Value.Get("username").Text,
			CustomID: c.Value.Get("custom_id").Text, ConsumerID: c.ID(),
			Groups: []string{}, AllowedCIDRs: []string{}, Limits: contract.Limits{},
		}
		if o.ConsumerID == "" && o.Username != "" {
			o.ConsumerID = derivedID("consumers", o.Username)
		}
		if o.Name != c.Name() {
			p.say(c, "consumer.renamed")
		}
		if o.Username == "" {
			p.say(c, "consumer.name")
		}
		for _, acl := range c.ACLs {
			if name := p.groups[acl.Value.Get("group").Text]; name != "" {
				p.use(acl)
				if name != acl.Value.Get("group").Text {
					p.say(acl, "acl.renamed")
				}
				if !slices.Contains(o.Groups, name) {
					o.Groups = append(o.Groups, name)
				}
			} else if len(acl.Value.Unfilled()) > 0 {
				p.say(acl, "acl.placeholder")
			} else {
				p.say(acl, "acl.no_group")
			}
		}
		p.consumerPlugins(c, &o)
		var keys []Key
		for _, e := range c.Credentials {
			if e.Type == kongfile.KeyAuth {
				keys = p.planKey(e, keys, o.Frozen, seen)
			}
		}
		if len(keys) == 0 {
			p.sayKeyless(c)
		}
		o.Keys = int64(len(keys))
		p.plan.Owners, p.plan.OwnerKeys = append(p.plan.Owners, o), append(p.plan.OwnerKeys, keys)
	}
	for _, e := range p.file.Of(kongfile.KeyAuth) {
		if e.Consumer == nil {
			p.skipKey(e, "keyauth_credential.consumer")
		}
	}
}

func (p *planner) skipKey(e *kongfile.Entity, code string) {
	if e.Type != kongfile.KeyAuth {
		return
	}
	p.say(e, code)
	p.plan.Keys.Skipped++
}

// longestKey is the length of the longest key that servers take in a header.
const longestKey = 4096

// HashKey returns the text that replaces the value of an API key.
func HashKey(text string) configfile.Key {
	return configfile.Key{
		SHA256: sha256.Sum256([]byte(text)), Last4: text[len(text)-min(4, len(text)/4):],
		IsWeak: keyfile.IsWeak(text), IsEmpty: text == "",
		IsUsable: strings.TrimSpace(text) == text && len(text) <= longestKey &&
			!strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' }),
	}
}

// weakAllowed is why a key that can be guessed is imported.
const weakAllowed = "weak_allowed"

// takeKey returns the key that a value is, and why it isn't imported, as the end of a code; weakAllowed if it is.
func (p *Plan) takeKey(value configfile.Value, seen map[[32]byte]bool) (found configfile.Key, reason string) {
	found = HashKey(value.Text)
	if value.Kind == configfile.Hashed {
		found = *value.Key
	}
	switch {
	case len(value.Unfilled()) > 0:
		reason = "placeholder"
	case found.IsEmpty:
		reason = "no_key"
	case !found.IsUsable:
		reason = "unusable"
	case seen[found.SHA256]:
		reason = "repeated"
	case found.IsWeak && !p.Options.AllowWeak:
		reason = "weak"
	case found.IsWeak:
		p.Keys.Weak++
		seen[found.SHA256] = true
		return found, weakAllowed
	default:
		seen[found.SHA256] = true
		return found, ""
	}
	if reason == "weak" {
		p.Keys.Weak++
		seen[found.SHA256] = true
	}
	p.Keys.Skipped++
	return found, reason
}

// planKey adds a key to those of its owner. Only its hash is kept.
func (p *planner) planKey(e *kongfile.Entity, keys []Key, frozen bool, seen map[[32]byte]bool) []Key {
	found, reason := p.plan.takeKey(e.Value.Get("key"), seen)
	if reason != "" {
		p.say(e, "keyauth_credential."+reason)
	}
	if reason != "" && reason != weakAllowed {
		return keys
	}
	counts := &p.plan.Keys
	key := Key{
		SHA256: found.SHA256, Last4: found.Last4, CredentialID: e.ID(), State: contract.KeyActive,
		Pointer: e.Pointer, Line: e.Line,
	}
	p.expiry(e, &key)
	switch {
	case !key.ExpiresAt.IsZero() && !key.ExpiresAt.After(p.options.Now):
		counts.Expired++
	case frozen:
		key.State = contract.KeyFrozen
		counts.Frozen++
		p.say(e, "keyauth_credential.frozen")
	}
	counts.Imported++
	p.use(e)
	return append(keys, key)
}

// longestTTL is the most seconds that Kong takes as the life of a key. [Kong 3.10: kong/constants.lua, DAO_MAX_TTL]
const longestTTL = 100_000_000

// expiry reads ttl: the end in seconds since 1970 in files of DB-less Kong, but the seconds that are left in decK's,
// which can be read in two ways. The earlier one counts.
func (p *planner) expiry(e *kongfile.Entity, key *Key) {
	ttl := e.Value.Get("ttl")
	if !ttl.IsSet() {
		return
	}
	n, err := strconv.ParseFloat(ttl.Text, 64)
	if err != nil || n < 0 {
		n = 0
	}
	key.ExpiresAt = time.Unix(int64(min(n, 9e9)), 0).UTC()
	if n <= longestTTL {
		p.say(e, "keyauth_credential.ttl")
		return
	}
	p.say(e, "keyauth_credential.expires")
}

// consumerPlugins reads the plugins that apply to a consumer's calls. Those that check calls and can't be imported
// freeze its keys.
func (p *planner) consumerPlugins(c *kongfile.Entity, o *contract.PlannedOwner) {
	reasons := p.groupReasons(c)
	for _, e := range c.Plugins {
		name := e.PluginName()
		if !e.IsOn() {
			continue
		}
		p.use(e)
		everywhere := e.Service == nil && e.Route == nil
		switch {
		case p.items[e].hasCode("plugin.anonymous_refused") && len(c.Credentials) == 0:
		case p.items[e].hasCode("plugin.anonymous_refused"):
			reasons = append(reasons, "request-termination refuses its calls")
		case name == "rate-limiting" && limitsOf(e) == nil:
			p.say(e, "plugin.consumer")
			reasons = append(reasons, "rate-limiting has a limit below 1 or a placeholder without a value")
		case name == "rate-limiting" && countsConsumer(e) && everywhere && len(limitsOf(e)) > 0:
			o.Limits = limitsOf(e)
			p.say(e, "rate-limiting.consumer")
			if len(c.Credentials) > 1 {
				p.say(e, "rate-limiting.per_key")
			}
		case name == "rate-limiting":
			p.say(e, "rate-limiting.consumer_part")
		case name == "ip-restriction" && everywhere && len(e.Config("deny").Texts()) == 0:
			if allow, ok := ranges(e.Config("allow").Texts()); ok && len(allow) > 0 {
				o.AllowedCIDRs = allow
				p.say(e, "ip-restriction.consumer")
				continue
			}
			p.say(e, "plugin.consumer")
			reasons = append(reasons, "ip-restriction has invalid addresses")
		case slices.Contains(harmless, name):
			p.sayHarmless(e)
		case name == "request-transformer", name == "response-transformer", name == "cors":
			p.say(e, "plugin.consumer_transform")
		default:
			p.say(e, "plugin.consumer")
			reasons = append(reasons, "the plugin "+name+" can't be imported")
		}
	}
	if len(reasons) == 0 {
		return
	}
	if p.isOpened(c) {
		p.say(c, "consumer.opened")
		return
	}
	o.Frozen = true
	p.say(c, "consumer.frozen")
	p.plan.Closed = append(p.plan.Closed, contract.ClosedEntity{
		Kind: "consumer", Name: c.Name(), Pointer: c.Pointer, Line: c.Line, Reasons: reasons,
		Open: "--open " + quoted(c.Name()),
	})
}

// sayKeyless says that the plugins of a consumer without a key apply to nothing.
func (p *planner) sayKeyless(c *kongfile.Entity) {
	for _, e := range c.Plugins {
		if item := p.items[e]; item.hasCode("rate-limiting.consumer") || item.hasCode("ip-restriction.consumer") {
			p.say(e, "plugin.no_keys")
		}
	}
}

func (i *item) hasCode(code string) bool { return slices.Contains(i.Codes, code) }

// entitySpace is the namespace of the IDs that Kong derives for entities without one. [Kong 3.10:
// kong/db/schema/others/declarative_config.lua, generate_uuid]
const entitySpace = "fd02801f09574a15a55ac8d9606f30b5"

// derivedID returns the ID that DB-less Kong gives an entity of a schema, by its unique name. Measured on Kong 3.9.3.
func derivedID(schema, name string) string {
	space, _ := hex.DecodeString(entitySpace)
	return formatID(uuid5(uuid5(space, schema), name))
}

func uuid5(space []byte, name string) []byte {
	sum := sha1.Sum(append(slices.Clone(space), name...)) //nolint:gosec // RFC 9562, 5.5
	id := sum[:16]
	id[6] = id[6]&0x0f | 0x50
	id[8] = id[8]&0x3f | 0x80
	return id
}

func formatID(id []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// others reports the entities that no route uses, so that each has a reason.
func (p *planner) others() {
	for _, e := range p.file.Entities {
		item := p.items[e]
		switch e.Type {
		case kongfile.Service:
			p.sayService(e)
		case kongfile.Plugin:
			p.sayPlugin(e, item)
		case kongfile.ACL:
			if e.Consumer == nil {
				p.say(e, "acl.consumer")
			}
		case kongfile.Upstream:
			if !item.used {
				p.say(e, "upstream.unused")
			}
		case kongfile.Target:
			if e.Upstream == nil || !p.items[e.Upstream].used {
				p.say(e, "target.unused")
			}
		case kongfile.Certificate:
			p.say(e, "certificate")
		case kongfile.SNI:
			p.say(e, "sni")
			p.plan.ByHand.Certificates = append(p.plan.ByHand.Certificates, e.Name())
		case kongfile.CACertificate:
			if !item.used {
				p.say(e, "ca_certificate.unused")
			}
		case kongfile.Route, kongfile.Consumer, kongfile.KeyAuth:
		case kongfile.JWTSecret, kongfile.BasicAuth, kongfile.HMACAuth, kongfile.OAuth2, kongfile.MTLSAuth:
			p.say(e, "credential")
		case kongfile.ConsumerGroup:
			p.say(e, "consumer_group")
		case kongfile.Vault:
			p.say(e, "vault")
		default:
			p.say(e, "unknown")
		}
	}
}

func (p *planner) sayPlugin(e *kongfile.Entity, item *item) {
	if isUnclear(e.Value.Get("enabled")) {
		p.say(e, "plugin.enabled")
	}
	switch {
	case !e.IsOn():
		p.say(e, "plugin.off")
	case len(e.Missing) > 0:
		p.say(e, "plugin.missing", e.Missing...)
	case e.Group != nil:
		p.say(e, "plugin.group")
	case e.Consumer != nil:
	case p.onClosed[e] && !p.onOpen[e]:
		if !slices.ContainsFunc(item.Codes, func(code string) bool { return fateOf(code).status == skipped }) {
			item.Codes, item.Details = []string{"plugin.route_closed"}, []string{}
		}
	case !item.used:
		p.say(e, "plugin.unused")
	}
}
