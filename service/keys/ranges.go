package keys

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"postern/models"
	"postern/platform/fault"
)

// MaxRanges is how many address ranges a key can be limited to.
const MaxRanges = 50

// ReadRanges parses address ranges in CIDR notation (RFC 4632, RFC 4291) and single addresses, at most as many as
// given, and returns them in canonical form, without duplicates. pointer is their JSON Pointer in the body.
func ReadRanges(pointer string, in []string, most int) (models.Prefixes, []fault.Field) {
	if len(in) > most {
		return nil, []fault.Field{{
			Pointer: pointer,
			Code:    "too_many_ranges",
			Detail:  fmt.Sprintf("Use at most %d ranges.", most),
		}}
	}
	var out models.Prefixes
	var wrong []fault.Field
	for i, text := range in {
		network, problem := readRange(strings.TrimSpace(text))
		if problem != "" {
			wrong = append(wrong, fault.Field{
				Pointer: fmt.Sprintf("%s/%d", pointer, i),
				Code:    "invalid_range",
				Detail:  problem,
			})
			continue
		}
		if !slices.Contains(out, network) {
			out = append(out, network)
		}
	}
	return out, wrong
}

// readRange parses one range, or returns how to correct it.
func readRange(text string) (network netip.Prefix, problem string) {
	const example = "Use an address range such as 203.0.113.0/24 or 2001:db8::/32, or a single address."
	if !strings.Contains(text, "/") {
		address, err := netip.ParseAddr(text)
		if err != nil || address.Zone() != "" {
			return network, example
		}
		address = address.Unmap()
		return netip.PrefixFrom(address, address.BitLen()), ""
	}
	network, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		return network, example
	case network.Addr().Is4In6() && network.Bits() >= 96:
		return network, fmt.Sprintf(
			"Use the IPv4 form of this range: %s.",
			netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-96).Masked(),
		)
	case network != network.Masked():
		return network, fmt.Sprintf("%s has bits set beyond its /%d. Use %s for the whole range, or %s for the "+
			"single address.",
			text, network.Bits(), network.Masked(), network.Addr())
	}
	return network, ""
}

// Texts returns the ranges as text.
func Texts(networks models.Prefixes) []string {
	out := make([]string, 0, len(networks))
	for _, network := range networks {
		out = append(out, network.String())
	}
	return out
}
