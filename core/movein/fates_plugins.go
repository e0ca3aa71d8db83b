package movein

// pluginFates are what happens to plugins, by the codes of their items.
var pluginFates = map[string]fate{
	"plugin":        {exact, "The plugin's settings apply to the same routes as in Kong.", ""},
	"plugin.fields": {lossy, "Some fields are unknown and are left out.", unknownDo},
	"plugin.off":    {exact, "The plugin is disabled in the file, so it isn't imported.", ""},
	"plugin.unused": {
		exact, "The plugin doesn't apply to any imported route, or more specific plugins override it.", "",
	},
	"plugin.missing": {
		skipped,
		"The plugin applies to an entity that isn't in the file.",
		"Export the complete configuration, without select_tags.",
	},
	"plugin.group": {
		skipped,
		"The plugin applies to a consumer group and isn't imported. The keys of the group's members are imported " +
			"frozen.",
		"Set limits on key types or keys.",
	},
	"plugin.harmless": {
		skipped,
		"The plugin isn't imported. It doesn't check calls, so its routes don't change.",
		"Use Postern's usage, logs, metrics and traces.",
	},
	"plugin.correlation": {
		skipped,
		"The plugin isn't imported, so targets and callers don't get its header.",
		"If you need the header, set it in front of the gateway.",
	},
	"plugin.cache": {
		skipped,
		"The plugin isn't imported, so every call reaches the target.",
		"Cache responses in the target, or in front of the gateway.",
	},
	"plugin.acme": {
		approximate,
		"Kong uses the plugin to obtain certificates and to answer calls to /.well-known/acme-challenge/. Postern " +
			"obtains certificates for custom domains itself, through ACME. Calls to this path get 403.",
		"Have the operator turn on ACME for custom domains, or give the operator the certificates.",
	},
	"plugin.no_keys": {
		skipped,
		"The plugin's consumer has no imported keys, so the plugin doesn't apply to any calls.",
		"Apply the plugin's settings to the keys that you create for this consumer.",
	},
	"plugin.route_closed": {skipped, "All of the plugin's routes stay closed.", "See the reasons under `closed`."},
	"plugin.closed": {
		skipped, "The plugin can't be imported, and may check or block calls. Its routes stay closed.", openIt,
	},
	"plugin.placeholder": {
		skipped, "The plugin has a placeholder without a value. Its routes stay closed.", setIt,
	},
	"plugin.auth_closed": {
		skipped, "This kind of authentication can't be imported. Its routes stay closed.", otherAuth,
	},
	"plugin.alternative": {
		skipped,
		"Kong accepts a key instead of this plugin's credentials (anonymous). Callers without a key get 401.",
		otherAuth,
	},
	"plugin.consumer": {
		skipped,
		"The plugin applies to one consumer and can't be imported. The consumer's keys are imported frozen.",
		openOwner,
	},
	"plugin.consumer_transform": {
		lossy,
		"The plugin applies to one consumer. The settings of the routes apply to the consumer's calls instead.",
		transforms,
	},
	"plugin.anonymous_refused": {
		exact,
		"The plugin refuses calls without a credential, as the imported route does.",
		"",
	},
	"plugin.protocols": {
		approximate,
		"In Kong, the plugin applies only to some protocols. In Postern, it applies to all calls.",
		"",
	},

	"jwt.closed": {
		skipped,
		"Kong verifies tokens with each consumer's own secret or key and without an audience. Postern requires an " +
			"issuer and an audience. The plugin's routes stay closed.",
		"Add your issuer to requests_auth.jwt.allowed_pairs after the import, or open the route with `open`.",
	},

	"key-auth.hide_credentials": {
		approximate,
		"Kong forwards the key to the target, because hide_credentials is off. Postern never does.",
		"If a target reads the key, have it use X-Credential-Identifier or X-Consumer-ID instead.",
	},
	"key-auth.query": {
		approximate,
		"To hide credentials, Kong rewrites the query of each call: ?a becomes ?a=, the order of parameters can " +
			"change, and a query that contains only the key becomes ?. Postern removes the key and leaves the rest " +
			"of the query unchanged.",
		"",
	},
	"key-auth.places": {
		approximate,
		"Keys can be sent in several places. If a call has keys in two of these places, Postern returns 401. Kong " +
			"uses the first key.",
		"",
	},
	"key-auth.authorization": {
		approximate,
		"Keys are sent in the Authorization header. Postern removes a key, and forwards any other value of the header.",
		"",
	},
	"key-auth.body": {
		lossy,
		"Postern doesn't read keys in bodies. Calls with a key in the body get 401.",
		"Have callers send the key in a header.",
	},
	"key-auth.place": {
		lossy,
		"Postern can't read keys from one of the names in key_names. Calls that use this name get 401.",
		"Have callers send the key in another header.",
	},
	"key-auth.preflight": {
		approximate,
		"Kong forwards OPTIONS calls without a key. In Postern, they require a key unless CORS is set.",
		"",
	},
	"key-auth.anonymous": {
		lossy,
		"Kong also forwards calls without a valid key (anonymous). In Postern, they get 401.",
		"Open the route with `open` to let them through.",
	},
	"key-auth.anonymous_open": {
		approximate,
		"Calls without a key are forwarded, as in Kong, but without the X-Consumer headers of the anonymous consumer.",
		"",
	},

	"acl.deny": {
		skipped,
		"Postern's rules can't deny groups. The plugin's routes stay closed.",
		"List the allowed groups instead.",
	},
	"acl.empty": {
		skipped, "The plugin doesn't name a group. Its routes stay closed.", "List the allowed groups in the file.",
	},
	"acl.no_auth": {
		skipped,
		"The plugin requires an auth plugin, but its routes have none that can be imported. The routes stay closed.",
		otherAuth,
	},
	"acl.header": {approximate, "Upstreams get X-Consumer-Groups, even though hide_groups_header is on.", ""},

	"ip-restriction.ranges": {
		skipped, "The plugin's addresses are invalid. Its routes stay closed.", "Correct the addresses in the file.",
	},
	"ip-restriction.status": {approximate, "Refused calls get 403 instead of the plugin's status.", ""},
	"ip-restriction.consumer": {
		approximate,
		"The plugin's addresses become the allowed addresses of the consumer's keys. In Postern, a route's address " +
			"ranges also apply. In Kong, the plugin overrides them.",
		"",
	},

	"rate-limiting.values": {
		skipped,
		"The plugin has no limit, or a limit below 1, which refuses every call. Its routes stay closed.",
		"Set limits of at least 1 in the file.",
	},
	"rate-limiting.by": {
		skipped,
		"Postern counts calls only by key, owner, address or project. The plugin's routes stay closed.",
		"Set limit_by to consumer, credential, ip or service.",
	},
	"rate-limiting.service": {
		approximate,
		"In Kong, the limit applies to the calls to all of the plugin's routes combined. In Postern, each project " +
			"counts separately, so n projects allow n times the limit.",
		"",
	},
	"rate-limiting.global": {
		approximate,
		"In Kong, the limit applies to the calls to all services combined. In Postern, each project counts " +
			"separately, so n projects allow n times the limit.",
		"",
	},
	"rate-limiting.per_key": {
		approximate,
		"Calls are counted per key instead of per consumer, because some consumers have their own limits. A consumer " +
			"with n keys has n times the limit.",
		"",
	},
	"rate-limiting.anonymous": {
		approximate,
		"Calls without a key are counted per address. In Kong, the limit applies to the calls of all of these " +
			"callers combined.",
		"",
	},
	"rate-limiting.status": {approximate, "Refused calls get 429 instead of error_code.", ""},
	"rate-limiting.headers": {
		approximate, "Callers get the RateLimit headers, even though hide_client_headers is on.", "",
	},
	"rate-limiting.redis": {
		approximate,
		"Replicas share limits if the server uses Redis (POSTERN_REDIS_URL). Without Redis, n replicas allow n times " +
			"the limit.",
		"Set POSTERN_REDIS_URL if you run several replicas.",
	},
	"rate-limiting.consumer": {
		approximate,
		"The limit becomes the limit of each of the consumer's keys. Each project counts separately, so n projects " +
			"allow n times the limit.",
		"",
	},
	"rate-limiting.consumer_part": {
		lossy,
		"The plugin applies to a consumer on one service or route, or counts calls differently. The limits of the " +
			"route apply to the consumer's calls instead, and may be higher.",
		"Set limits on the keys.",
	},

	"cors.credentials": {
		lossy,
		"All origins or all headers are allowed, so pages can't send credentials. They can still make calls without " +
			"credentials.",
		"List the origins and the headers.",
	},
	"cors.origin": {
		lossy,
		"Some origins are regular expressions, which Postern doesn't support. Pages from these origins can't make " +
			"calls.",
		"List the origins.",
	},
	"cors.method": {
		lossy,
		"In Postern, CORS supports only the common methods. Pages can't send calls with other methods.",
		"Have pages send these calls with POST.",
	},
	"cors.header": {lossy, "An entry that isn't a header name is left out.", "Correct the entry in the file."},
	"cors.none": {
		skipped,
		"None of the plugin's origins can be imported. Preflights require a key or reach the target.",
		"Set CORS for the project.",
	},
	"cors.placeholder": {lossy, "Settings that have a placeholder without a value are left out.", setIt},
	"cors.max_age":     {approximate, "Browsers cache preflight responses for at most 1 day.", ""},
	"cors.preflight": {
		lossy,
		"Postern answers preflights. Kong forwards them to the target (preflight_continue).",
		"If the target must answer preflights, remove CORS from the project.",
	},
	"cors.private_network": {
		lossy,
		"Postern doesn't send Access-Control-Allow-Private-Network, so pages on public sites can't call private " +
			"addresses.",
		"",
	},

	"request-transformer.template": {
		lossy, "Values that Kong evaluates for each call ($(…)) are left out.", transforms,
	},
	"request-transformer.secret": {
		approximate,
		"Headers with secrets become upstream headers. They replace headers that callers send, and their values are " +
			"never shown.",
		"",
	},
	"request-transformer.secret_always": {
		lossy,
		"Kong adds the header only if a call doesn't have it, or replaces it only if a call has it. In Postern, all " +
			"calls get the header with the secret.",
		"Have the target read the caller's value from another header.",
	},
	"request-transformer.fixed": {
		lossy,
		"Some headers can't be changed because the gateway sets or checks them. The target gets them unchanged.",
		transforms,
	},
	"request-transformer.query": {
		approximate,
		"To change parameters, Kong rewrites the query of each call: ?a becomes ?a=, + becomes %20, and the order of " +
			"parameters can change. Postern leaves all other parameters unchanged.",
		"",
	},
	"request-transformer.uri": {
		lossy,
		"replace.uri is left out. Calls reach the target with their original path.",
		"Add the path to the service's url.",
	},
	"request-transformer.method": {
		lossy, "http_method is left out. Calls reach the target with their original method.", transforms,
	},
	"request-transformer.placeholder": {
		lossy, "Changes whose values have placeholders without a value are left out.", setIt,
	},
	"response-transformer.fixed": {lossy, "Some headers can't be changed because the gateway sets them.", transforms},
	"response-transformer.placeholder": {
		lossy, "Changes whose values have placeholders without a value are left out.", setIt,
	},
}
