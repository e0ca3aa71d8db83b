package gateway

import (
	"net/netip"

	"postern/core/policy"
)

// isTrusted tells the proxies whose word on their callers is taken.
func (g *Gateway) isTrusted(a netip.Addr) bool { return policy.Contains(g.trusted, a) }

// saidByProxies are the headers by which a trusted proxy says which way its caller
// came (kong/runloop/handler.lua, access.before, for a trusted client).
var saidByProxies = []string{
	"X-Forwarded-Proto",
	"X-Forwarded-Host",
	"X-Forwarded-Port",
	"X-Forwarded-Path",
	"X-Forwarded-Prefix",
}

// onBehalf is the connection of a trusted proxy as one call sees it: made by whom
// the proxy called for. lines are those of the call's header.
func (g *Gateway) onBehalf(info *connInfo, lines func(name string) []string) *connInfo {
	one := *info
	if hop, err := netip.ParseAddr(info.hop); err == nil {
		one.addr = policy.ClientAddress(hop, lines("X-Forwarded-For"), g.trusted)
		one.peer, one.network = one.addr.String(), policy.Network(one.addr)
	}
	one.said = make(map[string]string, len(saidByProxies))
	for _, name := range saidByProxies {
		one.said[name] = first(lines(name))
	}
	return &one
}

// said is what a trusted proxy says, or ours where there is none or it is silent.
func (c *call) said(name, ours string) string {
	if theirs := c.conn.said[name]; theirs != "" {
		return theirs
	}
	return ours
}
