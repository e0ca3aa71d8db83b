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
	control net.Listener
	gateway net.Listener
	admin   net.Listener // nil: there is none
}

// listen opens the listeners. The returned configuration has the ports that they got.
func listen(ctx context.Context, c config.Config) (listeners, config.Config, error) {
	control, err := listenOn(ctx, "control-addr", "POSTERN_CONTROL_ADDR", c.ControlAddr)
	if err != nil {
		return listeners{}, c, err
	}
	gateway, err := listenOn(ctx, "gateway-addr", "POSTERN_GATEWAY_ADDR", c.GatewayAddr)
	if err != nil {
		return listeners{}, c, errors.Join(err, control.Close())
	}
	l := listeners{control: control, gateway: gateway}
	if c.AdminAddr != "" {
		if l.admin, err = listenOn(ctx, "admin-addr", "POSTERN_ADMIN_ADDR", c.AdminAddr); err != nil {
			return listeners{}, c, errors.Join(err, l.close())
		}
		c.AdminAddr = withPort(c.AdminAddr, l.admin)
	}
	c.ControlAddr = withPort(c.ControlAddr, control)
	c.GatewayAddr = withPort(c.GatewayAddr, gateway)
	return l, c.Derived(), nil
}

func listenOn(ctx context.Context, flag, variable, addr string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is in use: stop what listens there, or choose another address with --%s or %s",
			addr, flag, variable)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s (%w): choose another address with --%s or %s",
			addr, err, flag, variable)
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
	return errors.Join(l.control.Close(), l.gateway.Close(), closeListener(l.admin))
}
