package domains

import (
	"context"
	"errors"
	"net"
	"time"
)

// ErrNoRecord means that the DNS answered, and that there is no such record.
var ErrNoRecord = errors.New("domains: no TXT record with that name")

// lookupWithin bounds one lookup.
const lookupWithin = 5 * time.Second

// DNS is a Resolver that asks the system's name servers, or the one at Server.
type DNS struct {
	Server string // host:port; "" for those of the system
}

// LookupTXT implements Resolver.
func (d DNS) LookupTXT(ctx context.Context, name string) ([]string, error) {
	ctx, stop := context.WithTimeout(ctx, lookupWithin)
	defer stop()
	resolver := &net.Resolver{PreferGo: true}
	if d.Server != "" {
		resolver.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, d.Server)
		}
	}
	values, err := resolver.LookupTXT(ctx, name+".") // absolute: the system's search list does not apply
	if unknown, ok := errors.AsType[*net.DNSError](err); ok && unknown.IsNotFound {
		return nil, ErrNoRecord
	}
	return values, err //nolint:wrapcheck // it names the lookup, and only its kind is looked at
}
