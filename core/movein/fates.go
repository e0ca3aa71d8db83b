package movein

const (
	exact       = "exact"
	approximate = "approximate"
	lossy       = "lossy"
	skipped     = "skipped"
)

const (
	setIt      = "Set the value of the placeholder with `set`."
	openIt     = "Open the route with `open` if it's safe to accept calls without this plugin."
	openOwner  = "Open the consumer with `open` to import its keys as active."
	otherAuth  = "Switch these callers to API keys or tokens, or open the route with `open`."
	unknownDo  = "If you need an equivalent, set it up after the import."
	hostDo     = "Use `hosts` to list the host names that callers use."
	transforms = "Move the change to the upstream if callers depend on it."
)

// fates says what happens to entities, by the codes of their items. The note of an approximate item states the worst
// case.
var fates = map[string]fate{
	"unknown": {skipped, "Postern doesn't have this kind of entity.", unknownDo},

	"service": {
		exact, "The service becomes a project. Its address becomes the target of each environment.", "",
	},
	"service.off": {
		exact, "The service is disabled in the file, so it isn't imported. Calls get 404, as in Kong.", "",
	},
	"service.no_routes": {skipped, "No route uses the service, so no call can reach it.", ""},
	"service.protocol": {
		skipped, "Postern forwards only HTTP and gRPC.", "Keep Kong or another proxy for this service.",
	},
	"service.placeholder": {
		skipped, "The service has a placeholder without a value. Its routes stay closed.", setIt,
	},
	"service.address": {
		skipped,
		"The service's address can't be used as a target. Its routes stay closed.",
		"Correct the service's url in the file.",
	},
	"service.fields": {lossy, "Some fields are unknown and are left out.", unknownDo},
	"service.unverified": {
		approximate,
		"Kong doesn't verify the target's certificate, but Postern does. If the certificate isn't from a public " +
			"authority, calls get 502.",
		"Set the authority in upstream.ca, or accept the target's certificate with `trust`.",
	},
	trustedCode: {
		approximate,
		"Kong accepts any certificate. Postern accepts certificates from the authority that the target presents " +
			"while the import is planned. If the target doesn't present an authority, Postern accepts only the " +
			"target's own certificate, and calls get 502 after that certificate is replaced.",
		"Compare the fingerprint in the plan with the one that you get from the target's operator.",
	},
	notTakenCode: {
		approximate,
		"The host is trusted, but one of its targets can't be reached or doesn't present a certificate that can be " +
			"accepted. If that target's certificate isn't from a public authority, calls get 502.",
		"Fix the problem that the plan shows for the target and update the plan, or set the authority in upstream.ca.",
	},
	"service.ca": {
		lossy,
		"An entry in ca_certificates isn't in the file or isn't a certificate. Instead, Postern accepts the " +
			"authorities that the gateway's machine trusts.",
		"Set the authority in upstream.ca.",
	},
	"service.client_certificate": {
		lossy,
		"The client certificate isn't imported. A target that requires it will refuse calls.",
		"Set the certificate with postern upstreams certificate set.",
	},
	"service.timeouts": {
		approximate,
		"Postern's read timeouts also apply to writes, and are at most 1 hour. Calls that take longer get 504.",
		"",
	},
	"service.retries": {approximate, "Postern retries a call at most 10 times.", ""},

	"route": {exact, "The route becomes a custom domain with the same path and methods.", ""},
	"route.prefix": {
		approximate,
		"In Kong, the path also matches if the last segment of a call's path is longer (/orders matches /ordersx). " +
			"In Postern, a path matches only complete segments. Calls whose last segment is longer get 404 or reach " +
			"another route with the same or stricter checks.",
		"",
	},
	"route.slash": {
		approximate,
		"The route's path ends with a slash. In Postern, calls without that slash also reach the route. In Kong, " +
			"they get 404 or reach another route.",
		"",
	},
	"route.slash_denied": {
		approximate,
		"The route's path ends with a slash. In Kong, calls without that slash reach another route, which is " +
			"stricter. In Postern, they get 403.",
		"Open the route with `open`, or add a route for the path without the slash to the file.",
	},
	"route.regex_prefix": {
		approximate,
		"The route's regular expression is equivalent to a prefix. In Postern, a prefix matches only complete " +
			"segments. Calls whose last segment is longer get 404 or reach another route with the same or stricter " +
			"checks.",
		"",
	},
	"route.no_host": {
		lossy,
		"The route has no host. Callers can reach it only at the project's gateway URL, not at the host name that " +
			"they use now.",
		hostDo,
	},
	"route.any_host": {
		approximate,
		"In Kong, the route matches calls to any host name. In Postern, it matches only the host names in the file " +
			"and in `hosts`. Calls to other host names get 404.",
		"",
	},
	"route.wildcard": {
		lossy,
		"The route's hosts contain a wildcard. In Postern, the route matches only the host names in the file and in " +
			"`hosts`. Calls to other host names get 404.",
		hostDo,
	},
	"route.unserved_host": {
		lossy,
		"One of the route's hosts can't be a custom domain, because it is an address, a name without a dot, or a " +
			"name of this installation. Callers can reach the route only at the project's gateway URL, not at that " +
			"host.",
		hostDo,
	},
	"route.port": {
		approximate,
		"The route's hosts include ports. In Postern, calls to the host name match on any port of the gateway.",
		"",
	},
	"route.https": {
		approximate,
		"Kong refuses or redirects calls without TLS. If Postern's gateway listens without TLS, it serves these " +
			"calls after the same checks. A key that is sent this way can be intercepted on the network.",
		"Allow callers to reach the gateway only over TLS.",
	},
	"route.http": {
		approximate,
		"In Kong, the route matches only calls without TLS. Postern also serves calls with TLS, after the same checks.",
		"",
	},
	"route.path_handling": {
		approximate,
		"path_handling v1 joins paths differently. The path that the target gets can differ if the service's path or " +
			"the rest of the call's path has a slash where the two are joined.",
		"",
	},
	"route.grpc": {lossy, "Postern doesn't serve gRPC if the path is stripped.", "Set strip_path: false in the file."},
	"route.anonymous": {
		lossy,
		"Kong also forwards calls without a valid key (anonymous). In Postern, they get 401.",
		"Open the route with `open` to let them through.",
	},
	"route.opened": {
		lossy,
		"The route is open because you used `open`. Plugins and conditions that can't be imported don't apply.",
		"",
	},
	"route.closed": {
		skipped,
		"The route stays closed, because a plugin or condition that restricts its calls can't be imported. Calls get " +
			"401 or 403.",
		"See the reasons under `closed`.",
	},
	"route.regex": {
		skipped,
		"The route's path is a regular expression that isn't a prefix, so the route isn't imported. Its calls get an " +
			"error or reach a route with the same checks.",
		"Replace the regular expression with prefixes in the file (strip_path: false keeps the path).",
	},
	"route.path": {
		skipped,
		"The route's path has characters that a path prefix can't have, such as encoded characters. Its calls get an " +
			"error or reach a route with the same checks.",
		"Write the path without encoded characters in the file.",
	},
	"route.match": {
		skipped,
		"The route also matches by headers, SNI or addresses, which custom domains don't support.",
		"Split the service by host name or path.",
	},
	"route.expression": {
		skipped,
		"The route's expression can't be imported.",
		"Replace it with hosts, paths and methods.",
	},
	"route.placeholder": {skipped, "The route has a placeholder without a value.", setIt},
	"route.stream": {
		skipped,
		"The route handles TCP, TLS or UDP. Postern forwards only HTTP and gRPC.",
		"Keep Kong or another proxy for this route.",
	},
	"route.no_service": {
		skipped,
		"The route has no service, so Postern has no target for its calls.",
		"Have an upstream respond to these calls.",
	},
	"route.service_skipped": {
		skipped,
		"The route's service can't be imported.",
		"See the reason listed for the service.",
	},
	"route.service_off": {exact, "The route's service is disabled. Calls get 404, as in Kong.", ""},
	"route.no_methods": {
		exact, "The route matches only TRACE and CONNECT, which neither Kong nor Postern forwards.", "",
	},
	"route.shadowed": {exact, "Other routes get all of this route's calls, as in Kong.", ""},
	"route.twin": {
		approximate,
		"Another route matches the same calls. Kong chooses one of the two. In Postern, the first one in the file " +
			"gets the calls.",
		"Remove one of the two routes.",
	},
	"route.overlap": {
		skipped,
		"The route stays closed, because it would get calls for another route that has different checks.",
		"Open the route with `open` if it can accept these calls.",
	},
	"route.guarded": {
		approximate,
		"Calls with a longer last segment than the path of another route (such as /administrator for /admin) reach " +
			"that stricter route in Kong. In Postern, they get 401 or 403.",
		"",
	},
	"route.guarded_everywhere": {
		approximate,
		"Another route, whose path is below this one's, is stricter. In Postern, calls to that route's path get 403 " +
			"at all host names and paths of this route. In Kong, they also reach this route, except at the other " +
			"route's own host names and paths.",
		"Add a separate route for each host name and path to the file.",
	},
	"route.fields": {lossy, "Some fields are unknown and are left out.", unknownDo},

	"consumer": {exact, "The consumer becomes an app that owns keys. Upstreams get the same X-Consumer headers.", ""},
	"consumer.name": {
		approximate,
		"The consumer has no username, so Kong doesn't send X-Consumer-Username. In Postern, that header contains " +
			"the name of the owner.",
		"",
	},
	"consumer.groups": {
		lossy, "The consumer is in consumer groups, which aren't imported.", "Set limits on the consumer's keys.",
	},
	"consumer.frozen": {
		lossy,
		"A plugin that checks the consumer's calls can't be imported, so the consumer's keys are imported frozen.",
		openOwner,
	},
	"consumer.opened": {
		lossy,
		"The consumer's keys are active because you used `open`. Plugins that can't be imported don't apply.",
		"",
	},
	"consumer.placeholder": {skipped, "The consumer's name has a placeholder without a value.", setIt},
	"consumer.fields":      {lossy, "Some fields are unknown and are left out.", unknownDo},

	"keyauth_credential": {
		exact, "The key keeps working for all imported projects. Only its hash is stored.", "",
	},
	"keyauth_credential.expires": {exact, "The key keeps working and expires at the same time.", ""},
	"keyauth_credential.ttl": {
		approximate,
		"The key's ttl is ambiguous. It is interpreted as a time in the past, so the key is imported as expired.",
		"Write the expiration time as seconds since 1970, or create a new key.",
	},
	"keyauth_credential.frozen": {
		approximate, "The key is imported frozen because its consumer is closed. Calls get 403.", openOwner,
	},
	"keyauth_credential.weak_allowed": {
		exact, "The key can be guessed. It is imported because you allowed weak keys.", "Rotate the key.",
	},
	"keyauth_credential.weak": {
		skipped,
		"The key is too short or too repetitive, so anyone who has its hash can guess it.",
		"Import the key with `allow_weak`, or create a new key for its owner.",
	},
	"keyauth_credential.placeholder": {skipped, "The key's value is a placeholder, so the key isn't imported.", setIt},
	"keyauth_credential.no_key": {
		skipped,
		"The file doesn't contain the key's value. Kong generates one when it loads the file.",
		"Export the key with its value, or create a new key.",
	},
	"keyauth_credential.unusable": {
		skipped,
		"The key's value can't be sent in a header, because it is too long, begins or ends with a space, or contains " +
			"control or non-ASCII characters.",
		"Create a new key.",
	},
	"keyauth_credential.repeated": {
		skipped, "Another credential in the file has the same value.", "Remove one of them.",
	},
	"keyauth_credential.consumer": {
		skipped, "The key's consumer isn't in the file or isn't imported.", "Add the consumer to the file.",
	},

	"credential": {skipped, "Postern doesn't support this kind of credential.", otherAuth},

	"acl": {exact, "The consumer becomes a member of the group.", ""},
	"acl.renamed": {
		approximate,
		"The group has a different name in Postern, because names can contain only lowercase letters, digits, dots, " +
			"hyphens and underscores. Upstreams get the new name in X-Consumer-Groups.",
		"",
	},
	"acl.consumer":    {skipped, "The group's consumer isn't in the file.", "Add the consumer to the file."},
	"acl.placeholder": {skipped, "The group's name has a placeholder without a value.", setIt},
	"acl.no_group":    {skipped, "The group has no name.", "Set the group in the file."},

	"upstream":        {exact, "The upstream's targets become the targets of the environment.", ""},
	"upstream.unused": {skipped, "No imported service uses the upstream.", ""},
	"upstream.no_targets": {
		skipped,
		"The upstream has no target that can be imported. The upstream's name is used as the target's host.",
		"Add targets to the file.",
	},
	"upstream.hash": {
		approximate,
		"Calls with the same hashed value go to the same target, which can differ from the target in Kong. " +
			"hash_fallback is left out.",
		"",
	},
	"upstream.algorithm": {
		lossy,
		"Postern doesn't support this algorithm and uses round-robin instead.",
		"Use a hash of a header, key, owner or address instead.",
	},
	"upstream.checks": {
		approximate,
		"In Postern, one interval applies to all targets, and one number applies to all kinds of failed checks. At " +
			"worst, a target becomes unhealthy one interval earlier or later than in Kong.",
		"",
	},
	"upstream.tcp_checks": {
		lossy,
		"Checks that don't use HTTP aren't imported. A target that is down gets calls until one of them fails.",
		"Set checks.path for the environment's upstream.",
	},
	"upstream.passive": {
		approximate,
		"Postern combines all kinds of consecutive failed calls in one count, and sends calls to an unhealthy target " +
			"again after 10 seconds. In Kong, an unhealthy target gets no calls until a check succeeds.",
		"",
	},
	"upstream.placeholder": {
		lossy, "Settings that have a placeholder without a value are left out. Kong's defaults apply instead.", setIt,
	},
	"upstream.fields": {lossy, "Some fields are unknown and are left out.", unknownDo},

	"target":         {exact, "The target is imported with the same weight.", ""},
	"target.unused":  {skipped, "No imported service uses the target's upstream.", ""},
	"target.address": {skipped, "The target's address isn't a host name with a port.", "Correct the address."},
	"target.too_many": {
		skipped,
		"An environment can have at most 32 targets.",
		"Put a load balancer in front of them.",
	},
	"target.placeholder": {skipped, "The target's address has a placeholder without a value.", setIt},
	"target.fields":      {lossy, "Some fields are unknown and are left out.", unknownDo},

	"certificate": {
		skipped,
		"Postern gets certificates for host names from ACME or from the operator's files.",
		"Give the operator the certificate, or let ACME issue one.",
	},
	"sni": {
		skipped,
		"Postern gets the certificate for the host name from ACME or from the operator's files.",
		"See \"Manual steps\" in the plan.",
	},
	"ca_certificate":        {exact, "The authority is trusted for the environment's upstream.", ""},
	"ca_certificate.unused": {skipped, "No imported service uses the authority.", ""},
	"ca_certificate.fields": {lossy, "Some fields are unknown and are left out.", unknownDo},
	"consumer_group": {
		skipped,
		"Consumer groups aren't imported. If a plugin applies to the group, the keys of its members are imported " +
			"frozen.",
		"Set limits on key types or keys.",
	},
	"vault": {
		skipped, "Postern doesn't read secrets from vaults.", "Set the values of the placeholders with `set`.",
	},
	"keyauth_credential.fields": {lossy, "Some fields are unknown and are left out.", unknownDo},
	"acl.fields":                {lossy, "Some fields are unknown and are left out.", unknownDo},
}
