package movein

const (
	exact       = "exact"
	approximate = "approximate"
	lossy       = "lossy"
	skipped     = "skipped"
)

const (
	setIt      = "Give the placeholder a value with --set NAME=VALUE or --env NAME."
	openIt     = "Open the route with --open if it's safe to accept calls without this plugin."
	openOwner  = "Open the consumer with --open to import its keys as active."
	otherAuth  = "Switch these callers to API keys or tokens, or open the route with --open."
	unknownDo  = "Check whether you need it. If you do, set it up after the import."
	hostDo     = "Name the host names that callers use with --host."
	transforms = "Move the change to the upstream if callers depend on it."
)

// fates are what happens to entities, by the codes of their items. A note of what is approximate says the worst case.
var fates = map[string]fate{
	"unknown": {skipped, "Postern doesn't have this kind of entity.", unknownDo},

	"service":           {exact, "It becomes a project. Its address becomes the target of each environment.", ""},
	"service.off":       {exact, "It is off in the file, so it isn't imported. Calls get 404, as in Kong.", ""},
	"service.no_routes": {skipped, "No route points to it, so no call can reach it.", ""},
	"service.protocol": {
		skipped,
		"Postern forwards HTTP and gRPC only.",
		"Keep Kong or another proxy for this service.",
	},
	"service.placeholder": {
		skipped,
		"Its address has a placeholder without a value. Its routes stay closed.",
		setIt,
	},
	"service.address": {
		skipped,
		"A target can't have its address. Its routes stay closed.",
		"Correct the url in the file.",
	},
	"service.fields": {lossy, "Some of its fields are unknown and are left out.", unknownDo},
	"service.unverified": {
		approximate,
		"Kong doesn't verify the target's certificate, and Postern does. If a public authority didn't issue it, " +
			"calls get 502.",
		"Set the authority in upstream.ca, or accept the target's certificate with --trust HOST.",
	},
	trustedCode: {
		approximate,
		"Kong accepts any certificate. Postern accepts certificates of the authority that the target sends while the " +
			"import is planned. If the target sends none, Postern accepts only the target's own certificate, and " +
			"calls get 502 once it is replaced.",
		"Compare its fingerprint in the plan with the one that the target's operator gives you.",
	},
	notTakenCode: {
		approximate,
		"The host is trusted, but one of its targets can't be reached, or has no certificate that can be accepted. " +
			"If a public authority didn't issue its certificate, calls get 502.",
		"Fix the problem that the plan shows for the target and update the plan, or set the authority in upstream.ca.",
	},
	"service.ca": {
		lossy,
		"An authority in ca_certificates isn't in the file, or isn't a certificate. Authorities that the " +
			"gateway's machine trusts are accepted instead.",
		"Set the authority in upstream.ca.",
	},
	"service.client_certificate": {
		lossy, "The client certificate isn't imported. A target that requires it refuses calls.",
		"Set it with postern upstreams certificate set.",
	},
	"service.timeouts": {
		approximate,
		"Postern's timeouts for reading apply to writing too, and are at most 1 hour. Calls that take longer get " +
			"504.",
		"",
	},
	"service.retries": {approximate, "A call is retried at most 10 times.", ""},

	"route": {exact, "It becomes a custom domain with its path and methods.", ""},
	"route.prefix": {
		approximate,
		"Kong's path also matches if the last segment is longer (/orders matches /ordersx). Here, a path matches " +
			"only complete segments: such calls get 404, or reach another route that checks at least as much.",
		"",
	},
	"route.slash": {
		approximate,
		"Its path ends with a slash. Here a call without that slash also reaches it; in Kong it gets 404 or reaches " +
			"another route.",
		"",
	},
	"route.slash_denied": {
		approximate,
		"Calls to its path itself, without anything after it, get 403 here. In Kong, the path without its slash " +
			"belongs to another route, which is stricter.",
		"Open it with --open, or write a route for the path without the slash in the file.",
	},
	"route.regex_prefix": {
		approximate,
		"Its regular expression is equivalent to a prefix. Here, a prefix matches only complete segments. Calls " +
			"whose last segment is longer get 404, or reach another route that checks at least as much.",
		"",
	},
	"route.no_host": {
		lossy,
		"It has no host. Callers reach it only at the project's gateway URL, not at the host name that they use now.",
		hostDo,
	},
	"route.any_host": {
		approximate,
		"It matches calls to any host name. Here, it matches only the host names in the file and in --host. Calls to " +
			"other names get 404.",
		"",
	},
	"route.wildcard": {
		lossy,
		"It matches calls to all names that match its hosts. Here, it matches only the names in the file and in " +
			"--host. Calls to other names get 404.",
		hostDo,
	},
	"route.unserved_host": {
		lossy,
		"One of its hosts can't be a custom domain, because it is an address, a name without a dot or a name of this " +
			"installation. Callers reach the route only at the project's gateway URL, not at that host.",
		hostDo,
	},
	"route.port": {
		approximate,
		"Its hosts include ports. Here, calls to the host name match on any port of the gateway.",
		"",
	},
	"route.https": {
		approximate,
		"Kong refuses or redirects calls without TLS. If the gateway listens without TLS, they are served here after " +
			"the same checks. A key that is sent this way can be read on the network.",
		"Let callers reach the gateway only over TLS.",
	},
	"route.http": {
		approximate,
		"In Kong, it matches only calls without TLS. Here, calls with TLS are served too, after the same checks.",
		"",
	},
	"route.path_handling": {
		approximate,
		"path_handling v1 joins paths differently. The target's path differs if the service's path and the " +
			"call's path have slashes where they meet.",
		"",
	},
	"route.grpc": {lossy, "gRPC isn't served if the path is stripped.", "Set strip_path: false in the file."},
	"route.anonymous": {lossy, "Kong also forwards calls without a valid key (anonymous). Here, they get 401.",
		"Open the route with --open to let them through."},
	"route.opened": {lossy, "It is open because you used --open. Plugins and matches that can't be imported don't " +
		"apply.", ""},
	"route.closed": {
		skipped,
		"It stays closed: a plugin or match that checks its calls can't be imported. Calls get 401 or 403.",
		"See the list of closed routes.",
	},
	"route.regex": {
		skipped,
		"Its path is a regular expression that isn't a prefix, so it isn't imported. Calls to it get an error, or " +
			"reach a route that checks them in the same way.",
		"Replace it with prefixes in the file (strip_path: false keeps the path).",
	},
	"route.path": {
		skipped,
		"Its path has characters that a path prefix can't have, such as encoded ones. Calls to it get an error, or " +
			"reach a route that checks them in the same way.",
		"Write the path with plain characters in the file.",
	},
	"route.match": {skipped, "It also matches by headers, SNI or addresses, which custom domains don't support.",
		"Split the service by host name or path."},
	"route.expression":  {skipped, "Its expression can't be imported.", "Write it with hosts, paths and methods."},
	"route.placeholder": {skipped, "Its hosts or paths have a placeholder without a value.", setIt},
	"route.stream": {
		skipped,
		"It handles TCP, TLS or UDP. Postern forwards HTTP and gRPC only.",
		"Keep Kong or another proxy for it.",
	},
	"route.no_service": {
		skipped,
		"It has no service, so Postern has no target for it.",
		"Answer these calls in an upstream.",
	},
	"route.service_skipped": {skipped, "Its service can't be imported.", "See the reason listed for the service."},
	"route.service_off":     {exact, "Its service is off. Calls get 404, as in Kong.", ""},
	"route.no_methods": {
		exact, "It names only TRACE and CONNECT, which neither Kong nor Postern forwards.", "",
	},
	"route.shadowed": {exact, "Other routes match all of its calls, as in Kong.", ""},
	"route.twin": {
		approximate,
		"Another route matches the same calls. Kong picks one of them; here, the first one in the file gets the calls.",
		"Remove one of the two.",
	},
	"route.overlap": {
		skipped, "It stays closed: calls of another route, which checks them differently, would reach it.",
		"Open it with --open if it may receive them.",
	},
	"route.guarded": {
		approximate,
		"Calls with a longer last segment than the path of another route (such as /administrator for /admin) get 401 " +
			"or 403 here. In Kong, they reach that route, which is stricter.",
		"",
	},
	"route.guarded_everywhere": {
		approximate,
		"Another route below its path is stricter. Here, calls to that route's path get 403 at all host names and " +
			"paths of this route. In Kong, only calls at the other route's own host names and paths don't reach this " +
			"route.",
		"Write a route for each host name and path in the file.",
	},
	"route.fields": {lossy, "Some of its fields are unknown and are left out.", unknownDo},

	"consumer": {exact, "It becomes an app that owns keys. Upstreams get the same X-Consumer headers.", ""},
	"consumer.name": {
		approximate,
		"It has no username, so Kong sends no X-Consumer-Username. Here, that header contains the name of the owner.",
		"",
	},
	"consumer.groups": {
		lossy,
		"It is in consumer groups, which aren't imported.",
		"Set limits on its keys.",
	},
	"consumer.frozen": {
		lossy,
		"A plugin that checks its calls can't be imported, so its keys are imported frozen.",
		openOwner,
	},
	"consumer.opened": {lossy, "Its keys are active because you used --open. Plugins that can't be imported " +
		"don't apply.", ""},
	"consumer.placeholder": {skipped, "Its name has a placeholder without a value.", setIt},
	"consumer.fields":      {lossy, "Some of its fields are unknown and are left out.", unknownDo},

	"keyauth_credential": {
		exact, "The key keeps working for all imported projects. Only its hash is stored.", "",
	},
	"keyauth_credential.expires": {exact, "The key keeps working until it expires at the same time.", ""},
	"keyauth_credential.ttl": {
		approximate,
		"Its ttl can be read in two ways. It is read as a time in the past, so the key is imported as expired.",
		"Write the expiry time as seconds since 1970, or create a new key.",
	},
	"keyauth_credential.frozen": {
		approximate,
		"The key is imported frozen, because its consumer is closed. Calls get 403.",
		openOwner,
	},
	"keyauth_credential.weak_allowed": {
		exact,
		"The key can be guessed. It is imported because you allowed weak keys.",
		"Rotate it.",
	},
	"keyauth_credential.weak": {skipped, "The key is too short or too repetitive: anyone with its hash can guess it.",
		"Import it with --allow-weak, or give its owner a new one."},
	"keyauth_credential.placeholder": {skipped, "Its value is a placeholder, so it isn't imported.", setIt},
	"keyauth_credential.no_key": {
		skipped,
		"The file doesn't contain its value. Kong generates one when it loads the file.",
		"Export the key with its value, or create a new one.",
	},
	"keyauth_credential.unusable": {
		skipped,
		"Its value can't be sent in a header: it has spaces at its ends, control characters or non-ASCII " +
			"characters, or is too long.",
		"Create a new key.",
	},
	"keyauth_credential.repeated": {
		skipped,
		"Another credential in the file has the same value.",
		"Remove one of them.",
	},
	"keyauth_credential.consumer": {
		skipped,
		"Its consumer isn't in the file, or isn't imported.",
		"Add the consumer to the file.",
	},

	"credential": {skipped, "Postern doesn't support this kind of credential.", otherAuth},

	"acl": {exact, "The consumer becomes a member of the group.", ""},
	"acl.renamed": {
		approximate,
		"The group has a different name here, because names can contain only lowercase letters, digits, dots, " +
			"hyphens and underscores. Upstreams get the new name in X-Consumer-Groups.",
		"",
	},
	"acl.consumer":    {skipped, "Its consumer isn't in the file.", "Add the consumer to the file."},
	"acl.placeholder": {skipped, "Its name is missing, or has a placeholder without a value.", setIt},

	"upstream":        {exact, "Its targets become the targets of the environment.", ""},
	"upstream.unused": {skipped, "No imported service uses it.", ""},
	"upstream.no_targets": {
		skipped,
		"It has no target that can be imported. Its name is used as the host of the target.",
		"Add targets to the file.",
	},
	"upstream.hash": {
		approximate,
		"Calls with the same hashed value go to the same target, but it can be a different target than in Kong. " +
			"hash_fallback is left out.",
		"",
	},
	"upstream.algorithm": {
		lossy,
		"Uses round-robin instead: Postern doesn't support this algorithm.",
		"Use a hash of a header, the key, the owner or the address.",
	},
	"upstream.checks": {
		approximate,
		"One interval applies to all targets, and one number to all kinds of failed checks. A target can become " +
			"unhealthy up to one interval later or earlier than in Kong.",
		"",
	},
	"upstream.tcp_checks": {
		lossy,
		"Checks without HTTP aren't imported. A broken target gets calls until a call to it fails.",
		"Set checks.path.",
	},
	"upstream.passive": {
		approximate,
		"Failed calls in a row are counted together, and an unhealthy target is tried again after 10 seconds. In " +
			"Kong, it gets no calls until a check succeeds.",
		"",
	},
	"upstream.fields": {lossy, "Some of its fields are unknown and are left out.", unknownDo},

	"target":             {exact, "It becomes a target with the same weight.", ""},
	"target.unused":      {skipped, "No imported service uses its upstream.", ""},
	"target.address":     {skipped, "Its address isn't a host name with a port.", "Correct it in the file."},
	"target.too_many":    {skipped, "An environment has at most 32 targets.", "Put a load balancer in front of them."},
	"target.placeholder": {skipped, "Its address has a placeholder without a value.", setIt},
	"target.fields":      {lossy, "Some of its fields are unknown and are left out.", unknownDo},

	"certificate": {
		skipped,
		"Certificates of host names come from ACME or from the operator's files.",
		"Give the operator the certificate, or let ACME issue one.",
	},
	"sni": {
		skipped,
		"The name's certificate comes from ACME or from the operator's files.",
		"See the manual steps in the plan.",
	},
	"ca_certificate":        {exact, "It becomes an authority of the environment's upstream.", ""},
	"ca_certificate.unused": {skipped, "No imported service uses it.", ""},
	"ca_certificate.fields": {lossy, "Some of its fields are unknown and are left out.", unknownDo},
	"consumer_group": {
		skipped,
		"Consumer groups aren't imported. The keys of their members are frozen if a plugin applies to them.",
		"Set limits on key types or keys.",
	},
	"vault": {
		skipped,
		"Postern doesn't read secrets from vaults.",
		"Give the placeholders values with --set or --env.",
	},
	"keyauth_credential.fields": {lossy, "Some of its fields are unknown and are left out.", unknownDo},
	"acl.fields":                {lossy, "Some of its fields are unknown and are left out.", unknownDo},
}
