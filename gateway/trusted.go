package gateway

import (
	"net/netip"

	"postern/core/policy"
)

// isTrusted reports whether an address is a proxy whose X-Forwarded headers are believed.
func (g *Gateway) isTrusted(a netip.Addr) bool { return policy.Contains(g.trusted, a) }

// trustedHeaders are the headers by which a trusted proxy reports how its caller addressed it
// (kong/runloop/handler.lua, access.before, for a trusted client).
var trustedHeaders = []string{
	"X-Forwarded-Proto",
	"X-Forwarded-Host",
	"X-Forwarded-Port",
	"X-Forwarded-Path",
	"X-Forwarded-Prefix",
}

// onBehalf returns the connection info of one call by a trusted proxy, with the address of the
// client that the proxy calls for. values returns the values of a field of the call.
func (g *Gateway) onBehalf(info *connInfo, values func(name string) []string) *connInfo {
	client := *info
	if hop, err := netip.ParseAddr(info.hop); err == nil {
		client.addr = policy.ClientAddress(hop, values("X-Forwarded-For"), g.trusted)
		client.peer, client.network = client.addr.String(), policy.Network(client.addr)
	}
	client.forwarded = make(map[string]string, len(trustedHeaders))
	for _, name := range trustedHeaders {
		client.forwarded[name] = first(values(name))
	}
	return &client
}

// forwardedOr returns the value that a trusted proxy sent in a header, else own.
func (c *call) forwardedOr(name, own string) string {
	if sent := c.conn.forwarded[name]; sent != "" {
		return sent
	}
	return own
}
