package movein_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/core/contract"
	"postern/core/kongfile"
	"postern/core/movein"
)

// trustFile has a service with an upstream of two targets, and one with an address.
const trustFile = `_format_version: "3.0"
services:
- {name: orders, host: Orders-up, protocol: https, port: 443, routes: [{name: o, hosts: [o.example.com]}]}
- {name: stock, url: "https://stock.example.net/base", routes: [{name: s, hosts: [s.example.com]}]}
- {name: plain, url: "http://stock.example.net", routes: [{name: p, hosts: [p.example.com]}]}
upstreams:
- {name: Orders-up, targets: [{target: "A.example.net:443"}, {target: "b.example.net:8443"}]}
`

func planTrusting(t *testing.T, hosts ...string) *movein.Plan {
	t.Helper()
	file, err := kongfile.Read([]byte(trustFile), nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := movein.Kong(file, movein.Options{Trust: hosts, Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func TestPlan_targets(t *testing.T) {
	t.Parallel()
	const a, b, stock = "https://a.example.net", "https://b.example.net:8443", "https://stock.example.net"
	for name, tt := range map[string]struct {
		trust   []string
		trusted []string
		orders  string // code of the first service
	}{
		"nothing":     {nil, nil, "service.unverified"},
		"an upstream": {[]string{"orders-UP"}, []string{a, b}, "service.trusted"},
		"its targets": {[]string{"a.example.net", "b.example.net"}, []string{a, b}, "service.trusted"},
		"one of them": {[]string{"b.example.net"}, []string{b}, "service.unverified"},
		"an address":  {[]string{"stock.example.net"}, []string{stock}, "service.unverified"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := planTrusting(t, tt.trust...)
			var all, trusted []string
			for _, one := range plan.Targets() {
				all = append(all, one.Address)
				if one.Trusted {
					trusted = append(trusted, one.Address)
				}
			}
			if !slices.Equal(all, []string{a, b, stock, "http://stock.example.net"}) ||
				!slices.Equal(trusted, tt.trusted) {
				t.Errorf("the targets are %v, trusted are %v", all, trusted)
			}
			if got := plan.Items[0].Codes; !slices.Equal(got, []string{tt.orders}) {
				t.Errorf("the codes are %v", got)
			}
		})
	}
}

// A choice that doesn't fit the files is refused, by a dry run as by the server.
func TestOptions_refused(t *testing.T) {
	t.Parallel()
	aws := `{"openapi":"3.0.1","info":{"title":"shop"},"paths":{"/a":{"get":{"x-amazon-apigateway-integration":` +
		`{"type":"http_proxy","httpMethod":"GET","uri":"https://a.example.net/a"}}}}}`
	for name, tt := range map[string]struct {
		text    string
		options movein.Options
		want    string // "": it is accepted
	}{
		"an unknown host": {
			trustFile, movein.Options{Trust: []string{"nope"}}, "--trust nope: The files don't contain an https " +
				"target with this host. The files have https targets with these hosts: A.example.net, " +
				"Orders-up, b.example.net, stock.example.net.",
		},
		"a host and an unknown one": {
			trustFile, movein.Options{Trust: []string{"stock.example.net", "plain"}}, "--trust plain: ",
		},
		"an http target": {
			strings.ReplaceAll(trustFile, `"https://stock`, `"http://stock`),
			movein.Options{Trust: []string{"stock.example.net"}}, "--trust stock.example.net: ",
		},
		"without https targets": {
			`_format_version: "3.0"`, movein.Options{Trust: []string{"a"}},
			"The files have https targets with these hosts: none.",
		},
		"an unknown host of AWS": {
			aws, movein.Options{Trust: []string{"b.example.net"}}, "--trust b.example.net: The files don't contain " +
				"an https target with this host. The files have https targets with these hosts: a.example.net.",
		},
		"a host of AWS": {aws, movein.Options{Trust: []string{"A.example.net"}}, ""},
		"another host name": {
			trustFile, movein.Options{Hosts: []string{"a b"}}, `--host "a b": Use only letters, digits, hyphens and ` +
				"dots, such as api.example.com.",
		},
		"an address": {
			trustFile, movein.Options{Hosts: []string{"a.example.com", "192.0.2.1"}}, "--host 192.0.2.1: Use a host " +
				"name, not an IP address.",
		},
		"a host name of AWS": {aws, movein.Options{Hosts: []string{"*.a.com"}}, `--host "*.a.com": `},
		"valid host names":   {trustFile, movein.Options{Hosts: []string{"API.example.com", "api.example.com."}}, ""},
		"an unknown route":   {trustFile, movein.Options{Open: []string{"x"}}, "--open x: The files don't contain a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, err := movein.Read([]movein.File{{Text: []byte(tt.text)}})
			if err != nil {
				t.Fatal(err)
			}
			_, err = read.Plan(nil, tt.options)
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "--") ||
				!strings.Contains(err.Error(), tt.want)):
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestPlan_take(t *testing.T) {
	t.Parallel()
	const a, b = "https://a.example.net", "https://b.example.net:8443"
	var pems []string
	for range contract.MostCAs + 1 {
		pems = append(pems, newPEM(t))
	}
	needs := func(name string, pems ...string) (out contract.Upstream) {
		if len(pems) > 0 {
			out.CA.PEM = new(strings.Join(pems, ""))
		}
		if name != "" {
			out.ServerName = &name
		}
		return out
	}
	both := func(first, second contract.Upstream) map[string]contract.Upstream {
		return map[string]contract.Upstream{a: first, b: second}
	}
	for name, tt := range map[string]struct {
		taken      map[string]contract.Upstream
		ca, server string
		code       string
	}{
		"nothing":       {nil, "", "", "service.not_taken"},
		"one of two":    {map[string]contract.Upstream{a: needs("", pems[0])}, pems[0], "", "service.not_taken"},
		"both":          {both(needs("", pems[0]), needs("", pems[1])), pems[0] + pems[1], "", "service.trusted"},
		"the same":      {both(needs("", pems[0]), needs("", pems[0])), pems[0], "", "service.trusted"},
		"without a CA":  {both(needs(""), needs("")), "", "", "service.trusted"},
		"a name":        {both(needs("x", pems[0]), needs("x")), pems[0], "x", "service.trusted"},
		"several names": {both(needs("x", pems[0]), needs("")), "", "", "service.not_taken"},
		"too many":      {both(needs("", pems...), needs("")), "", "", "service.not_taken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := planTrusting(t, "orders-up")
			plan.Take(map[string]contract.Upstream{"https://stock.example.net": needs("", pems[0])}) // not trusted
			plan.Take(tt.taken)
			u := plan.Projects[0].Versions[0].Environment.Upstream
			if got := text(u.CA.PEM); got != tt.ca || text(u.ServerName) != tt.server {
				t.Errorf("the environment has %q, %q", got, text(u.ServerName))
			}
			if item := plan.Items[0]; !slices.Equal(item.Codes, []string{tt.code}) || item.Status != "approximate" ||
				item.Note == "" || item.Remedy == nil {
				t.Errorf("the item is %+v", item)
			}
			if plan.Projects[1].Versions[0].Environment.Upstream.CA.IsSet() {
				t.Error("a certificate was taken from a target that isn't trusted")
			}
			if plan.Summary.Total() != int64(len(plan.Items)) {
				t.Errorf("the totals are %+v", plan.Summary)
			}
		})
	}
}

func text(of *string) string {
	if of == nil {
		return ""
	}
	return *of
}

func newPEM(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	one, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return contract.EncodeCertificates([]*x509.Certificate{one})
}
