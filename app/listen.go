package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"postern/platform/config"
)

// listeners are opened before anything else is touched: a port in use is the most
// common reason not to start.
type listeners struct {
	control net.Listener // nil without the role
	gateway net.Listener // nil without the role
	admin   net.Listener // nil: there is none
}

// listen opens the listeners. The returned configuration has the ports that they got.
func listen(ctx context.Context, c config.Config) (listeners, config.Config, error) {
	var l listeners
	for _, one := range []struct {
		wanted         bool
		flag, variable string
		addr           *string
		into           *net.Listener
	}{
		{c.Roles.Control, "control-addr", "POSTERN_CONTROL_ADDR", &c.ControlAddr, &l.control},
		{c.Roles.Gateway, "gateway-addr", "POSTERN_GATEWAY_ADDR", &c.GatewayAddr, &l.gateway},
		{c.AdminAddr != "", "admin-addr", "POSTERN_ADMIN_ADDR", &c.AdminAddr, &l.admin},
	} {
		if !one.wanted {
			continue
		}
		opened, err := Listen(ctx, *one.addr, "--"+one.flag+" or "+one.variable)
		if err != nil {
			return listeners{}, c, errors.Join(err, l.close())
		}
		*one.into, *one.addr = opened, withPort(*one.addr, opened)
	}
	return l, c.Derived(), nil
}

// Listen opens a TCP listener. settings are the flag, and the variable if there is one, that an error names as the way
// to choose another address, such as "--control-addr or POSTERN_CONTROL_ADDR".
func Listen(ctx context.Context, addr, settings string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is in use: stop the process that listens there, or choose another address with %s",
			addr, settings)
	}
	if err != nil {
		why := err
		if inner, ok := errors.AsType[*net.OpError](err); ok {
			why = inner.Err // without the address, which is named already
		}
		return nil, fmt.Errorf("cannot listen on %s (%w): choose another address with %s", addr, why, settings)
	}
	return l, nil
}

// withPort replaces port 0, which means any free port, by the port of the listener.
func withPort(addr string, l net.Listener) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port != "0" {
		return addr
	}
	_, port, err = net.SplitHostPort(l.Addr().String())
	if err != nil {
		return addr
	}
	return net.JoinHostPort(host, port)
}

func (l listeners) close() error {
	return errors.Join(closeListener(l.control), closeListener(l.gateway), closeListener(l.admin))
}
