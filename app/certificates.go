package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"golang.org/x/crypto/acme"

	"postern/platform/certs"
	"postern/platform/config"
	"postern/platform/traces"
	"postern/service/certificates"
	"postern/service/domains"
)

// listenerCertificates are the key pairs of the listeners, nil for one without TLS.
type listenerCertificates struct {
	control, gateway *certs.Pair
	names            *certs.Directory      // of custom host names, nil for none
	acme             *certificates.Service // of custom host names, nil for none
}

func loadCertificates(c config.Config, log *slog.Logger) (out listenerCertificates, err error) {
	if c.Roles.Control {
		if out.control, err = loadPair("control-tls", c.ControlTLS, log); err != nil {
			return out, err
		}
	}
	if !c.Roles.Gateway {
		return out, nil
	}
	if out.gateway, err = loadPair("gateway-tls", c.GatewayTLS, log); err != nil || c.GatewayTLSDir == "" {
		return out, err
	}
	if out.names, err = certs.OpenDirectory(c.GatewayTLSDir, log); err != nil {
		return out, fmt.Errorf("cannot use TLS (%w): check --gateway-tls-dir", oneLineError{err})
	}
	return out, nil
}

func loadPair(setting string, files config.KeyPair, log *slog.Logger) (*certs.Pair, error) {
	if !files.IsSet() {
		return nil, nil
	}
	pair, err := certs.Load(files.CertFile, files.KeyFile, log)
	if err != nil {
		return nil, fmt.Errorf("cannot use TLS (%w): check --%s-cert and --%[2]s-key", oneLineError{err}, setting)
	}
	return pair, nil
}

// followed lists the files to watch for changes.
func (c listenerCertificates) followed() (list []follower) {
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

// ends returns when the first certificate of each setting ends.
func (c listenerCertificates) ends() map[string]time.Time {
	out := map[string]time.Time{}
	note := func(setting string, ends time.Time, found bool) {
		if found {
			out[setting] = ends
		}
	}
	if c.control != nil {
		note("control-tls-cert", c.control.Ends(), true)
	}
	if c.gateway != nil {
		note("gateway-tls-cert", c.gateway.Ends(), true)
	}
	if c.names != nil {
		first, found := c.names.FirstEnd()
		note("gateway-tls-dir", first, found)
	}
	return out
}

// follower is a *certs.Pair or a *certs.Directory.
type follower interface{ Follow(ctx context.Context) }

// secureControl returns the control plane's listener with TLS, if it is configured.
func (c listenerCertificates) secureControl(l net.Listener) net.Listener {
	if c.control == nil {
		return l
	}
	return tls.NewListener(l, c.control.Config("h2", "http/1.1"))
}

// gatewayTLS returns the TLS settings of the gateway, nil for none. The gateway itself
// sets the protocols (ALPN).
func (c listenerCertificates) gatewayTLS() *tls.Config {
	if c.gateway == nil {
		return nil
	}
	var sources []certs.Source
	if c.acme != nil {
		sources = append(sources, c.acme.Challenge)
	}
	if c.names != nil {
		sources = append(sources, c.names.Certificate)
	}
	if c.acme != nil {
		sources = append(sources, c.acme.Certificate)
	}
	config := c.gateway.ConfigWith(sources...)
	if c.acme != nil {
		config.NextProtos = []string{acme.ALPNProto}
	}
	return config
}

// settleFor is how long a challenge waits for other replicas to read it: two of their looks,
// and some time for the query.
const settleFor = 2*certificates.LookEvery + time.Second

// newACME creates the service that obtains certificates for the names that the gateway serves,
// nil if it is not configured. names has those with certificates in files.
func (a *App) newACME(names *certs.Directory) (*certificates.Service, error) {
	c := a.Config.ACME
	if c.Directory == "" || !a.Config.Roles.Serve() {
		return nil, nil
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{
		MinVersion: tls.VersionTLS12,
	}}
	if c.RootsFile != "" {
		pem, err := os.ReadFile(c.RootsFile)
		roots := x509.NewCertPool()
		if err == nil && !roots.AppendCertsFromPEM(pem) {
			err = fmt.Errorf("%s contains no PEM certificate", c.RootsFile)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot trust the ACME server (%w): check --acme-roots", oneLineError{err})
		}
		transport.TLSClientConfig.RootCAs = roots
	}
	s := &certificates.Service{
		DB:        a.state.db,
		Vault:     a.vault,
		Directory: c.Directory,
		Email:     c.Email,
		Client: &http.Client{
			Transport: traces.Transport{Base: transport, Purpose: "acme"},
			Timeout:   acmeTimeout,
		},
		Traces:   a.traces,
		Hosts:    func() []string { return a.plane.Hosts() },
		Serves:   func(host string) bool { return a.plane.Serves(host) },
		Covered:  func(host string) bool { return names != nil && names.Covers(host) },
		ReadOnly: !a.Config.Roles.Control,
		Report:   domains.ReportCertificate,
		Log:      a.log,
	}
	if a.Config.DatabaseURL != "" {
		s.Settle = settleFor
	}
	return s, nil
}

// acmeTimeout bounds one request to the ACME server.
const acmeTimeout = 30 * time.Second
