package kong

import (
	"postern/bundle"
	"postern/core/snapshot"
)

// table declares how Kong supports each feature. It is tested by e2e/conformance
// (against a real Kong) and plugin_test.go.
func table() bundle.Table {
	return bundle.Table{
		snapshot.FeatureProject: projectFates(),
		snapshot.FeatureBin: {{Reason: "answers", Status: bundle.Approximate, How: "as before the deletion",
			Note: "The project was deleted and is in the bin, where Postern answers its calls with 410. The exported " +
				"gateway answers them as before the deletion, and its keys open it.",
			Remedy: "Start the exported gateway only if its calls are to be answered again."}},
		snapshot.FeatureVersion: {{Reason: "path_segment", Status: bundle.Exact, How: "path segment of its routes",
			Note: "The version answers under the same path segment."}},
		snapshot.FeatureEnvironment:    environmentFates(),
		snapshot.FeatureRoute:          routeFates(),
		snapshot.FeatureUpstreamHeader: upstreamHeaderFates(),
		snapshot.FeatureUpstreamCert:   certificateFates(),
		snapshot.FeatureCallSigning:    signingFates(),
		snapshot.FeatureTransform:      transformFates(),
		snapshot.FeatureAccess:         accessFates(),
		snapshot.FeatureTokenIssuer:    issuerFates(),
		snapshot.FeatureIntrospection:  introspectionFates(),
		snapshot.FeatureHostedLogin:    loginFates(),
		snapshot.FeatureProvider:       providerFates(),
		snapshot.FeatureGroupMapping:   mappingFates(),
		snapshot.FeatureRedirects:      redirectFates(),
		snapshot.FeatureBranding:       {brandingFate()},
		snapshot.FeatureUsers:          bundle.Users,
		snapshot.FeatureUserGroup:      {bundle.UserGroup},
		snapshot.FeatureSignupPolicy:   signupFates(),
		snapshot.FeatureConsents:       consentFates(),
		snapshot.FeatureWebhook:        {bundle.Webhook},
		snapshot.FeatureUnclaimed:      {bundle.UnclaimedCaps},
		snapshot.FeatureAPIScope:       scopeFates(),
		snapshot.FeatureCORS:           corsFates(),
		snapshot.FeatureTenantCORS:     tenantCORSFates(),
		snapshot.FeatureOwnerFallback:  fallbackFates(),
		snapshot.FeatureKeyType: {{Reason: "plugin", Status: bundle.Exact, How: "plugin postern-auth, `key_types`",
			Note: "The key type's scopes hold for all its keys at once and can be changed in one place."}},
		snapshot.FeatureTenant:   tenantFates(),
		snapshot.FeatureKey:      keyFates(),
		snapshot.FeatureKeyGrace: graceFates(),
		snapshot.FeatureProduct:  productFates(),
		snapshot.FeatureLimits:   rateFates(),
		snapshot.FeatureIPRules: {{Reason: "plugin", Status: bundle.Exact,
			How:    "plugin postern-auth, `ip` of each route",
			Note:   "Calls are taken from the same addresses, as Kong sees them.",
			Remedy: behindProxies}},
		snapshot.FeatureRule:        ruleFates(),
		snapshot.FeatureRuleDefault: ruleDefaultFates(),
		snapshot.FeatureKeyIPs: {
			{Reason: "plugin", Status: bundle.Exact, How: "plugin postern-auth, `ips` of the key",
				Note:   "Calls with the key are taken from the same addresses, as Kong sees them.",
				Remedy: behindProxies},
			{Reason: "revoked", Status: bundle.Exact, How: "left out of `keys`, so answered 401",
				Note: "The key is revoked, and refused from every address."},
			{Reason: bundle.ReasonLeftOut, Status: bundle.Skipped, How: "left out when the options say so",
				Note:   "The range was left out together with its key.",
				Remedy: "Export again with keys set to hashes if callers are to keep their keys."},
		},
		snapshot.FeatureOpenAPI: {{Reason: "document", Status: bundle.Exact,
			How:  "OpenAPI document beside the gateway",
			Note: "The API specification is a document of this zip; the exported gateway does not act on it."}},
		snapshot.FeatureValidation:      validationFates(),
		snapshot.FeaturePublication:     publicationFates(),
		snapshot.FeatureRequestLimits:   limitFates(),
		snapshot.FeatureCustomDomains:   domainFates(),
		snapshot.FeatureLoginSessions:   {bundle.Sessions},
		snapshot.FeatureManagedGitHub:   {bundle.ManagedGitHub},
		snapshot.FeatureObjectOwnership: ownershipFates(),
		snapshot.FeatureUsage:           {bundle.Usage},
		snapshot.FeatureBilling:         {bundle.Billing},
		snapshot.FeatureAudit:           {bundle.Audit},
		snapshot.FeatureSecrets:         {bundle.Secrets, bundle.SomeSecrets},
	}
}

func productFates() []bundle.Fate {
	return []bundle.Fate{{Reason: "keys", Status: bundle.Exact, How: "the product's keys are in `keys`",
		Note: "The product's keys open this gateway too; the grouping itself has no meaning on a gateway for " +
			"one project."}}
}

func upstreamHeaderFates() []bundle.Fate {
	return []bundle.Fate{{
		Reason: "placeholder",
		Status: bundle.Exact,
		How:    "plugin postern-auth, `upstream` of each route, with the value from a variable in `.env`",
		Note: "Every call carries the header to the upstream, and what callers send under that name is removed. " +
			"Its value is a secret and not in this zip: without it start.sh does not start the gateway, and " +
			"calls are answered 503.",
		Remedy: "Copy gateway/.env.example to gateway/.env and fill in the value that the upstream compares with.",
	}}
}

func signingFates() []bundle.Fate {
	return []bundle.Fate{{
		Reason: "another_key",
		Status: bundle.Approximate,
		How:    "plugin postern-auth, `signing_key`, with a key from a variable in `.env`",
		Note: "Calls carry the same signature (RFC 9421), by a key of your own: the private key is a secret and not " +
			"in this zip. Without a key start.sh does not start the gateway, and calls are answered 503. The gateway " +
			"does not publish the public key: at worst an upstream that does not have it refuses every call.",
		Remedy: "Create a key, put it in gateway/.env as gateway/.env.example says, and give upstreams its public " +
			"half.",
	}}
}

const pointName = "Point the DNS record of the name at your Kong, and give Kong a certificate for it."

func domainFates() []bundle.Fate {
	return []bundle.Fate{{Reason: "dns", Status: bundle.Skipped, How: "routes take any host name",
		Note: "Domain names that point at the hosted proxy are records in your own DNS; the exported " +
			"gateway answers under any name, at both forms of each path.",
		Remedy: "Point the names at the exported gateway and give it certificates for them."},
		{Reason: "route_host", Status: bundle.Exact, How: "a route with the name in `hosts`",
			Note:   "The gateway answers under the name too, at the same paths: the environment begins at /.",
			Remedy: pointName},
		{Reason: "unclaimed", Status: bundle.Approximate, How: "a route with the name in `hosts`; without the caps",
			Note: "The gateway answers under the name too, at the same paths: the environment begins at /. What the " +
				"hosted proxy refuses and removes because the project is unclaimed passes: at worst a browser keeps " +
				"the cookies that the upstream sets for the name.",
			Remedy: pointName},
	}
}

func projectFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "served_alone", Status: bundle.Exact, How: "one gateway for one project",
			Note: "The gateway serves this project and nothing else, under the same paths, and upstreams see the " +
				"same X-Project-ID."},
		{Reason: "unclaimed", Status: bundle.Approximate,
			How: "the end and the caps of an unclaimed project are not carried",
			Note: "The hosted proxy answers 410 from the end of the unclaimed project on, tells its callers " +
				"of that end in Sunset and Postern-Expires, and until then holds the project to caps: no " +
				"WebSocket, bodies of 1 MiB there and 10 MiB back, 120 calls a minute from an address, 1,200 " +
				"a minute and 50,000 a day for all, 1 GiB a day; it removes Set-Cookie and other headers " +
				"that stay in a browser, gives a browser what it would show as plain text without Location, " +
				"and adds a Content-Security-Policy. The exported gateway has none of these and goes on " +
				"answering: at worst it carries without end what the hosted proxy refuses, and a browser " +
				"runs what the upstream sends.",
			Remedy: "Stop the gateway when it should end: ./start.sh --stop. Claim the project before the " +
				"export, or add the limits you want to keep to gateway/gateway.yaml."},
	}
}

func environmentFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "service", Status: bundle.Exact, How: "a service with the upstream's address",
			Note: "The environment is a service; calls reach the same upstream under the same path, with the " +
				"same headers."},
		{Reason: "loopback", Status: bundle.Approximate,
			How: "a service; its loopback address is the container's own",
			Note: "The upstream has a loopback address, and inside a container that is the container " +
				"itself: calls answer 502 until the address is changed; at worst, on port 8001, they reach " +
				"Kong's own admin API.",
			Remedy: "Write host.docker.internal, or the machine's own address, as the service's host in " +
				"gateway/gateway.yaml."},
		{Reason: "https_address", Status: bundle.Lossy, How: "a service; its certificate is never accepted",
			Note: "The upstream is called over https by its IP address. Kong compares certificates with " +
				"host names only, so that every call answers 502, whatever addresses the certificate names.",
			Remedy: "Write a host name that the certificate names as the service's host in gateway/gateway.yaml."},
		{Reason: "unclaimed", Status: bundle.Approximate,
			How: "a service; the caps of an unclaimed project are not carried",
			Note: "Calls reach the same upstream under the same path. What the hosted proxy refuses and removes " +
				"because the project is unclaimed passes: at worst a browser keeps the cookies that the upstream sets.",
			Remedy: "Claim the project before the export. The project's own item lists the caps."},
	}
}

func routeFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "regex_path", Status: bundle.Approximate,
			How: "a route with an anchored regular expression, under any host name",
			Note: "The same paths reach the upstream, on whole segments, normalized alike. At worst an " +
				"address that the hosted proxy answers 404 is answered too: the path without the project's " +
				"name under any host name, and the path with it under the project's own host name."},
		{Reason: "shadowed", Status: bundle.Approximate, How: "the longer address wins",
			Note: "A version has the project's own name, so that this address is also the beginning of " +
				"another environment's longer one, which wins; at worst calls below that one path go to the " +
				"other environment. It answers under any host name too.",
			Remedy: "Call the environment by the address that begins with the project's name."},
	}
}

// behindProxies is the remedy of everything that depends on the caller's address.
const behindProxies = "Where the gateway stands behind a load balancer, set KONG_TRUSTED_IPS as gateway/README.md " +
	"says; otherwise Kong sees the balancer's address."

const (
	countedAlike = "As many calls are admitted in each window, with the same headers and refusals. They are " +
		"counted on each node: n nodes admit up to n times the limit. Counting begins at zero with every start " +
		"and goes on over a reload"
	counted = countedAlike + "; where its memory is full, calls are answered 503 limits_unavailable, and " +
		"none is admitted uncounted."
	countedByIP = countedAlike + "; there as here the counts of some addresses are forgotten when very many " +
		"call at once (tens of thousands fit into Kong's 12 MB)."
)

func rateFates() []bundle.Fate {
	const oneNode = "Run one node, or divide the limit by their number."
	return []bundle.Fate{
		{Reason: "plugin", Status: bundle.Exact, How: "plugin postern-auth, `limits`, counted on each node",
			Note: counted, Remedy: oneNode},
		{Reason: "by_address", Status: bundle.Exact, How: "the same, by the address that Kong sees",
			Note: countedByIP, Remedy: oneNode + " " + behindProxies},
		{Reason: "revoked", Status: bundle.Exact, How: "left out of `keys`, so answered 401",
			Note: "The key is revoked, and none of its calls is admitted."},
		{Reason: bundle.ReasonLeftOut, Status: bundle.Skipped, How: "left out when the options say so",
			Note:   "The limit was left out together with its key.",
			Remedy: "Export again with keys set to hashes if callers are to keep their keys."},
	}
}

func keyFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "hash",
			Status: bundle.Exact,
			How:    "plugin postern-auth, SHA-256 in `keys`; its owner a consumer, if there are at most 10,000",
			Note:   "The consumer's present key goes on working; the gateway knows its hash only.",
		},
		{Reason: "expires", Status: bundle.Exact, How: "the same with `until`",
			Note: "The consumer's present key works until the same moment, by the gateway's clock, and is answered " +
				"401 from then on."},
		{Reason: "frozen", Status: bundle.Exact, How: "the same with `frozen`",
			Note: "The key is frozen here as there and answered 403 key_frozen, or 401 once it has expired.",
			Remedy: "To unfreeze it, delete the word frozen from its line in gateway/gateway.yaml and start the " +
				"gateway again."},
		{Reason: "user_frozen", Status: bundle.Exact, How: "the same with `user_frozen`",
			Note: "The key's owner is a frozen user, and the key is answered 403 user_frozen here as there, or 401 " +
				"once it has expired.",
			Remedy: "To unfreeze the user, delete the word user_frozen from the lines of their keys in " +
				"gateway/gateway.yaml and start the gateway again."},
		{Reason: "wrong_tenant", Status: bundle.Exact, How: "the same; its tenant is not among `tenants`",
			Note: "The project no longer serves the key's tenant, and the key is answered 403 wrong_tenant here " +
				"as there."},
		{Reason: "revoked", Status: bundle.Exact, How: "left out of `keys`, so answered 401",
			Note: "The key is revoked: its record is exported, and the gateway answers 401 as before."},
		{Reason: "minted", Status: bundle.Exact, How: "SHA-256 of the present and of a new key",
			Note:   "The consumer's present key goes on working, and a new one stands in minted.csv.",
			Remedy: "Send the new key to its owner; NOTICE.md says how."},
		{Reason: bundle.ReasonLeftOut, Status: bundle.Skipped, How: "left out when the options say so",
			Note: "The key was left out because the export was asked to leave keys out; the gateway answers it " +
				"with 401.",
			Remedy: "Export again with keys set to hashes if callers are to keep their keys."},
	}
}

func graceFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "by_the_clock", Status: bundle.Exact, How: "plugin postern-auth, a second hash with `until`",
			Note: "The secret before the last rotation works until the same moment, by the gateway's clock."},
		{Reason: "revoked", Status: bundle.Exact, How: "left out of `keys`, so answered 401",
			Note: "The key is revoked, and so is the secret before its last rotation."},
		{Reason: bundle.ReasonLeftOut, Status: bundle.Skipped, How: "left out when the options say so",
			Note:   "The previous secret was left out together with its key.",
			Remedy: "Export again with keys set to hashes if callers are to keep their keys."},
	}
}

func tenantFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "header", Status: bundle.Exact, How: "X-Tenant-ID of its keys",
			Note: "Upstreams see the same X-Tenant-ID with every call made with one of its keys, or with a token " +
				"that is accepted and names it."},
		{Reason: "detached", Status: bundle.Exact, How: "left out of `tenants`, so answered 403",
			Note: "The project no longer serves the tenant: its keys are answered 403 wrong_tenant here as " +
				"there.",
			Remedy: "To serve it again, add it below tenants in gateway/gateway.yaml and start the gateway again."},
	}
}
