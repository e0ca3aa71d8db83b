package app

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"

	"postern/platform/certs"
	"postern/platform/config"
)

// certificates are the key pairs of the listeners, nil for one without TLS.
type certificates struct {
	control, gateway *certs.Pair
	names            *certs.Directory // of custom host names, nil for none
}

func loadCertificates(c config.Config, log *slog.Logger) (out certificates, err error) {
	if out.control, err = loadPair("control-tls", c.ControlTLS, log); err != nil {
		return out, err
	}
	if out.gateway, err = loadPair("gateway-tls", c.GatewayTLS, log); err != nil || c.GatewayTLSDir == "" {
		return out, err
	}
	if out.names, err = certs.OpenDirectory(c.GatewayTLSDir, log); err != nil {
		return out, fmt.Errorf("cannot speak TLS (%w): check --gateway-tls-dir", oneLineError{err})
	}
	return out, nil
}

func loadPair(setting string, files config.KeyPair, log *slog.Logger) (*certs.Pair, error) {
	if !files.IsSet() {
		return nil, nil
	}
	pair, err := certs.Load(files.CertFile, files.KeyFile, log)
	if err != nil {
		return nil, fmt.Errorf("cannot speak TLS (%w): check --%s-cert and --%[2]s-key", oneLineError{err}, setting)
	}
	return pair, nil
}

// followed lists what is to be watched for changes.
func (c certificates) followed() (list []follower) {
	for _, pair := range []*certs.Pair{c.control, c.gateway} {
		if pair != nil {
			list = append(list, pair)
		}
	}
	if c.names != nil {
		list = append(list, c.names)
	}
	return list
}

// follower is a *certs.Pair or a *certs.Directory.
type follower interface{ Follow(ctx context.Context) }

// secureControl returns the control plane's listener with TLS, if it is configured.
func (c certificates) secureControl(l net.Listener) net.Listener {
	if c.control == nil {
		return l
	}
	return tls.NewListener(l, c.control.Config("h2", "http/1.1"))
}

// gatewayTLS returns the TLS settings of the gateway, nil for none. The gateway itself
// sets the protocols (ALPN).
func (c certificates) gatewayTLS() *tls.Config {
	if c.gateway == nil {
		return nil
	}
	if c.names == nil {
		return c.gateway.Config()
	}
	return c.gateway.ConfigWith(c.names)
}
