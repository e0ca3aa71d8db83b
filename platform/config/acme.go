package config

import (
	"fmt"
	"net/mail"
	"net/url"
)

// ACME has the settings of the ACME server (RFC 8555) that certificates of custom host names
// are obtained from. The zero value obtains none.
type ACME struct {
	Directory   string // URL, "" for none
	Email       string // of the account, "" for none
	TermsAgreed bool   // to the server's terms of service
	RootsFile   string // PEM file of the roots of the server's own certificate, "" for the system's
}

func acmeSettings() []setting {
	return []setting{
		{
			"acme-directory",
			"",
			"https URL of an ACME server's directory, such as https://acme-v02.api.letsencrypt.org/directory, used " +
				"to obtain certificates for verified custom domains; requires --gateway-tls-cert and " +
				"--acme-accept-terms; empty means off",
			text(func(c *Config) *string { return &c.ACME.Directory }),
		},
		{
			"acme-email",
			"",
			"email address for messages from the ACME server; empty means none",
			text(func(c *Config) *string { return &c.ACME.Email }),
		},
		{
			"acme-accept-terms",
			"no",
			"whether you accept the ACME server's terms of service: yes or no",
			assignAcceptTerms,
		},
		{
			"acme-roots",
			"",
			"PEM file with the root certificates that verify the ACME server's own certificate; empty means the " +
				"system's root certificates",
			text(func(c *Config) *string { return &c.ACME.RootsFile }),
		},
	}
}

func assignAcceptTerms(c *Config, v string) error {
	if v != "yes" && v != "no" {
		return fmt.Errorf("must be yes or no, not %q", v)
	}
	c.ACME.TermsAgreed = v == "yes"
	return nil
}

func (a ACME) validate(gatewayTLS bool, report func(setting, format string, args ...any)) {
	if a.Email != "" {
		if address, err := mail.ParseAddress(a.Email); err != nil || address.Address != a.Email {
			report("--acme-email", "%q isn't an email address", a.Email)
		}
	}
	if a.Directory == "" {
		return
	}
	u, err := url.Parse(a.Directory)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		report("--acme-directory", "%q isn't an https URL such as https://acme-v02.api.letsencrypt.org/directory",
			a.Directory)
	}
	if !gatewayTLS {
		report("--acme-directory", "requires --gateway-tls-cert and --gateway-tls-key for all other host names")
	}
	if !a.TermsAgreed {
		report("--acme-accept-terms", "must be yes: first read the terms of service of the server in --acme-directory")
	}
}
