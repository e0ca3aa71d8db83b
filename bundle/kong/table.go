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
		snapshot.FeatureBin: {{Reason: "answers", Status: bundle.Approximate, How: "as it was before the deletion",
			Note: "The project was deleted and is in the trash, so calls to it get 410. The exported gateway serves " +
				"calls as if the project hadn't been deleted, and accepts the project's keys.",
			Remedy: "Start the exported gateway only if you want to serve the project again."}},
		snapshot.FeatureVersion: {{Reason: "path_segment", Status: bundle.Exact, How: "path segment of its routes",
			Note: "The version has the same path segment."}},
		snapshot.FeatureEnvironment:    environmentFates(),
		snapshot.FeatureRoute:          routeFates(),
		snapshot.FeatureTimeouts:       timeoutFates(),
		snapshot.FeatureRetries:        retryFates(),
		snapshot.FeatureTargets:        targetFates(),
		snapshot.FeatureChecks:         checkFates(),
		snapshot.FeatureBreaker:        breakerFates(),
		snapshot.FeatureUpstreamCA:     authorityFates(),
		snapshot.FeatureUpstreamHTTP:   httpFates(),
		snapshot.FeatureServerName:     serverNameFates(),
		snapshot.FeatureHostHeader:     hostHeaderFates(),
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
		snapshot.FeatureKeyType:        keyTypeFates(),
		snapshot.FeatureTenant:         tenantFates(),
		snapshot.FeatureKey:            keyFates(),
		snapshot.FeatureKeyGrace:       graceFates(),
		snapshot.FeatureProduct:        productFates(),
		snapshot.FeatureLimits:         rateFates(),
		snapshot.FeatureIPRules: {{Reason: "plugin", Status: bundle.Exact,
			How:    "the `postern-auth` plugin, `ip` of each route",
			Note:   "Calls are accepted from the same addresses. Kong checks the address that it sees.",
			Remedy: behindProxies}},
		snapshot.FeatureRule:        ruleFates(),
		snapshot.FeatureRuleDefault: ruleDefaultFates(),
		snapshot.FeatureKeyIPs: {
			{Reason: "plugin", Status: bundle.Exact, How: "the `postern-auth` plugin, `ips` of the key",
				Note: "Calls with the key are accepted from the same addresses. Kong checks the address that it " +
					"sees.",
				Remedy: behindProxies},
			{Reason: "revoked", Status: bundle.Exact, How: "left out, or marked `revoked` in `keys`, so calls get 401",
				Note: "The key is revoked, so it is refused from every address."},
			{Reason: bundle.ReasonLeftOut, Status: bundle.Skipped, How: "left out by the export options",
				Note:   "The range is left out because its key is left out.",
				Remedy: "To let callers keep their keys, export again with `keys` set to `hashes`."},
		},
		snapshot.FeatureOpenAPI: {
			{Reason: "document", Status: bundle.Exact, How: "OpenAPI document next to the gateway",
				Note: "The imported OpenAPI document is in this zip. The exported gateway doesn't use it."},
			{Reason: bundle.ReasonGenerated, Title: "Generated OpenAPI documents", Status: bundle.Exact,
				How: "OpenAPI document next to the gateway", Always: true,
				Note: "The version has no OpenAPI document, so the export generated one from the configuration. The " +
					"exported gateway doesn't use it."},
		},
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

func keyTypeFates() []bundle.Fate {
	const note = "The key type's scopes apply to all of its keys and can be changed in one place."
	return []bundle.Fate{
		{Reason: "plugin", Status: bundle.Exact, How: "the `postern-auth` plugin, `key_types`", Note: note},
		{Reason: bundle.ReasonBuiltIn, Title: "Built-in key types", Status: bundle.Exact,
			How: "the `postern-auth` plugin, `key_types`", Note: note + " Every project has this key " +
				"type.", Always: true},
	}
}

func productFates() []bundle.Fate {
	return []bundle.Fate{{Reason: "keys", Status: bundle.Exact, How: "the product's keys are in `keys`",
		Note: "The product's keys also work on this gateway. The product itself isn't needed on a gateway that " +
			"serves only one project."}}
}

func upstreamHeaderFates() []bundle.Fate {
	return []bundle.Fate{{
		Reason: "placeholder",
		Status: bundle.Exact,
		How:    "the `postern-auth` plugin, `upstream` of each route, with the value from a variable in `.env`",
		Note: "The gateway adds the header to every call, and removes a header with the same name that the caller " +
			"sends. The header's value is a secret and isn't in this zip. Without the value, start.sh doesn't start " +
			"the gateway and calls get 503.",
		Remedy: "Copy gateway/.env.example to gateway/.env and fill in the value that the upstream expects.",
	}}
}

func signingFates() []bundle.Fate {
	return []bundle.Fate{{
		Reason: "another_key",
		Status: bundle.Approximate,
		How:    "the `postern-auth` plugin, `signing_key`, with a key from a variable in `.env`",
		Note: "Calls are signed the same way (RFC 9421), but with your own key, because the original key is a " +
			"secret and isn't in this zip. Without a key, start.sh doesn't start the gateway and calls get 503. The " +
			"gateway doesn't publish the public key. At worst, an upstream that doesn't have the public key refuses " +
			"every call.",
		Remedy: "Create a key, put it in gateway/.env as described in gateway/.env.example, and give the public key " +
			"to your upstreams.",
	}}
}

func projectFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "served_alone", Status: bundle.Exact, How: "one gateway for one project",
			Note: "The gateway serves only this project, with the same paths, and upstreams get the same " +
				"X-Project-ID."},
		{Reason: "unclaimed", Status: bundle.Approximate, Always: true,
			How: "without an unclaimed project's end date and caps",
			Note: "The hosted gateway returns 410 after the unclaimed project's end date, which it announces in the " +
				"Sunset and Postern-Expires headers. Until then, it applies caps: no WebSockets, 1 MiB request " +
				"bodies, 10 MiB response bodies, 120 calls per minute from one address, a total of 1,200 calls per " +
				"minute and 50,000 calls per day, and 1 GiB per day. It also removes Set-Cookie and other headers " +
				"that store state in a browser. If a browser would render a response, the hosted gateway sends it " +
				"as text/plain and without Location, and adds a Content-Security-Policy. The exported gateway " +
				"doesn't do any of this and has no end date. At worst, it keeps forwarding calls that the hosted " +
				"gateway refuses, and browsers render content from the upstream.",
			Remedy: "Stop the gateway with ./start.sh --stop on the project's end date. Alternatively, claim the " +
				"project before the export, or add the limits that you want to keep to gateway/gateway.yaml."},
	}
}

func environmentFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "service", Status: bundle.Exact, How: "a service with the upstream's URL",
			Note: "The environment is a Kong service. Calls reach the same upstream with the same path and headers."},
		{Reason: "loopback", Status: bundle.Approximate,
			How: "a service; its loopback address refers to the container",
			Note: "The upstream has a loopback address. Inside a container, it refers to the container itself. Calls " +
				"get 502 until you change the address. At worst, if the port is 8001, calls reach Kong's own admin " +
				"API.",
			Remedy: "Set the service's host in gateway/gateway.yaml to host.docker.internal or the machine's own " +
				"address."},
		{Reason: "https_address", Status: bundle.Lossy, How: "a service; its certificate is never accepted",
			Note: "The upstream is called over https by its IP address. Kong compares certificates only with host " +
				"names, so every call gets 502, even if the certificate is valid for the address.",
			Remedy: "Set the service's host in gateway/gateway.yaml to a host name that the certificate is valid for."},
		{Reason: "unclaimed", Status: bundle.Approximate,
			How: "a service; without an unclaimed project's caps",
			Note: "Calls reach the same upstream with the same path. The exported gateway forwards calls and headers " +
				"that the hosted gateway refuses or removes because the project is unclaimed. At worst, a browser " +
				"keeps the cookies that the upstream sets.",
			Remedy: "Claim the project before the export. The ledger's entry for the project lists the caps."},
	}
}

func routeFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "regex_path", Status: bundle.Approximate, Always: true,
			How: "a route with an anchored regular expression, under any host name",
			Note: "The same paths reach the upstream. Paths are matched by complete segments, with the same " +
				"normalization. At worst, Kong serves URLs that get 404 from the hosted gateway: paths without the " +
				"project's name on any host name, and paths with the project's name on the project's own host name."},
		{Reason: "shadowed", Status: bundle.Approximate, How: "the longer path wins",
			Note: "A version has the same name as the project, so another environment's path begins with this path. " +
				"The longer path wins. At worst, calls under the longer path reach the other environment. Kong also " +
				"accepts any host name.",
			Remedy: "Call the environment at the path that begins with the project's name."},
	}
}

// behindProxies is the remedy of everything that depends on the caller's address.
const behindProxies = "If the gateway is behind a load balancer, set KONG_TRUSTED_IPS as described in " +
	"gateway/README.md. Without it, Kong sees the load balancer's address."

const (
	countedAlike = "Each window allows the same number of calls, with the same headers and refusals. Each node " +
		"counts its own calls, so n nodes allow up to n times the limit. Counters start at zero when Kong starts, " +
		"and survive a reload"
	counted = countedAlike + ". If the memory for counters is full, calls get 503 limits_unavailable, so no call is " +
		"accepted without being counted."
	countedByIP = countedAlike + ". Both gateways forget some counts if calls come from a very large number of " +
		"addresses at the same time. Kong has 12 MB for these counts, enough for tens of thousands of addresses."
)

func rateFates() []bundle.Fate {
	const oneNode = "Run one node, or divide the limit by the number of nodes."
	return []bundle.Fate{
		{Reason: "plugin", Status: bundle.Exact, How: "the `postern-auth` plugin, `limits`, counted on each node",
			Note: counted, Remedy: oneNode},
		{Reason: "by_address", Title: "Rate limits by address", Status: bundle.Exact,
			How:  "as for other rate limits, by the address that Kong sees",
			Note: countedByIP, Remedy: oneNode + " " + behindProxies},
		{Reason: "revoked", Title: "Rate limits for revoked keys", Status: bundle.Exact,
			How:  "left out, or marked `revoked` in `keys`, so calls get 401",
			Note: "The key is revoked, so calls with it are refused."},
		{Reason: bundle.ReasonLeftOut, Status: bundle.Skipped, How: "left out by the export options",
			Note:   "The limit is left out because its key is left out.",
			Remedy: "To let callers keep their keys, export again with `keys` set to `hashes`."},
	}
}

func keyFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "hash",
			Status: bundle.Exact,
			How:    "the `postern-auth` plugin, SHA-256 in `keys`; owners are consumers if there are at most 10,000",
			Note:   "The key keeps working. The exported gateway stores only the key's hash.",
		},
		{Reason: "expires", Title: "API keys that expire", Status: bundle.Exact, How: "as for other keys, with `until`",
			Note: "The key works until the same time, by the gateway's clock, and gets 401 after that."},
		{Reason: "frozen", Title: "Frozen API keys", Status: bundle.Exact, How: "as for other keys, with `frozen`",
			Note: "The key is still frozen: it gets 403 key_frozen, or 401 once it has expired.",
			Remedy: "To unfreeze the key, delete `frozen` from its line in gateway/gateway.yaml and restart the " +
				"gateway."},
		{Reason: "user_frozen", Title: "API keys owned by frozen users", Status: bundle.Exact,
			How: "as for other keys, with `user_frozen`",
			Note: "The key's owner is a frozen user, so the key still gets 403 user_frozen, or 401 once it has " +
				"expired.",
			Remedy: "To unfreeze the user, delete the word `user_frozen` from the lines for their keys in " +
				"gateway/gateway.yaml and restart the gateway."},
		{Reason: "wrong_tenant", Title: "API keys for detached tenants", Status: bundle.Exact,
			How:  "as for other keys, but its tenant isn't among `tenants`",
			Note: "The project no longer serves the key's tenant, so the key still gets 403 wrong_tenant."},
		{Reason: "revoked", Title: "Revoked API keys", Status: bundle.Exact,
			How:  "left out, or marked `revoked` in `keys`, so calls get 401",
			Note: "The key is revoked. Its record is exported, and calls with the key still get 401."},
		{Reason: "minted", Status: bundle.Exact, How: "SHA-256 of the current key and of a new one",
			Note:   "The key keeps working, and minted.csv contains a new one.",
			Remedy: "Send the new key to its owner. NOTICE.md explains how."},
		{Reason: bundle.ReasonLeftOut, Status: bundle.Skipped, How: "left out by the export options",
			Note:   "This export leaves out keys, so the key gets 401 from the gateway.",
			Remedy: "To let callers keep their keys, export again with `keys` set to `hashes`."},
	}
}

func graceFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "by_the_clock", Status: bundle.Exact, How: "the `postern-auth` plugin, a second hash with `until`",
			Note: "The key's previous secret works until the same time, by the gateway's clock."},
		{Reason: "revoked", Status: bundle.Exact, How: "left out, or marked `revoked` in `keys`, so calls get 401",
			Note: "The key is revoked, and so is its previous secret."},
		{Reason: bundle.ReasonLeftOut, Status: bundle.Skipped, How: "left out by the export options",
			Note:   "The previous secret is left out because its key is left out.",
			Remedy: "To let callers keep their keys, export again with `keys` set to `hashes`."},
	}
}

func tenantFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "header", Status: bundle.Exact, How: "X-Tenant-ID of its keys",
			Note: "Upstreams get the same X-Tenant-ID with every call that has one of the tenant's keys, or an " +
				"accepted token that names the tenant."},
		{Reason: bundle.ReasonDefaultTenant, Title: "Default tenant", Status: bundle.Exact,
			How: "X-Tenant-ID of its keys", Always: true,
			Note: "Every project has a default tenant. Upstreams get the same X-Tenant-ID with its calls."},
		{Reason: "detached", Title: "Detached tenants", Status: bundle.Exact,
			How:  "left out of `tenants`, so calls get 403",
			Note: "The project no longer serves the tenant, so its keys still get 403 wrong_tenant.",
			Remedy: "To serve the tenant again, add it under `tenants` in gateway/gateway.yaml and restart the " +
				"gateway."},
	}
}
