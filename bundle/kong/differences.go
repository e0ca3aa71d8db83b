package kong

import "postern/bundle"

// limitFates lists the ways in which Kong differs from the hosted gateway for every project. Every ledger has all of
// them.
func limitFates() []bundle.Fate {
	all := append(responseFates(), requestFates()...)
	for i := range all {
		all[i].Always = true
	}
	return all
}

// responseFates are about upstreams and their responses.
func responseFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "reused_connections", Title: "Reused upstream connections", Status: bundle.Approximate,
			How: "KONG_UPSTREAM_KEEPALIVE_IDLE_TIMEOUT in docker-compose.yaml",
			Note: "For all upstreams, Kong reuses connections that have been idle for less than the shortest " +
				"reuse_idle_ms of any environment, rounded down to whole seconds, with a minimum of 1 s. It doesn't " +
				"read an upstream's " +
				"Keep-Alive header, and doesn't replace connections after 60 s. At worst, a call on a connection " +
				"that the upstream is closing gets 502, and a changed DNS record isn't picked up while calls keep a " +
				"connection in use.",
			Remedy: "Set reuse_idle_ms to less than the time after which your upstreams close idle connections, and " +
				"export again."},
		{Reason: "error_bodies", Title: "Gateway error bodies", Status: bundle.Approximate,
			How: "Kong's own error pages",
			Note: "If no route matches or the upstream fails, the response body is Kong's own and has no code. The " +
				"status is " +
				"the same (404, 502, 504), except that Kong returns 503 instead of 502 if the upstream's host name " +
				"can't be resolved."},
		{Reason: "upstream_certificates", Title: "HTTPS upstream certificates", Status: bundle.Approximate,
			How: "proxy_ssl_verify, the image's certificate authorities",
			Note: "Each gateway checks certificates from https upstreams against its own certificate authorities. " +
				"Kong also accepts a certificate that names the host only in its common name (CN). The hosted " +
				"gateway doesn't, and returns 502. At worst, calls reach an upstream that they didn't reach before, " +
				"or no longer reach an upstream whose certificate authority only the hosted gateway's machine trusts.",
			Remedy: "Add missing certificate authorities as gateway/README.md describes. start.sh reports the " +
				"upstreams that don't respond."},
		{Reason: "repeated_calls", Title: "Retried calls", Status: bundle.Approximate,
			How: "nginx's own rule",
			Note: "The hosted gateway retries GET, HEAD, OPTIONS, PUT and DELETE calls with a body of up to 64 KB. " +
				"Kong retries calls with every method except POST, LOCK and PATCH, including unusual ones such as " +
				"PROPFIND, and with bodies of any size. If an upstream closes a reused connection without a " +
				"response, Kong also retries the call one more time than the environment allows, even if retries are " +
				"set to 0. At worst, the upstream processes such a call twice.",
			Remedy: "If such a call must not be retried, set the environment's retries to 0, and " +
				"KONG_UPSTREAM_KEEPALIVE_POOL_SIZE to \"0\" in docker-compose.yaml."},
		{Reason: "accel_headers", Title: "X-Accel headers from upstreams", Status: bundle.Exact,
			How: "nginx removes them",
			Note: "X-Accel-Redirect, X-Accel-Expires, X-Accel-Limit-Rate, X-Accel-Buffering, X-Accel-Charset and " +
				"X-Pad headers from an upstream don't reach the caller, and have no effect on either gateway."},
		{Reason: "interim_answers", Title: "Interim responses (1xx)", Status: bundle.Lossy, How: "calls get 502",
			Note: "The hosted gateway either passes on or skips an upstream's interim response (100, 102 or 103). " +
				"nginx " +
				"mistakes it for the final response: the call gets 502 upstream_unreachable and its connection is " +
				"closed. At worst, an upstream that sends an interim response before every final response can't be " +
				"called, and the final response to a HEAD request that failed this way is returned to the next call " +
				"on the same upstream connection.",
			Remedy: "Turn off interim responses in the upstream: 100 Continue, 102 Processing and 103 Early Hints. " +
				"Until then, if the upstream sends them in response to HEAD requests, set " +
				"KONG_UPSTREAM_KEEPALIVE_POOL_SIZE to \"0\" in docker-compose.yaml."},
		{Reason: "unasked_switch", Title: "Unrequested protocol switches (101)", Status: bundle.Approximate,
			How: "nginx passes it on",
			Note: "If an upstream sends 101 even though the request didn't ask for a WebSocket, the caller gets 502 " +
				"from the hosted gateway. Kong passes the 101 on. At worst, the caller waits on its connection for a " +
				"response that never comes.",
			Remedy: "Have the upstream send 101 only in response to requests with a matching Upgrade header."},
		{Reason: "malformed_answers", Title: "Malformed upstream responses", Status: bundle.Approximate,
			How: "nginx's own checks",
			Note: "Each gateway returns 502 if the upstream's response isn't valid HTTP/1.x, but the two gateways " +
				"check differently. Kong passes on some malformed responses: a response that doesn't begin with an " +
				"HTTP/1.x status line reaches the caller unchanged, a header line without a colon is skipped, " +
				"control characters in header values are kept, and chunked encoding in an HTTP/1.0 response is " +
				"decoded. Conversely, Kong returns 502 if a response has both Content-Length and chunked " +
				"encoding, or the same Content-Length twice; the hosted gateway accepts such responses. The hosted " +
				"gateway passes on everything before a malformed chunk; Kong may pass on nothing.",
			Remedy: "Fix the upstream. start.sh reports the upstreams that don't respond."},
		{Reason: "repeated_fields", Title: "Repeated response headers", Status: bundle.Approximate,
			How: "nginx keeps the first",
			Note: "If a response has two Date, ETag, Expires, Last-Modified, Location, Refresh, Server or Status " +
				"headers, Kong passes on only the first, and the hosted gateway passes on both. If it has two " +
				"Content-Type headers, both gateways pass on only the first. If it has two Accept-Ranges or " +
				"Content-Range headers, both gateways pass on both, but transforms on Kong change only the last one. " +
				"At worst, the first one reaches callers even though a transform removes the header.",
			Remedy: "Have the upstream send each of these headers once."},
		{Reason: "bodiless_answers", Title: "Headers in 204 and 304 responses", Status: bundle.Approximate,
			How: "nginx passes these headers on",
			Note: "Kong passes on the Content-Length header in a 204 or 304 response, and the Content-Type header in " +
				"a 304 response. The hosted gateway removes these headers. Neither gateway sends a body with such a " +
				"response."},
		{Reason: "proxy_connection", Title: "Proxy-Connection header", Status: bundle.Approximate,
			How: "nginx passes it on",
			Note: "Kong passes on a response's Proxy-Connection header, which has no meaning behind a gateway. The " +
				"hosted gateway removes it."},
	}
}

// requestFates are about requests and the upstreams they are sent to.
func requestFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "control_cookies", Title: "Dashboard cookies", Status: bundle.Approximate,
			How: "all cookies are passed on",
			Note: "Cookies whose names are postern or begin with postern- belong to the dashboard. The hosted " +
				"gateway " +
				"removes them from requests and responses. Kong has no dashboard and passes them on. At worst, an " +
				"upstream gets a dashboard cookie that a browser still has for the same host name.",
			Remedy: "Run the gateway on a host name that has never served a dashboard."},
		{Reason: "refused_requests", Title: "Malformed and oversized requests", Status: bundle.Approximate,
			How: "nginx's own checks",
			Note: "Each gateway refuses malformed and oversized requests in its own way. Kong responds with an HTML " +
				"page. Kong accepts request lines and headers of up to 73 KB with lines of up to 36 KB; the hosted " +
				"gateway " +
				"accepts up to 36 KB in total. A request with exactly 1,000 header lines gets 431 from Kong, and " +
				"one with more gets 400; the hosted gateway accepts both. Kong accepts some malformed requests " +
				"that get 400 from the hosted gateway, such as a raw # in a path. At worst, such a request reaches " +
				"the upstream as nginx interprets it. Kong refuses a request with an empty Host header; the hosted " +
				"gateway routes it by its path."},
		{Reason: "fields_refused_twice", Title: "Repeated request headers", Status: bundle.Approximate,
			How: "nginx returns 400",
			Note: "A request with two Authorization, Content-Range, If-Match, If-Modified-Since, If-None-Match, " +
				"If-Range or If-Unmodified-Since headers gets 400 with an HTML page from Kong. The hosted gateway " +
				"forwards it. At worst, a caller that splits a list of entity tags across two If-Match or " +
				"If-None-Match headers, which is valid HTTP, is always refused.",
			Remedy: "Have callers send the list in a single header, separated by commas."},
		{Reason: "invalid_utf8", Title: "Paths that aren't UTF-8", Status: bundle.Lossy, How: "not routed",
			Note: "Kong returns 404 for a path that isn't valid UTF-8 after decoding, such as /%ff."},
		{Reason: "body_framing", Title: "Content-Length and chunked bodies", Status: bundle.Approximate,
			How: "nginx decides",
			Note: "A short chunked body may reach the upstream with a Content-Length instead, and a response that " +
				"names Content-Length in its Connection header may reach the caller in chunks. The body itself is " +
				"the same."},
		{Reason: "header_names", Title: "Unusual characters in header names", Status: bundle.Exact,
			How: "nginx drops them",
			Note: "Neither gateway forwards request headers whose names contain characters other than letters, " +
				"digits, - and _."},
		{Reason: "trailers", Title: "Trailers", Status: bundle.Lossy, How: "nginx drops them",
			Note: "Trailers after a chunked body aren't forwarded in either direction."},
		{Reason: "forwarded_for", Title: "X_Forwarded_For header", Status: bundle.Approximate,
			How: "X-Forwarded-For comes from Kong",
			Note: "The hosted gateway ignores a caller's header spelled X_Forwarded_For. Kong treats it as " +
				"X-Forwarded-For, a header that any caller can send anyway, and appends to it."},
		{Reason: "via", Title: "Via header", Status: bundle.Approximate, How: "Kong's own Via header",
			Note: "The Via header in requests contains kong instead of postern. Kong doesn't add it to responses."},
		{Reason: "open_streams", Title: "Open calls with keys that are no longer " +
			"valid", Status: bundle.Lossy, How: "not available",
			Note: "The hosted gateway ends WebSockets, downloads and other open calls within a second when their key " +
				"or token expires or is revoked, or when a configuration change no longer allows them. Kong checks a " +
				"call only when it begins. At worst, a caller whose key has expired or been deleted keeps an open " +
				"WebSocket until one side closes it.",
			Remedy: "Have the upstream close WebSockets after a while. ./start.sh --stop ends all of them."},
		{Reason: "body_memory", Title: "Memory for large bodies", Status: bundle.Approximate,
			How: "client_body_buffer_size, and files",
			Note: "The hosted gateway holds at most 256 MB of bodies that it must read completely, and returns 503 " +
				"busy beyond that. Kong writes long request bodies to files, without a limit on their total size, " +
				"and doesn't limit response bodies that it changes. At worst, many large calls use up all of the " +
				"container's memory.",
			Remedy: "Limit the container's memory, and set KONG_NGINX_HTTP_CLIENT_MAX_BODY_SIZE in " +
				"docker-compose.yaml."},
		{Reason: "loop_guard", Title: "Calls that return to the gateway", Status: bundle.Lossy, How: "not available",
			Note: "Kong doesn't detect a call that comes back to it. A gateway that is its own upstream returns 502 " +
				"or 504 after a while, instead of an immediate 508.",
			Remedy: "Don't use the gateway's own address as an upstream."},
		{Reason: "private_addresses", Title: "Upstreams with private addresses", Status: bundle.Lossy,
			How: "not available",
			Note: "Kong connects to any address that the name of an upstream, token issuer or introspection endpoint " +
				"resolves to, including private and loopback addresses. The hosted gateway refuses addresses that " +
				"its operator hasn't allowed. At worst, calls to a name that resolves to a loopback address " +
				"reach the container itself and, on port 8001, Kong's own admin API.",
			Remedy: "Run the gateway in a network that allows connections only to its upstreams. If a name is " +
				"supposed to refer to the gateway's own machine, use host.docker.internal instead."},
	}
}
