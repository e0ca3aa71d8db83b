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
			Note: "The project was deleted and is in the bin, so Postern answers its calls with 410. The exported " +
				"gateway answers them as before the deletion, and accepts the project's keys.",
			Remedy: "Start the exported gateway only if you want these calls answered again."}},
		snapshot.FeatureVersion: {{Reason: "path_segment", Status: bundle.Exact, How: "path segment of its routes",
			Note: "The version has the same path segment."}},
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
			Note: "The key type's scopes apply to all of its keys and can be changed in one place."}},
		snapshot.FeatureTenant:   tenantFates(),
		snapshot.FeatureKey:      keyFates(),
		snapshot.FeatureKeyGrace: graceFates(),
		snapshot.FeatureProduct:  productFates(),
		snapshot.FeatureLimits:   rateFates(),
		snapshot.FeatureIPRules: {{Reason: "plugin", Status: bundle.Exact,
			How:    "plugin postern-auth, `ip` of each route",
			Note:   "Calls are accepted from the same addresses, as Kong sees them.",
			Remedy: behindProxies}},
		snapshot.FeatureRule:        ruleFates(),
		snapshot.FeatureRuleDefault: ruleDefaultFates(),
		snapshot.FeatureKeyIPs: {
			{Reason: "plugin", Status: bundle.Exact, How: "plugin postern-auth, `ips` of the key",
				Note:   "Calls with the key are accepted from the same addresses, as Kong sees them.",
				Remedy: behindProxies},
			{Reason: "revoked", Status: bundle.Exact, How: "left out of `keys`, so calls get 401",
				Note: "The key is revoked, so it is refused from every address."},
			{Reason: bundle.ReasonLeftOut, Status: bundle.Skipped, How: "left out if the options say so",
				Note:   "The range is left out, because its key is.",
				Remedy: "To let callers keep their keys, export again with keys set to hashes."},
		},
		snapshot.FeatureOpenAPI: {{Reason: "document", Status: bundle.Exact,
			How:  "OpenAPI document next to the gateway",
			Note: "The API specification is a document in this zip. The exported gateway doesn't use it."}},
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
		Note: "The product's keys work on this gateway too. The product itself isn't needed on a gateway for one " +
			"project."}}
}

func upstreamHeaderFates() []bundle.Fate {
	return []bundle.Fate{{
		Reason: "placeholder",
		Status: bundle.Exact,
		How:    "plugin postern-auth, `upstream` of each route, with the value from a variable in `.env`",
		Note: "Every call has the header when it reaches the upstream, and a caller's header of that name is " +
			"removed. Its value is a secret and not in this zip. Without it, start.sh doesn't start the gateway and " +
			"calls get 503.",
		Remedy: "Copy gateway/.env.example to gateway/.env and fill in the value that the upstream expects.",
	}}
}

func signingFates() []bundle.Fate {
	return []bundle.Fate{{
		Reason: "another_key",
		Status: bundle.Approximate,
		How:    "plugin postern-auth, `signing_key`, with a key from a variable in `.env`",
		Note: "Calls have the same signature (RFC 9421), made with your own key: the private key is a secret and not " +
			"in this zip. Without a key, start.sh doesn't start the gateway and calls get 503. The gateway doesn't " +
			"publish the public key. At worst, an upstream that doesn't have it refuses every call.",
		Remedy: "Create a key, put it in gateway/.env as gateway/.env.example says, and give the public key to your " +
			"upstreams.",
	}}
}

const pointName = "Point the domain's DNS record at your Kong, and give Kong a certificate for it."

func domainFates() []bundle.Fate {
	return []bundle.Fate{{Reason: "dns", Status: bundle.Skipped, How: "routes accept any host name",
		Note: "Domains that point at the hosted gateway are records in your own DNS. The exported gateway answers at " +
			"any host name, with both forms of each path.",
		Remedy: "Point the domains at the exported gateway and give it certificates for them."},
		{Reason: "route_host", Status: bundle.Exact, How: "a route with the domain in `hosts`",
			Note:   "The gateway answers at the domain too, with the same paths: the environment begins at /.",
			Remedy: pointName},
		{Reason: "unclaimed", Status: bundle.Approximate, How: "a route with the domain in `hosts`; without the caps",
			Note: "The gateway answers at the domain too, with the same paths: the environment begins at /. " +
				"Everything that the hosted gateway refuses or removes because the project is unclaimed passes. At " +
				"worst, a browser keeps the cookies that the upstream sets for the domain.",
			Remedy: pointName},
	}
}

func projectFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "served_alone", Status: bundle.Exact, How: "one gateway for one project",
			Note: "The gateway serves only this project, with the same paths, and upstreams get the same " +
				"X-Project-ID."},
		{Reason: "unclaimed", Status: bundle.Approximate,
			How: "without the end date and the caps of an unclaimed project",
			Note: "The hosted gateway answers 410 after the unclaimed project's end date, which it announces in the " +
				"headers Sunset and Postern-Expires. Until then it applies caps: no WebSocket, request bodies of 1 " +
				"MiB, response bodies of 10 MiB, 120 calls a minute from an address, 1,200 a minute and 50,000 a day " +
				"in total, 1 GiB a day. It also removes Set-Cookie and other headers that stay in a browser, turns " +
				"content that a browser would render into plain text without Location, and adds a " +
				"Content-Security-Policy. The exported gateway does none of this and keeps answering. At worst, it " +
				"forwards without end what the hosted gateway refuses, and a browser runs what the upstream sends.",
			Remedy: "Stop the gateway on its end date with ./start.sh --stop. Or claim the project before the " +
				"export, or add the limits you want to keep to gateway/gateway.yaml."},
	}
}

func environmentFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "service", Status: bundle.Exact, How: "a service with the upstream's address",
			Note: "The environment is a service. Calls reach the same upstream with the same path and headers."},
		{Reason: "loopback", Status: bundle.Approximate,
			How: "a service; its loopback address means the container",
			Note: "The upstream has a loopback address, which inside a container means the container itself. Calls " +
				"get 502 until you change the address. At worst, on port 8001, they reach Kong's own admin API.",
			Remedy: "Set the service's host in gateway/gateway.yaml to host.docker.internal or the machine's own " +
				"address."},
		{Reason: "https_address", Status: bundle.Lossy, How: "a service; its certificate is never accepted",
			Note: "The upstream is called over https by its IP address. Kong compares certificates with host names " +
				"only, so every call gets 502, even if the certificate is valid for the address.",
			Remedy: "Set the service's host in gateway/gateway.yaml to a host name that the certificate is valid for."},
		{Reason: "unclaimed", Status: bundle.Approximate,
			How: "a service; without the caps of an unclaimed project",
			Note: "Calls reach the same upstream with the same path. Everything that the hosted gateway refuses or " +
				"removes because the project is unclaimed passes. At worst, a browser keeps the cookies that the " +
				"upstream sets.",
			Remedy: "Claim the project before the export. The project's own item lists the caps."},
	}
}

func routeFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "regex_path", Status: bundle.Approximate,
			How: "a route with an anchored regular expression, under any host name",
			Note: "The same paths reach the upstream, by whole segments and with the same normalization. At worst, " +
				"an address that gets 404 from the hosted gateway gets an answer: the path without the project's " +
				"name at any host name, and the path with it at the project's own host name."},
		{Reason: "shadowed", Status: bundle.Approximate, How: "the longer address wins",
			Note: "A version has the project's name, so this address is also the beginning of another environment's " +
				"longer address, which wins. At worst, calls below that one path go to the other environment. Kong " +
				"also answers at any host name.",
			Remedy: "Call the environment by the address that begins with the project's name."},
	}
}

// behindProxies is the remedy of everything that depends on the caller's address.
const behindProxies = "If the gateway is behind a load balancer, set KONG_TRUSTED_IPS as gateway/README.md says. " +
	"Otherwise Kong sees the balancer's address."

const (
	countedAlike = "Each window admits the same number of calls, with the same headers and refusals. Each node " +
		"counts its own calls: n nodes admit up to n times the limit. Counters start at zero when Kong starts, and " +
		"survive a reload"
	counted = countedAlike + ". If the memory for counters is full, calls get 503 limits_unavailable; none is " +
		"admitted uncounted."
	countedByIP = countedAlike + ". Both gateways forget the counts of some addresses if very many call at once " +
		"(Kong's 12 MB hold tens of thousands)."
)

func rateFates() []bundle.Fate {
	const oneNode = "Run one node, or divide the limit by the number of nodes."
	return []bundle.Fate{
		{Reason: "plugin", Status: bundle.Exact, How: "plugin postern-auth, `limits`, counted on each node",
			Note: counted, Remedy: oneNode},
		{Reason: "by_address", Status: bundle.Exact, How: "the same, by the address that Kong sees",
			Note: countedByIP, Remedy: oneNode + " " + behindProxies},
		{Reason: "revoked", Status: bundle.Exact, How: "left out of `keys`, so calls get 401",
			Note: "The key is revoked, so none of its calls is admitted."},
		{Reason: bundle.ReasonLeftOut, Status: bundle.Skipped, How: "left out if the options say so",
			Note:   "The limit is left out, because its key is.",
			Remedy: "To let callers keep their keys, export again with keys set to hashes."},
	}
}

func keyFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "hash",
			Status: bundle.Exact,
			How:    "plugin postern-auth, SHA-256 in `keys`; its owner is a consumer if there are at most 10,000",
			Note:   "The consumer's key keeps working. The gateway knows only its hash.",
		},
		{Reason: "expires", Status: bundle.Exact, How: "the same with `until`",
			Note: "The consumer's key works until the same time, by the gateway's clock, and gets 401 after that."},
		{Reason: "frozen", Status: bundle.Exact, How: "the same with `frozen`",
			Note: "The key stays frozen: it gets 403 key_frozen, or 401 once it has expired.",
			Remedy: "To unfreeze it, delete the word frozen from its line in gateway/gateway.yaml and restart the " +
				"gateway."},
		{Reason: "user_frozen", Status: bundle.Exact, How: "the same with `user_frozen`",
			Note: "The key's owner is a frozen user, so the key still gets 403 user_frozen, or 401 once it has " +
				"expired.",
			Remedy: "To unfreeze the user, delete the word user_frozen from the lines of their keys in " +
				"gateway/gateway.yaml and restart the gateway."},
		{Reason: "wrong_tenant", Status: bundle.Exact, How: "the same; its tenant isn't among `tenants`",
			Note: "The project no longer serves the key's tenant, so the key still gets 403 wrong_tenant."},
		{Reason: "revoked", Status: bundle.Exact, How: "left out of `keys`, so calls get 401",
			Note: "The key is revoked. Its record is exported, and its calls still get 401."},
		{Reason: "minted", Status: bundle.Exact, How: "SHA-256 of the current key and of a new one",
			Note:   "The consumer's key keeps working, and minted.csv has a new one.",
			Remedy: "Send the new key to its owner. NOTICE.md says how."},
		{Reason: bundle.ReasonLeftOut, Status: bundle.Skipped, How: "left out if the options say so",
			Note:   "This export leaves out keys, so the key gets 401 from the gateway.",
			Remedy: "To let callers keep their keys, export again with keys set to hashes."},
	}
}

func graceFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "by_the_clock", Status: bundle.Exact, How: "plugin postern-auth, a second hash with `until`",
			Note: "The key's previous secret works until the same time, by the gateway's clock."},
		{Reason: "revoked", Status: bundle.Exact, How: "left out of `keys`, so calls get 401",
			Note: "The key is revoked, and so is its previous secret."},
		{Reason: bundle.ReasonLeftOut, Status: bundle.Skipped, How: "left out if the options say so",
			Note:   "The previous secret is left out, because its key is.",
			Remedy: "To let callers keep their keys, export again with keys set to hashes."},
	}
}

func tenantFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "header", Status: bundle.Exact, How: "X-Tenant-ID of its keys",
			Note: "Upstreams get the same X-Tenant-ID with every call that has one of the tenant's keys, or an " +
				"accepted token that names the tenant."},
		{Reason: "detached", Status: bundle.Exact, How: "left out of `tenants`, so calls get 403",
			Note:   "The project no longer serves the tenant, so its keys still get 403 wrong_tenant.",
			Remedy: "To serve it again, add it below tenants in gateway/gateway.yaml and restart the gateway."},
	}
}
