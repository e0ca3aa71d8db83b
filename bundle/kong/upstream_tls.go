package kong

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"postern/bundle"
	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
)

// caDoc is a certificate authority. Kong takes one certificate in each, and each only once.
type caDoc struct {
	ID   string `json:"id"`
	Cert string `json:"cert"`
}

// caID is the same for all environments that trust the certificate.
func caID(p *snapshot.Project, one *x509.Certificate) string {
	sum := sha256.Sum256(one.Raw)
	return policy.EntityID(p.ID + ":ca:" + hex.EncodeToString(sum[:]))
}

// authoritiesOf returns the certificates that an environment trusts and Kong accepts: it refuses a configuration with a
// certificate that isn't an authority's (kong/db/schema/entities/ca_certificates.lua). all reports whether these are
// all, and whether Kong can end a chain with each, which OpenSSL does with self-signed ones only.
func authoritiesOf(e *snapshot.Environment) (list []*x509.Certificate, all bool) {
	set, _ := e.Upstream.CA.Certificates() // which were checked when they were saved
	all = true
	for _, one := range set {
		isAuthority := one.BasicConstraintsValid && one.IsCA
		if isAuthority {
			list = append(list, one)
		}
		all = all && isAuthority && bytes.Equal(one.RawSubject, one.RawIssuer)
	}
	return list, all
}

// authorities writes the certificate authorities of all environments, if there are any.
func (c *configWriter) authorities() {
	docs := authorityDocs(c.b.Project)
	if len(docs) == 0 {
		return
	}
	c.out.Raw(",\n  \"ca_certificates\": ")
	c.out.Open("[")
	for _, doc := range docs {
		c.out.Next("    ")
		c.out.Value(doc)
	}
	c.out.Raw("\n  ]")
}

func authorityDocs(p *snapshot.Project) (docs []caDoc) {
	for _, pl := range newLayout(p).places {
		list, _ := authoritiesOf(pl.environment)
		for _, one := range list {
			doc := caDoc{caID(p, one), contract.EncodeCertificates([]*x509.Certificate{one})}
			if !slices.Contains(docs, doc) {
				docs = append(docs, doc)
			}
		}
	}
	return docs
}

// trustedBy returns the ids of the authorities that an environment's service trusts; nil for those of the image. Empty
// ones trust no certificate.
func trustedBy(p *snapshot.Project, e *snapshot.Environment) *[]string {
	if !e.Upstream.CA.IsSet() {
		return nil
	}
	ids := []string{}
	list, _ := authoritiesOf(e)
	for _, one := range list {
		ids = append(ids, caID(p, one))
	}
	if len(ids) == 0 && e.Upstream.CA.TrustsSystem() {
		return nil
	}
	return &ids
}

func authorityFates() []bundle.Fate {
	const how = "`ca_certificates` of the service"
	const expiry = " Kong doesn't start if the certificate of an authority has expired."
	const replace = "Replace the authorities' certificates before they expire."
	return []bundle.Fate{
		{Reason: "ca_certificates", Status: bundle.Approximate, How: how,
			Note: "The service trusts the same certificate authorities." + expiry + " At worst, the entire gateway " +
				"can't be restarted after an authority's certificate has expired. The hosted gateway refuses only " +
				"calls to that upstream.",
			Remedy: replace},
		{Reason: "system", Status: bundle.Approximate, How: how,
			Note: "A service on Kong that has its own certificate authorities trusts only those, not the system's " +
				"authorities. At worst, calls to an upstream whose certificate is from a public authority get " +
				"502." + expiry,
			Remedy: "If the upstream's certificate is from a public authority, remove the environment's own " +
				"authorities, or add that authority's certificate to them, and export again. " + replace},
		{Reason: "unsuitable", Status: bundle.Lossy, How: how + ", without the certificates that Kong refuses",
			Note: "Kong accepts only CA certificates (CA in the basic constraints), and a chain must end with a " +
				"self-signed certificate. The environment also has other certificates: a server's own certificate, " +
				"which is left out, or an intermediate certificate. At worst, calls to the upstream get 502, because " +
				"no certificate is trusted." + expiry,
			Remedy: "Use the certificate of the authority at the root of the chain, and export again. " + replace},
	}
}

func judgeAuthorities(b *bundle.Build, s bundle.Subject) bundle.Verdict {
	v := bundle.Verdict{Reason: "ca_certificates"}
	if _, all := authoritiesOf(s.Environment); !all {
		v.Reason = "unsuitable"
	} else if s.Environment.Upstream.CA.TrustsSystem() {
		v.Reason = "system"
	}
	if found := layoutOf(b).of(s); len(found) > 0 && trustedBy(b.Project, s.Environment) != nil {
		v.Target = bundle.At(gatewayFile, "/services/%d/ca_certificates", found[0].index)
	}
	return v
}

// targetHosts returns the host of each target of an environment.
func targetHosts(e *snapshot.Environment) (out []string) {
	for _, one := range e.Upstream.TargetsOr(e.Target) {
		host := ""
		if u, err := url.Parse(one.URL); err == nil {
			host = strings.ToLower(u.Hostname())
		}
		out = append(out, host)
	}
	return out
}

// agreeAll reports whether Kong requires the same name of the certificates of all targets on all calls: nginx sends the
// Host as the server name too, and checks names only, not addresses.
func agreeAll(e *snapshot.Environment) bool {
	if !strings.HasPrefix(e.Target, "https://") {
		return true
	}
	for _, target := range targetHosts(e) {
		name := target
		if isSet(e.Upstream.ServerName) {
			name = *e.Upstream.ServerName
		}
		if _, err := netip.ParseAddr(name); err == nil {
			return false
		}
		if slices.ContainsFunc(hostsSent(e, target), func(host string) bool { return host != name }) {
			return false
		}
	}
	return true
}

func isSet(text *string) bool { return text != nil && *text != "" }

func serverNameFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "host", Status: bundle.Exact, How: "the Host that Kong sends",
			Note: "Kong sends the Host header's value as the server name (SNI), and the certificate must be valid " +
				"for it. The name is the same as on the hosted gateway."},
		{Reason: "not_host", Status: bundle.Lossy, How: "not available",
			Note: "Kong has no separate server name: it sends the Host header's value as the server name (SNI), and " +
				"requires the certificate to be valid for it. The environment has a different server name. At worst, " +
				"calls get 502, because the certificate isn't valid for the Host, or because the upstream presents a " +
				"different certificate.",
			Remedy: "Set host_header to the server name if the upstream accepts it, or use a certificate that is " +
				"also valid for the Host, and export again."},
	}
}

func judgeServerName(s bundle.Subject) bundle.Verdict {
	if !agreeAll(s.Environment) {
		return bundle.Verdict{Reason: "not_host"}
	}
	return bundle.Verdict{Reason: "host"}
}

// hostsSent returns the hosts that calls are sent with to a target of an environment, which has the host given. Kong
// sends that of the target that it chose too (kong/runloop/balancer/init.lua, set_host_header).
func hostsSent(e *snapshot.Environment, target string) []string {
	name, callers := e.Upstream.OwnHost()
	switch {
	case name != "":
		return []string{name}
	case callers:
		return append([]string{target}, hostsOf(e)...)
	}
	return []string{target}
}

// hostsOf returns the hosts of an environment's custom domains.
func hostsOf(e *snapshot.Environment) (hosts []string) {
	for i := range e.Domains {
		hosts = append(hosts, e.Domains[i].Host)
	}
	return hosts
}

// hostHeaderOf returns the Host that calls to a route are sent with; "" for the target's.
func hostHeaderOf(e *snapshot.Environment, r route) string {
	name, callers := e.Upstream.OwnHost()
	if callers {
		return r.host()
	}
	return name
}

func hostHeaderFates() []bundle.Fate {
	const how = "the `postern-auth` plugin, `host` of each route"
	return []bundle.Fate{
		{Reason: "plugin", Status: bundle.Exact, How: how, Note: "The upstream gets the same Host header."},
		{Reason: "server_name", Status: bundle.Lossy, How: how,
			Note: "The upstream gets the same Host header. However, Kong also sends the Host header's value as the " +
				"server name (SNI) in the TLS handshake, and requires the certificate to be valid for it. The " +
				"hosted gateway uses the server name or the chosen target's host. At worst, calls get 502, because " +
				"the certificate isn't valid for the Host, or because the upstream presents a different certificate.",
			Remedy: "Use a certificate for the upstream that is also valid for the Host. If all calls have the same " +
				"Host, set server_name to it, so that both gateways require the same name."},
	}
}

func judgeHostHeader(b *bundle.Build, s bundle.Subject) bundle.Verdict {
	v := bundle.Verdict{Reason: "plugin"}
	if !agreeAll(s.Environment) {
		v.Reason = "server_name"
	}
	for _, pl := range layoutOf(b).of(s) {
		for _, r := range pl.routes {
			if hostHeaderOf(s.Environment, r) != "" {
				v.Target = bundle.At(gatewayFile, "/plugins/0/config/routes/%s/host", r.id)
			}
		}
	}
	return v
}

// hasOwnHost reports whether all calls have the same Host, which isn't the target's.
func hasOwnHost(e *snapshot.Environment) bool {
	name, _ := e.Upstream.OwnHost()
	return name != ""
}
