package kong

import "postern/bundle"

// limitFates lists the ways in which Kong differs from the hosted gateway for every project. Every ledger has all of
// them.
func limitFates() []bundle.Fate { return append(responseFates(), requestFates()...) }

// responseFates are about upstreams and their responses.
func responseFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "timeouts", Status: bundle.Approximate,
			How: "connect_timeout, read_timeout and write_timeout of each service",
			Note: "Both gateways give an upstream 10 s to connect, 60 s to begin its response, and 60 s between two " +
				"pieces of it. The hosted gateway requires the complete response head within 60 s of the request. " +
				"Kong restarts the 60 s with every byte. At worst, a slow response head gets 504 from the hosted " +
				"gateway and is passed on by Kong."},
		{Reason: "error_bodies", Status: bundle.Approximate, How: "Kong's own error pages",
			Note: "If no route matches or the upstream fails, the body is Kong's own and has no code. The status is " +
				"the same (404, 502, 504), except that Kong answers 503 instead of 502 if the upstream's host name " +
				"can't be resolved."},
		{Reason: "upstream_certificates", Status: bundle.Approximate,
			How: "proxy_ssl_verify, the image's certificate authorities",
			Note: "Each gateway checks certificates of https upstreams against its own certificate authorities. Kong " +
				"also accepts a certificate that has its host only as the common name (CN), which gets 502 from the " +
				"hosted gateway. At worst, calls reach an upstream that they didn't reach before, or don't reach one " +
				"whose authority only the hosted gateway's machine knows.",
			Remedy: "gateway/README.md says how to add a certificate authority. start.sh reports the upstreams that " +
				"don't answer."},
		{Reason: "repeated_calls", Status: bundle.Approximate, How: "nginx's own rule",
			Note: "If an upstream closes a reused connection without a response, Kong sends the call again, except " +
				"for POST, LOCK and PATCH. The hosted gateway repeats only calls that change nothing. At worst, a " +
				"PUT or DELETE that the upstream had already carried out is carried out twice.",
			Remedy: "If such a call must not be repeated, set KONG_UPSTREAM_KEEPALIVE_POOL_SIZE to \"0\" in " +
				"docker-compose.yaml."},
		{Reason: "accel_headers", Status: bundle.Exact, How: "nginx removes them",
			Note: "An upstream's X-Accel-Redirect, X-Accel-Expires, X-Accel-Limit-Rate, X-Accel-Buffering, " +
				"X-Accel-Charset and X-Pad don't reach the caller, and have no effect on either gateway."},
		{Reason: "interim_answers", Status: bundle.Lossy, How: "calls get 502",
			Note: "The hosted gateway passes on or skips an upstream's interim response (100, 102, 103). nginx " +
				"mistakes it for the final response: the call gets 502 upstream_unreachable and its connection ends. " +
				"At worst, an upstream that sends one with each response can't be called, and the final response to " +
				"a HEAD call that failed this way reaches the next call on the same upstream connection.",
			Remedy: "Turn off early hints (103), 102 and 100 Continue at the upstream. Until then, if the upstream " +
				"sends them to HEAD, set KONG_UPSTREAM_KEEPALIVE_POOL_SIZE to \"0\" in docker-compose.yaml."},
		{Reason: "unasked_switch", Status: bundle.Approximate, How: "nginx passes it on",
			Note: "If an upstream sends 101 although the request didn't ask for a WebSocket, the caller gets 502 " +
				"from the hosted gateway. Kong passes the 101 on. At worst, the caller waits on its connection for a " +
				"response that doesn't come.",
			Remedy: "Have the upstream send 101 only to requests that have the Upgrade it switches to."},
		{Reason: "malformed_answers", Status: bundle.Approximate, How: "nginx's own checks",
			Note: "A response that isn't proper HTTP/1.x gets 502 from each gateway, by its own checks. Kong passes " +
				"some of them on: a response that doesn't begin with an HTTP/1.x status line reaches the caller " +
				"unchanged, a line without a colon is skipped, control characters in values stay, and chunks of " +
				"HTTP/1.0 are read as chunks. In return, Kong answers 502 to a response that has both Content-Length " +
				"and chunks, or the same Content-Length twice, which the hosted gateway accepts. The hosted gateway " +
				"passes on everything before a malformed chunk; Kong may pass on nothing.",
			Remedy: "Fix the upstream. start.sh reports the upstreams that don't answer."},
		{Reason: "repeated_fields", Status: bundle.Approximate, How: "nginx keeps the first",
			Note: "If a response has two lines of Date, ETag, Expires, Last-Modified, Location, Refresh, Server or " +
				"Status, Kong passes on the first and the hosted gateway both. Of two lines of Content-Type, both " +
				"gateways keep the first. Of two lines of Accept-Ranges or Content-Range, both gateways pass on " +
				"both, but transforms on Kong change only the last. At worst, the first line reaches callers " +
				"although a transform removes the header.",
			Remedy: "Have the upstream send each of these headers once."},
		{Reason: "bodiless_answers", Status: bundle.Approximate, How: "nginx passes these headers on",
			Note: "Kong passes on the Content-Length of a 204 or 304 and the Content-Type of a 304. The hosted " +
				"gateway removes them. Neither sends a body with them."},
		{Reason: "proxy_connection", Status: bundle.Approximate, How: "nginx passes it on",
			Note: "Kong passes on a response's Proxy-Connection header, which means nothing behind a gateway. The " +
				"hosted gateway removes it."},
	}
}

// requestFates are about requests and the upstreams they are sent to.
func requestFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "control_cookies", Status: bundle.Approximate, How: "all cookies pass",
			Note: "Cookies named postern, or with a name that begins with postern-, belong to the dashboard. The " +
				"hosted gateway removes them from requests and responses. Kong has no dashboard and lets them pass. " +
				"At worst, an upstream gets one that a browser still has for the same host name.",
			Remedy: "Run the gateway at a host name that has never served a dashboard."},
		{Reason: "refused_requests", Status: bundle.Approximate, How: "nginx's own checks",
			Note: "Each gateway refuses requests that aren't proper HTTP, or too large, in its own way. Kong answers " +
				"with an HTML page. Kong accepts heads of up to 73 KB with lines of up to 36 KB; the hosted gateway " +
				"accepts heads of up to 36 KB. Kong answers 431 to 1,000 header lines and 400 to more; the hosted " +
				"gateway accepts them. Kong accepts some malformed requests that get 400 from the hosted gateway, " +
				"such as a raw # in a path. At worst, one of them reaches the upstream in the form in which nginx " +
				"reads it. Kong refuses an empty Host line; the hosted gateway routes such a call by its path."},
		{Reason: "fields_refused_twice", Status: bundle.Approximate, How: "nginx answers 400",
			Note: "A request with two lines of Authorization, Content-Range, If-Match, If-Modified-Since, " +
				"If-None-Match, If-Range or If-Unmodified-Since gets 400 with an HTML page from Kong, and is " +
				"forwarded by the hosted gateway. At worst, a caller that splits a list of entity tags into two " +
				"lines of If-Match or If-None-Match, which is proper HTTP, is always refused.",
			Remedy: "Have callers send the list in one line, separated by commas."},
		{Reason: "invalid_utf8", Status: bundle.Lossy, How: "not routed",
			Note: "Paths that aren't UTF-8 once they are decoded, such as /%ff, get 404."},
		{Reason: "body_framing", Status: bundle.Approximate, How: "nginx's choice",
			Note: "A short chunked body may reach the upstream with a Content-Length instead, and a response that " +
				"names Content-Length in its Connection header may reach the caller in chunks. The bytes are the " +
				"same."},
		{Reason: "header_names", Status: bundle.Exact, How: "nginx drops them",
			Note: "Neither gateway forwards request headers whose names have characters other than letters, digits, " +
				"- and _."},
		{Reason: "trailers", Status: bundle.Lossy, How: "nginx drops them",
			Note: "Trailers after a chunked body aren't forwarded in either direction."},
		{Reason: "forwarded_for", Status: bundle.Approximate, How: "X-Forwarded-For comes from Kong",
			Note: "The hosted gateway ignores a caller's header spelled X_Forwarded_For. Kong treats it as " +
				"X-Forwarded-For, which any caller may send, and appends to it."},
		{Reason: "via", Status: bundle.Approximate, How: "Via is Kong's",
			Note: "In requests, Via names kong instead of postern. It isn't added to responses."},
		{Reason: "open_streams", Status: bundle.Lossy, How: "not available",
			Note: "The hosted gateway ends WebSockets, downloads and other open calls within a second when their key " +
				"or token ends, or when a change refuses them. Kong checks only when a call begins. At worst, a " +
				"caller whose key has expired or was deleted keeps an open WebSocket until one side closes it.",
			Remedy: "Have the upstream close WebSockets after a while. ./start.sh --stop ends all of them."},
		{Reason: "body_memory", Status: bundle.Approximate, How: "client_body_buffer_size, and files",
			Note: "The hosted gateway holds at most 256 MB of bodies that it has to read whole, and answers 503 busy " +
				"beyond that. Kong writes long request bodies to files, without a limit on their total, and doesn't " +
				"limit response bodies that it changes. At worst, many large calls use all memory of the container.",
			Remedy: "Limit the container's memory, and set KONG_NGINX_HTTP_CLIENT_MAX_BODY_SIZE in " +
				"docker-compose.yaml."},
		{Reason: "loop_guard", Status: bundle.Lossy, How: "not available",
			Note: "Kong doesn't notice a call that comes back to it. A gateway that is its own upstream answers 502 " +
				"or 504 after a while, instead of 508 at once.",
			Remedy: "Don't use the gateway's own address as an upstream."},
		{Reason: "private_addresses", Status: bundle.Lossy, How: "not available",
			Note: "Kong connects to any address that the name of an upstream, token issuer or introspection endpoint " +
				"resolves to, including private and loopback addresses. The hosted gateway refuses those that its " +
				"operator didn't allow. At worst, a name that resolves to a loopback address leads into the " +
				"container itself, and on port 8001 to Kong's own admin API.",
			Remedy: "Run the gateway in a network that allows connections only to its upstreams. If a name means the " +
				"gateway's own machine, use host.docker.internal."},
	}
}
