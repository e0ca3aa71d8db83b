// Package egress dials addresses that customers control: upstreams, key sets, discovery documents and webhooks. All
// connections to them go through it.
//
// It decides which addresses may be reached, checks the resolved address of every connection, and validates target
// URLs. It leaves the data on a connection to its callers, which also name the request's field with a bad target.
//
// Forbidden ranges are the special-purpose registries of IANA (RFC 6890) as
// code.dny.dev/ssrf has them (for IPv6 everything outside 2000::/3, which includes
// IPv4-mapped addresses and NAT64, and 6to4 and Teredo within it) and the public
// addresses at which cloud platforms serve their own machines (reserved.go). Ports of
// other protocols are refused at every address that the operator has not opened.
package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// ErrForbidden is wrapped by every error from dialing an address that may not be reached.
var ErrForbidden = errors.New("address isn't allowed")

// errPort is in the chain too if the port is the only reason.
var errPort = errors.New("the port belongs to a protocol other than HTTP")

// errOwn is in the chain too if the address is a listener of this installation. Callers learn it only of addresses that
// isKnownOwn returns true for.
var errOwn = errors.New("it is this installation")

// Options has the exceptions: special addresses that may be reached, and this installation's own addresses, which may
// not.
type Options struct {
	Allow           []netip.Prefix // special ranges that may be reached, at every port
	LoopbackAllowed bool           // loopback addresses may be reached

	Listeners []string // host:port of our own listeners; refused even if Allow or LoopbackAllowed includes them
	Names     []string // our own host names, refused on every port
	Domains   []string // our own domains, refused with all their subdomains
	Dashboard []string // those of Listeners and Names that serve the dashboard

	Resolver       *net.Resolver // nil: the system's
	ConnectTimeout time.Duration // for one connection of DialContext, including name resolution; 0: 10 s
}

// Guard checks targets and dials. It is safe for concurrent use.
type Guard struct {
	ranges   *ssrf.Guardian
	opened   []netip.Prefix // by the operator
	own      own
	resolver *net.Resolver
	dialer   *net.Dialer
	patient  *net.Dialer // without a timeout
}

// New returns a guard. It fails if a listener is not host:port. A listener with a host
// name counts as listening on every interface.
func New(o Options) (*Guard, error) {
	ours, err := newOwn(o)
	if err != nil {
		return nil, err
	}
	opened := o.opened()
	g := &Guard{ranges: newRanges(opened), opened: opened, own: ours, resolver: o.Resolver}
	if g.resolver == nil {
		g.resolver = net.DefaultResolver
	}
	timeout := o.ConnectTimeout
	if timeout == 0 {
		timeout = 10 * time.Second
	}
	g.dialer = &net.Dialer{Timeout: timeout, KeepAlive: 30 * time.Second, Resolver: g.resolver, Control: g.control}
	g.patient = new(*g.dialer)
	g.patient.Timeout = 0
	return g, nil
}

// opened returns the ranges in which every address and port may be reached, except our
// own listeners.
func (o Options) opened() []netip.Prefix {
	out := slices.Clone(o.Allow)
	if o.LoopbackAllowed {
		out = append(out, netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"))
	}
	return out
}

func newRanges(opened []netip.Prefix) *ssrf.Guardian {
	var v4, v6 []netip.Prefix
	for _, p := range opened {
		if p.Addr().Is4() {
			v4 = append(v4, p)
		} else {
			v6 = append(v6, p)
		}
	}
	// judge checks the port itself: ssrf supports a list of allowed ports only.
	return ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...),
		ssrf.WithDeniedV4Prefixes(platformPrefixes...))
}

// DialContext connects to a customer's address. It checks the resolved address as the last step before it connects, so
// that a name can't resolve to another address after the check (DNS rebinding).
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return g.dialer.DialContext(ctx, network, address)
}

// DialWithin is DialContext with the context's timeout only.
func (g *Guard) DialWithin(ctx context.Context, network, address string) (net.Conn, error) {
	return g.patient.DialContext(ctx, network, address)
}

// Transport returns a new transport that dials through the guard, ignores proxy
// variables of the environment, and adds no Accept-Encoding.
func (g *Guard) Transport() *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Transport{
		DialContext:           g.DialContext,
		Protocols:             &protocols,
		DisableCompression:    true,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second,
		IdleConnTimeout:       60 * time.Second,
		MaxIdleConnsPerHost:   4,
	}
}

// Client returns a client for Postern's own requests to customers' addresses. It returns redirects instead of following
// them. A request takes at most 30 s.
func (g *Guard) Client() *http.Client {
	return &http.Client{
		Transport: g.Transport(),
		Timeout:   30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
}

// control is a net.Dialer.Control: it is called for every address about to be dialed.
func (g *Guard) control(network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("dial %s %s: %w", network, address, ErrForbidden)
	}
	dest, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("dial %s: %w: %w", address, ErrForbidden, err)
	}
	if err := g.judge(dest); err != nil {
		return fmt.Errorf("dial %s: %w", address, err)
	}
	return nil
}

// Reaches reports whether the address may be reached, at least at the HTTP ports. It ignores the addresses that this
// installation listens on.
func (g *Guard) Reaches(addr netip.Addr) bool {
	addr = addr.Unmap()
	return addr.Zone() == "" && g.ranges.SafeAddr(addr) == nil
}

// judge returns an error that wraps ErrForbidden if the address may not be reached.
// Every check of an address ends here.
func (g *Guard) judge(dest netip.AddrPort) error {
	addr := dest.Addr().Unmap() // net.Dial sends ::ffff:127.0.0.1 to 127.0.0.1
	if addr.Zone() != "" {
		return fmt.Errorf("%w: it has a zone", ErrForbidden)
	}
	if g.own.listens(netip.AddrPortFrom(addr, dest.Port())) {
		return fmt.Errorf("%w: %w", ErrForbidden, errOwn)
	}
	if err := g.ranges.SafeAddr(addr); err != nil {
		return fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	isOpened := slices.ContainsFunc(g.opened, func(p netip.Prefix) bool { return p.Contains(addr) })
	if isReservedPort(dest.Port()) && !isOpened {
		return fmt.Errorf("%w: %w", ErrForbidden, errPort)
	}
	return nil
}

// own has the addresses that belong to this installation.
type own struct {
	listeners []netip.AddrPort
	dashboard dashboard
	names     map[string]bool
	domains   []string // each with its leading dot
}

// dashboard has those of own that serve the dashboard, all others belong to the gateway.
type dashboard struct {
	listeners []netip.AddrPort
	names     map[string]bool
}

func newOwn(o Options) (own, error) {
	out := own{names: map[string]bool{}, dashboard: dashboard{names: map[string]bool{}}}
	for _, address := range o.Listeners {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return own{}, fmt.Errorf("egress: listener %q: %w", address, err)
		}
		if host == "localhost" {
			host = "127.0.0.1"
		} else if _, err := netip.ParseAddr(host); err != nil {
			host = "0.0.0.0"
		}
		ap, err := netip.ParseAddrPort(net.JoinHostPort(host, port))
		if err != nil {
			return own{}, fmt.Errorf("egress: listener %q: %w", address, err)
		}
		ap = netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
		out.listeners = append(out.listeners, ap)
		if slices.Contains(o.Dashboard, address) {
			out.dashboard.listeners = append(out.dashboard.listeners, ap)
		}
	}
	// Loopback is shared with every other service of the machine: there only
	// the listeners are ours, not the name on all ports.
	for _, name := range append(append([]string{}, o.Names...), o.Domains...) {
		if name = strings.ToLower(strings.Trim(name, "[]")); !isLoopbackName(name) {
			out.names[name] = true
			out.dashboard.names[name] = slices.ContainsFunc(o.Dashboard, func(one string) bool {
				return strings.EqualFold(one, name)
			})
		}
	}
	for _, domain := range o.Domains {
		if domain = strings.ToLower(domain); !isLoopbackName(domain) {
			out.domains = append(out.domains, "."+domain)
		}
	}
	return out, nil
}

func isLoopbackName(name string) bool {
	addr, err := netip.ParseAddr(name)
	return name == "" || name == "localhost" || (err == nil && (addr.IsLoopback() || addr.IsUnspecified()))
}

// isName reports whether a host name, in lowercase, is one of this installation's.
func (o own) isName(host string) bool {
	return o.names[host] || o.isDomain(host)
}

// isDomain reports whether a host name, in lowercase, is one of the gateway's domains or below it.
func (o own) isDomain(host string) bool {
	return slices.ContainsFunc(o.domains, func(domain string) bool { return strings.HasSuffix("."+host, domain) })
}

// listens reports whether one of our listeners is reached at the address. One that
// listens on every interface is reached at every address of this machine. One on
// loopback counts as reached at every loopback address, because no upstream needs
// 127.0.0.2 or ::1 at that port.
func (o own) listens(dest netip.AddrPort) bool { return anyListens(o.listeners, dest) }

func anyListens(listeners []netip.AddrPort, dest netip.AddrPort) bool {
	for _, l := range listeners {
		if l.Port() != dest.Port() {
			continue
		}
		switch {
		case l.Addr() == dest.Addr(), dest.Addr().IsUnspecified(),
			dest.Addr().IsLoopback() && (l.Addr().IsLoopback() || l.Addr().IsUnspecified()),
			l.Addr().IsUnspecified() && isLocalAddr(dest.Addr()):
			return true
		}
	}
	return false
}

// isLocalAddr reports whether an interface of this machine has the address.
func isLocalAddr(addr netip.Addr) bool {
	addrs, err := net.InterfaceAddrs()
	if err != nil { // such as without AF_NETLINK in a sandbox
		return canBind(addr)
	}
	for _, a := range addrs {
		if ipnet, ok := a.(*net.IPNet); ok {
			if local, ok := netip.AddrFromSlice(ipnet.IP); ok && local.Unmap() == addr {
				return true
			}
		}
	}
	return false
}

// canBind reports whether a socket can have the address, which only one of this machine's can. If another error
// prevents that, it returns true: refusing is safe.
func canBind(addr netip.Addr) bool {
	socket, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr, 0)))
	if err != nil {
		return !errors.Is(err, syscall.EADDRNOTAVAIL)
	}
	_ = socket.Close()
	return true
}
