package movein

import (
	"cmp"
	"net"
	"net/url"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/core/kongfile"
)

// The codes of services whose host is trusted.
const (
	trustedCode  = "service.trusted"
	notTakenCode = "service.not_taken"
)

// Target is an address that calls go to, with what its certificate has to be.
type Target struct {
	Address    string // scheme, host and port unless it is the scheme's
	ServerName string // "": the host
	CA         string // PEM of private authorities
	OnlyCA     bool   // the authorities that the machine trusts don't count
	Trusted    bool   // by the choices
}

// Host returns the host name or the IP address.
func (t Target) Host() string {
	u, err := url.Parse(t.Address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// Targets returns the targets that calls go to, each once and in the order of the plan.
func (p *Plan) Targets() []Target {
	var out []Target
	seen := map[Target]bool{}
	trusted := p.trustedItems()
	for i := range p.Projects {
		project := &p.Projects[i]
		for j := range project.Versions {
			if project.Versions[j].Closed {
				continue
			}
			e := &project.Versions[j].Environment
			for _, one := range e.Upstream.TargetsOr(e.Target) {
				target := p.target(one.URL, trusted[project.From] != nil)
				target.ServerName = *cmp.Or(e.Upstream.ServerName, new(""))
				target.CA, target.OnlyCA = *cmp.Or(e.Upstream.CA.PEM, new("")), !e.Upstream.CA.TrustsSystem()
				if target.Address != "" && !seen[target] {
					seen[target] = true
					out = append(out, target)
				}
			}
		}
	}
	return out
}

// target returns the target at a URL. Its service may be trusted as a whole.
func (p *Plan) target(address string, trusted bool) Target {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return Target{}
	}
	return Target{
		Address: u.Scheme + "://" + strings.ToLower(u.Host),
		Trusted: u.Scheme == "https" && (trusted || p.Options.trustsHost(u.Hostname())),
	}
}

// trusts reports whether a service is trusted: its host, which can be the name of an upstream, or all of its targets.
func (o *Options) trusts(host string, targets []contract.UpstreamTarget) bool {
	return o.trustsHost(host) || !slices.ContainsFunc(targets, func(one contract.UpstreamTarget) bool {
		u, err := url.Parse(one.URL)
		return err != nil || !o.trustsHost(u.Hostname())
	})
}

func (o *Options) trustsHost(host string) bool {
	return slices.ContainsFunc(o.Trust, func(one string) bool { return strings.EqualFold(one, host) })
}

// httpsHosts returns the hosts of the file's https targets, and the names of upstreams that have such targets.
func (p *planner) httpsHosts() (hosts []string) {
	for _, e := range p.file.Of(kongfile.Service) {
		host := e.Value.Get("host")
		upstream := p.found.upstreams[host.Text]
		if schemes[e.Value.Get("protocol").Text] != "https" || host.Text == "" || len(host.Placeholders) > 0 ||
			upstream == nil && !isTargetHost(host.Text) {
			continue
		}
		hosts = append(hosts, host.Text)
		if upstream != nil {
			for _, one := range upstream.Targets {
				target := one.Value.Get("target")
				if name, _, err := net.SplitHostPort(target.Text); err == nil && len(target.Placeholders) == 0 {
					hosts = append(hosts, name)
				}
			}
		}
	}
	return hosts
}

// httpsHosts returns the hosts of the files' https targets.
func (p *awsPlanner) httpsHosts() (hosts []string) {
	for _, a := range p.apis {
		for _, o := range a.operations {
			if u, err := url.Parse(o.target.base); err == nil && u.Scheme == "https" {
				hosts = append(hosts, u.Hostname())
			}
		}
	}
	return hosts
}

// trustedItems returns the items of trusted services by their pointers.
func (p *Plan) trustedItems() map[string]*contract.ImportItem {
	out := map[string]*contract.ImportItem{}
	for i := range p.Items {
		if codes := p.Items[i].Codes; slices.Contains(codes, trustedCode) || slices.Contains(codes, notTakenCode) {
			out[p.Items[i].Pointer] = &p.Items[i]
		}
	}
	return out
}

// Take has the environments of trusted targets accept their certificates. taken has what that needs, by the addresses
// of targets: an authority, a server name, or nothing. The items of trusted services say if something is missing.
func (p *Plan) Take(taken map[string]contract.Upstream) {
	missing := map[string]bool{}
	trusted := p.trustedItems()
	for i := range p.Projects {
		project := &p.Projects[i]
		for j := range project.Versions {
			if !p.take(&project.Versions[j].Environment, trusted[project.From] != nil, taken) {
				missing[project.From] = true
			}
		}
	}
	for pointer, one := range trusted {
		code := trustedCode
		if missing[pointer] {
			code = notTakenCode
		}
		p.restate(one, code)
	}
}

// take returns false if something of a trusted target is missing, or doesn't fit the environment's other targets.
func (p *Plan) take(e *contract.PlannedEnvironment, trusted bool, taken map[string]contract.Upstream) bool {
	u := &e.Upstream
	whole, pem := true, *cmp.Or(u.CA.PEM, new(""))
	var names []string
	for _, one := range u.TargetsOr(e.Target) {
		target := p.target(one.URL, trusted)
		needs, known := taken[target.Address]
		if !target.Trusted {
			needs, known = contract.Upstream{}, true
		}
		whole = whole && known
		pem += *cmp.Or(needs.CA.PEM, new(""))
		names = append(names, *cmp.Or(needs.ServerName, new("")))
	}
	if names = slices.Compact(names); len(names) > 1 {
		return false // one name applies to all targets
	}
	ca := contract.UpstreamCA{PEM: &pem, System: u.CA.System}
	list, err := ca.Certificates()
	pem = contract.EncodeCertificates(list)
	if err != nil || len(list) > contract.MostCAs || len(pem) > contract.MostCABytes {
		return false
	}
	if ca.IsSet() {
		u.CA = ca
	}
	if len(names) > 0 && names[0] != "" {
		u.ServerName = &names[0]
	}
	return whole
}

// restate gives the item of a trusted service another one of the two codes.
func (p *Plan) restate(one *contract.ImportItem, code string) {
	p.Summary.Add(one.Status, -1)
	again := item{ImportItem: *one}
	again.Codes = slices.Clone(one.Codes)
	for i, had := range again.Codes {
		if had == trustedCode || had == notTakenCode {
			again.Codes[i] = code
		}
	}
	again.Status, again.Remedy = "", nil
	again.settle()
	*one = again.ImportItem
	p.Summary.Add(one.Status, 1)
}
