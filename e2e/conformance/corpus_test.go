package conformance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

// Case is one request, byte for byte, to be sent to every gateway.
type Case struct {
	Name    string
	Request string
	// Tunnel is sent after a 101 and expected back. "" isn't a tunnel.
	Tunnel string
	// Differs are the ledger items that declare how this case differs. Without
	// any the gateways must be equal in everything.
	Differs []string
	// From is the loopback address that the caller has; "" is 127.0.0.1.
	From string
	// ByPlugin: the exported plugin alone decides it, whatever carries it.
	ByPlugin bool
	// Values: bodies of JSON and forms are compared by their values.
	Values bool
}

// The two hosts of the sample project.
const (
	projectHost = "shop.localhost"
	bareHost    = "localhost"
)

// prod is the path of the environment that requires keys, in host form.
const prod = "/1.0.0/prod"

// family creates the cases of one kind. The keys are those of package sample.
type family func(keys map[string]sample.Plain) []Case

// Corpus is every case.
func Corpus() []Case {
	var all []Case
	add := func(byPlugin bool, families ...family) {
		keys := Keys()
		for _, f := range families {
			for _, c := range f(keys) {
				c.ByPlugin = byPlugin
				all = append(all, c)
			}
		}
	}
	add(true, keyStates, keyStatesEverywhere, keyPlaces, malformedKeys, accessPolicies, addressRules, limitHeaders,
		spoofedHeaders, reservedNames, identityNamedAway)
	add(false, frozenOwners, forwardingHeaders, hopByHop, connectionOptions, paths, queries, methods, bodies, upgrades,
		ordinaryHeaders, requestCookies,
		answers, answersOverTLS, customHosts, severalVersions)
	// Calls that one gateway lets through and the other does not come last: they
	// are counted by one, and from then on callers are told different numbers.
	slices.SortStableFunc(all, func(a, b Case) int {
		return cmp.Compare(min(len(a.Differs), 1), min(len(b.Differs),
			1))
	})
	return all
}

// Project is the sample project with its upstreams at up, and versions more: one
// whose upstream is not there, and those whose upstreams speak TLS.
func Project(up *upstream) *snapshot.Project {
	p := sample.Project(up.url)
	p.Barred = []snapshot.BarredUser{{ID: frozenUser}}
	keys := p.Versions[0].Access
	p.Versions = append(p.Versions, snapshot.Version{
		ID:           "ver_9",
		Name:         "zdead",
		Access:       keys,
		Environments: []snapshot.Environment{{ID: "env_9", Name: "prod", Target: "http://127.0.0.1:1"}},
	})
	p.Versions = slices.Insert(p.Versions, 1, copiedVersion(up.url))
	if up.secure != nil {
		p.Versions = append(p.Versions, secureVersions(up.secure, keys)...)
	}
	return p
}

// frozenUser is an end user of the project, who is frozen.
const frozenUser = "usr_frozen"

// Keys are those of package sample and one of a frozen user.
func Keys() map[string]sample.Plain {
	keys := sample.Keys()
	owned := keys["active"]
	owned.ID, owned.Owner = "key_99", frozenUser
	owned.Plaintext = sample.Plaintext("frozenowner", "prod")
	owned.Hash = policy.HashKey(owned.Plaintext)
	keys[frozenOwner] = owned
	return keys
}

// frozenOwner is the name of the key whose owner is frozen.
const frozenOwner = "frozenowner"

// one returns a request without a body. lines are header lines.
func one(name, method, host, target string, lines ...string) Case {
	return withBody(name, method, host, target, "", lines...)
}

func withBody(name, method, host, target, body string, lines ...string) Case {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, target, host)
	for _, line := range lines {
		b.WriteString(line + "\r\n")
	}
	b.WriteString("\r\n" + body)
	return Case{Name: name, Request: b.String()}
}

func get(name, target string, lines ...string) Case {
	return one(name, "GET", projectHost, target, lines...)
}

func key(k sample.Plain) string { return "X-API-Key: " + k.Plaintext }
