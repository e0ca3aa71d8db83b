package app

import (
	"crypto/tls"
	"fmt"

	"postern/platform/certs"
	"postern/platform/config"
)

// secure reads the certificates. The control plane's door speaks TLS from here on;
// what the gateway is to speak is returned, nil for no TLS.
func (a *App) secure() (*tls.Config, error) {
	control, err := a.pair("control-tls", a.Config.ControlTLS)
	if err != nil {
		return nil, err
	}
	if control != nil {
		a.listeners.control = tls.NewListener(a.listeners.control, control.Config("h2", "http/1.1"))
	}
	gateway, err := a.pair("gateway-tls", a.Config.GatewayTLS)
	if gateway == nil || err != nil {
		return nil, err
	}
	return gateway.Config(), nil // the protocols are the gateway's own matter
}

func (a *App) pair(setting string, files config.KeyPair) (*certs.Pair, error) {
	if !files.IsSet() {
		return nil, nil
	}
	pair, err := certs.Load(files.CertFile, files.KeyFile, a.log)
	if err != nil {
		return nil, fmt.Errorf("cannot speak TLS (%w): check --%s-cert and --%[2]s-key", oneLineError{err}, setting)
	}
	a.pairs = append(a.pairs, pair)
	return pair, nil
}
