package movein

// pluginFates are what happens to plugins, by the codes of their items.
var pluginFates = map[string]fate{
	"plugin":        {exact, "Its settings apply to the routes that it applies to in Kong.", ""},
	"plugin.fields": {lossy, "Some of its fields are unknown and are left out.", unknownDo},
	"plugin.off":    {exact, "It is off in the file, so it isn't imported.", ""},
	"plugin.unused": {
		exact,
		"It doesn't apply to any imported route: there is none, or a more specific plugin overrides it.",
		"",
	},
	"plugin.missing": {
		skipped,
		"It applies to something that isn't in the file.",
		"Export the whole configuration, without select_tags.",
	},
	"plugin.group": {
		skipped,
		"It applies to a consumer group and isn't imported. The keys of the group's members are frozen.",
		"Set limits on key types or keys.",
	},
	"plugin.harmless": {
		skipped,
		"It isn't imported. It doesn't check calls, so its routes don't change.",
		"Use Postern's usage, logs, metrics and traces.",
	},
	"plugin.correlation": {
		skipped,
		"It isn't imported: targets and callers don't get its header.",
		"Set the header in front of the gateway if something reads it.",
	},
	"plugin.cache": {
		skipped,
		"It isn't imported: every call reaches the target.",
		"Cache responses in the target, or in front of the gateway.",
	},
	"plugin.acme": {
		approximate,
		"Kong uses it to obtain certificates, and answers calls to /.well-known/acme-challenge/. Here, certificates " +
			"of custom domains are obtained with ACME, and calls to this path get 403.",
		"Turn on ACME for custom domains, or give the operator the certificates.",
	},
	"plugin.no_keys": {
		skipped,
		"Its consumer has no imported key, so it doesn't apply to any call.",
		"Set it on the keys that you create for this consumer.",
	},
	"plugin.route_closed": {skipped, "All of its routes stay closed.", "See the list of closed routes."},
	"plugin.closed": {
		skipped,
		"It can't be imported, and may check or block calls. Its routes stay closed.",
		openIt,
	},
	"plugin.auth_closed": {
		skipped,
		"This kind of authentication can't be imported. Its routes stay closed.",
		otherAuth,
	},
	"plugin.alternative": {
		skipped,
		"Callers can use a key instead (anonymous). Callers that use this plugin get 401.",
		otherAuth,
	},
	"plugin.consumer": {
		skipped,
		"It applies to one consumer and can't be imported. The consumer's keys are frozen.",
		openOwner,
	},
	"plugin.consumer_transform": {
		lossy,
		"It applies to one consumer. The consumer's calls get the settings of their routes instead.",
		transforms,
	},
	"plugin.anonymous_refused": {exact, "It refuses calls without a credential, as the imported route does.", ""},
	"plugin.protocols":         {approximate, "It applies only to some protocols. Here, it applies to all calls.", ""},

	"jwt.closed": {
		skipped,
		"Kong verifies tokens with a secret or key of each consumer, without an audience. Postern requires an issuer " +
			"and an audience. Its routes stay closed.",
		"Add your issuer in requests_auth.jwt.allowed_pairs after the import, or open the route with --open.",
	},

	"key-auth.hide_credentials": {
		approximate, "Kong forwards the key to the target (hide_credentials is off). Postern never does.",
		"Change targets that read the key: they get X-Credential-Identifier and X-Consumer-ID.",
	},
	"key-auth.query": {
		approximate,
		"To hide credentials, Kong rewrites the query of each call: ?a becomes ?a=, the order of arguments can " +
			"change, and a query with only the key becomes a lone ?. Here, only the key is removed from the query.",
		"",
	},
	"key-auth.places": {
		approximate,
		"Keys can be sent in several places. A call with keys in two of them gets 401; Kong uses the first one.",
		"",
	},
	"key-auth.authorization": {
		approximate,
		"Keys are sent in Authorization. A value that isn't a key is forwarded, and a key is removed.",
		"",
	},
	"key-auth.body": {
		lossy,
		"Keys in bodies aren't read. Such calls get 401.",
		"Have callers send the key in a header.",
	},
	"key-auth.place": {
		lossy,
		"A name in key_names can't be used for keys here. Calls that use it get 401.",
		"Have callers send the key in another header.",
	},
	"key-auth.preflight": {
		approximate,
		"Kong lets OPTIONS through without a key. Here, OPTIONS requires a key unless CORS is set.",
		"",
	},
	"key-auth.anonymous": {
		lossy,
		"Kong also forwards calls without a valid key (anonymous). Here, they get 401.",
		"Open the route with --open to let them through.",
	},
	"key-auth.anonymous_open": {
		approximate,
		"Calls without a key are let through, as in Kong, but without the X-Consumer headers of the anonymous " +
			"consumer.",
		"",
	},

	"acl.deny": {
		skipped,
		"Postern has no rule that denies groups. Its routes stay closed.",
		"List the allowed groups instead.",
	},
	"acl.empty": {
		skipped,
		"It names no group, or has a placeholder without a value. Its routes stay closed.",
		setIt,
	},
	"acl.no_auth": {skipped, "It requires an auth plugin that can be imported. Its routes stay closed.", otherAuth},
	"acl.header":  {approximate, "Upstreams get X-Consumer-Groups, even though hide_groups_header is on.", ""},

	"ip-restriction.ranges": {
		skipped,
		"Its addresses can't be read. Its routes stay closed.",
		"Correct the addresses in the file.",
	},
	"ip-restriction.status": {approximate, "Refused calls get 403 instead of its status.", ""},
	"ip-restriction.consumer": {
		approximate,
		"It becomes the allowed addresses of the consumer's keys. The address ranges of a route apply too; in Kong, " +
			"they are overridden.",
		"",
	},

	"rate-limiting.values": {skipped, "Its limits can't be read. Its routes stay closed.", setIt},
	"rate-limiting.by": {
		skipped,
		"Postern counts calls by key, owner, address or project only. Its routes stay closed.",
		"Set limit_by to consumer, credential, ip or service.",
	},
	"rate-limiting.service": {
		approximate,
		"It counts the calls of all routes that it applies to together. Here, each project counts separately: n " +
			"projects admit n times the limit.",
		"",
	},
	"rate-limiting.global": {
		approximate,
		"It counts the calls to all services together. Here, each project counts separately: n projects admit n " +
			"times the limit.",
		"",
	},
	"rate-limiting.per_key": {
		approximate,
		"Calls are counted by key instead of by consumer, because some consumers have their own limits. A consumer " +
			"with n keys has n times the limit.",
		"",
	},
	"rate-limiting.anonymous": {
		approximate,
		"Calls without a key are counted by address. Kong counts those of all callers together.",
		"",
	},
	"rate-limiting.status": {approximate, "Refused calls get 429 instead of error_code.", ""},
	"rate-limiting.headers": {
		approximate,
		"Callers get the RateLimit headers, even though hide_client_headers is on.",
		"",
	},
	"rate-limiting.redis": {
		approximate,
		"Replicas share limits if the server uses Redis (POSTERN_REDIS_URL). Without Redis, n replicas admit n times " +
			"the limit.",
		"Set POSTERN_REDIS_URL if you run several replicas.",
	},
	"rate-limiting.consumer": {
		approximate,
		"It becomes the limit of each of the consumer's keys. Each project counts separately: n projects admit n " +
			"times the limit.",
		"",
	},
	"rate-limiting.consumer_part": {
		lossy,
		"It applies to a consumer on one service or route, or counts calls differently. The consumer's calls get the " +
			"limits of the route, which may be higher.",
		"Set limits on the keys.",
	},

	"cors.credentials": {
		lossy,
		"If all origins or all headers are allowed, pages can't send credentials, but they can make calls without " +
			"them.",
		"List the origins and the headers.",
	},
	"cors.origin": {
		lossy,
		"Some origins are regular expressions, which Postern doesn't support. Pages of these origins can't make calls.",
		"List the origins.",
	},
	"cors.method": {
		lossy,
		"Here, CORS supports only the usual methods. Pages can't send calls with other methods.",
		"Send these calls with POST.",
	},
	"cors.header": {
		lossy,
		"An entry isn't the name of a header. It is left out.",
		"Correct it in the file.",
	},
	"cors.none": {
		skipped,
		"None of its origins can be imported. Preflights require a key, or reach the target.",
		"Set CORS for the project.",
	},
	"cors.max_age": {approximate, "Browsers cache preflights for at most 1 day.", ""},
	"cors.preflight": {
		lossy,
		"Postern answers preflights; Kong forwards them to the target (preflight_continue).",
		"If the target must answer preflights, remove CORS from the project.",
	},
	"cors.private_network": {
		lossy,
		"Access-Control-Allow-Private-Network isn't sent. Pages of public sites can't call private addresses.",
		"",
	},

	"request-transformer.template": {
		lossy,
		"Values that Kong computes for each call ($(…)) are left out.",
		transforms,
	},
	"request-transformer.secret": {
		approximate,
		"Headers with secrets become upstream headers. They replace the caller's, and their values aren't shown.",
		"",
	},
	"request-transformer.secret_always": {
		lossy,
		"Kong adds a header only to calls without it, and replaces it only in calls with it. Here, all calls get the " +
			"header with the secret.",
		"Have the target read the caller's value from another header.",
	},
	"request-transformer.fixed": {
		lossy,
		"Some headers can't be changed, because the gateway sets or checks them. The target gets them unchanged.",
		transforms,
	},
	"request-transformer.query": {
		approximate,
		"To change arguments, Kong rewrites the query of each call: ?a becomes ?a=, + becomes %20, and the order of " +
			"arguments can change. Here, the other arguments stay unchanged.",
		"",
	},
	"request-transformer.uri": {
		lossy,
		"replace.uri is left out. Calls reach the target with their own path.",
		"Put the path into the service's url.",
	},
	"request-transformer.method": {
		lossy,
		"http_method is left out. Calls reach the target with their own method.",
		transforms,
	},
	"request-transformer.placeholder": {
		lossy,
		"Changes whose values have placeholders without a value are left out.",
		setIt,
	},
	"response-transformer.fixed": {
		lossy,
		"Some headers can't be changed, because the gateway sets them.",
		transforms,
	},
	"response-transformer.placeholder": {
		lossy,
		"Changes whose values have placeholders without a value are left out.",
		setIt,
	},
}
