package kong

import "postern/bundle"

// limitFates lists the request limits in which Kong differs from the hosted gateway for every
// project. Every ledger lists all of them.
func limitFates() []bundle.Fate { return append(responseFates(), requestFates()...) }

// responseFates are about upstreams and their responses.
func responseFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "timeouts", Status: bundle.Approximate,
			How: "connect_timeout, read_timeout and write_timeout of each service",
			Note: "Both gateways give an upstream 10 s to connect and 60 s of silence before its answer and " +
				"between two pieces of it. The hosted proxy wants the whole head of an answer within 60 s of the " +
				"request; Kong begins the 60 s again with every byte: at worst a head that trickles is answered " +
				"504 there and passed on here."},
		{Reason: "error_bodies", Status: bundle.Approximate, How: "Kong's own error pages",
			Note: "Where no route fits or the upstream fails, the body is Kong's own and has no code; the status " +
				"is the same (404, 502, 504), but for an upstream whose name is unknown, which Kong answers with " +
				"503 instead of 502."},
		{Reason: "upstream_certificates", Status: bundle.Approximate,
			How: "proxy_ssl_verify, the authorities of the image",
			Note: "Certificates of https upstreams are checked against the authorities that each gateway has. " +
				"Kong also takes a certificate that names its host as the common name (CN) only, which the " +
				"hosted proxy answers 502: at worst calls reach an upstream that they did not reach before. An " +
				"authority that the hosted proxy's machine has and the image does not makes it the other way " +
				"round.",
			Remedy: "gateway/README.md says how to add an authority. start.sh says which upstreams do not answer."},
		{Reason: "repeated_calls", Status: bundle.Approximate, How: "nginx's own rule",
			Note: "Where an upstream closes a kept connection without an answer, Kong sends the call once more, " +
				"whatever its method, but for POST, LOCK and PATCH; the hosted proxy sends only calls again that " +
				"change nothing. At worst a PUT or DELETE that the upstream had acted on is carried out twice.",
			Remedy: "Set KONG_UPSTREAM_KEEPALIVE_POOL_SIZE to \"0\" in docker-compose.yaml where such a call must " +
				"not be repeated."},
		{Reason: "accel_headers", Status: bundle.Exact, How: "nginx takes them out",
			Note: "X-Accel-Redirect, X-Accel-Expires, X-Accel-Limit-Rate, X-Accel-Buffering, X-Accel-Charset " +
				"and X-Pad of an upstream's answer do not reach the caller, and have no effect on either " +
				"gateway."},
		{Reason: "interim_answers", Status: bundle.Lossy, How: "answered 502",
			Note: "An interim answer of an upstream (100, 102, 103), which the hosted proxy passes on or " +
				"skips, is taken for the final one by nginx: the call is answered 502 upstream_unreachable and " +
				"its connection ends. At worst an upstream that sends one with each answer cannot be called, " +
				"and the final answer to a HEAD call that was refused so reaches the next call over the same " +
				"connection to the upstream.",
			Remedy: "Turn off early hints (103), 102 and 100 Continue at the upstream. Where it sends them to " +
				"HEAD, set KONG_UPSTREAM_KEEPALIVE_POOL_SIZE to \"0\" in docker-compose.yaml until then."},
		{Reason: "unasked_switch", Status: bundle.Approximate, How: "nginx passes it on",
			Note: "An upstream's 101 to a request that asked for no WebSocket is answered 502 by the hosted " +
				"proxy. Kong passes it on: at worst the caller waits on its connection for an answer that " +
				"does not come.",
			Remedy: "Have the upstream answer 101 only to requests with the Upgrade that it switches to."},
		{Reason: "malformed_answers", Status: bundle.Approximate, How: "nginx's own checks",
			Note: "Answers that are no proper HTTP/1.x are answered 502 by each gateway, by its own checks. " +
				"Kong passes some of them on: what does not begin with a status line of HTTP/1.x reaches the " +
				"caller as it is, a line without a colon is skipped, control characters in values stay, and " +
				"chunks of HTTP/1.0 are read as such. The hosted proxy takes an answer with both a " +
				"Content-Length and chunks, or with the same Content-Length twice, which Kong answers 502, " +
				"and passes on what comes before a malformed chunk, of which Kong may pass on nothing.",
			Remedy: "Correct the upstream; start.sh says which upstreams do not answer."},
		{Reason: "repeated_fields", Status: bundle.Approximate, How: "nginx keeps the first",
			Note: "Of two lines of Date, ETag, Expires, Last-Modified, Location, Refresh, Server or Status in one " +
				"answer Kong passes on the first; the hosted proxy passes on both. Of two lines of " +
				"Content-Type both keep the first. Of two lines of Accept-Ranges or Content-Range both pass on both, " +
				"but transforms change the last alone on Kong: at worst the first line reaches callers although a " +
				"transform removes the header.",
			Remedy: "Have the upstream send each of these fields once."},
		{Reason: "bodiless_answers", Status: bundle.Approximate, How: "nginx passes their fields on",
			Note: "The Content-Length of a 204 or 304 and the Content-Type of a 304 reach callers of Kong, and are " +
				"removed by the hosted proxy. Neither sends a body with them."},
		{Reason: "proxy_connection", Status: bundle.Approximate, How: "nginx passes it on",
			Note: "The field Proxy-Connection of an answer, which means nothing behind a gateway, reaches callers of " +
				"Kong, and is removed by the hosted proxy."},
	}
}

// requestFates are about requests and the upstreams they are sent to.
func requestFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "control_cookies", Status: bundle.Approximate, How: "all cookies pass",
			Note: "Cookies named postern, or postern- with more behind it, belong to the dashboard, and the " +
				"hosted proxy removes them from requests and answers. On Kong there is no dashboard and they " +
				"pass: at worst an upstream sees one that a browser still holds for the same host name.",
			Remedy: "Run the gateway under a host name that no dashboard was ever served from."},
		{Reason: "refused_requests", Status: bundle.Approximate, How: "nginx's own checks",
			Note: "Requests that are no proper HTTP, or too large, are refused by each gateway in its own way, " +
				"by Kong with a page of its own. Kong takes heads of up to 73 KB in lines of up to 36 KB, " +
				"and the hosted proxy 36 KB together; of 1,000 header lines Kong answers 431, of more 400, " +
				"where the hosted proxy takes them. Kong takes some malformed requests that the hosted proxy " +
				"refuses with 400, such as a raw # in a path: at worst one of them reaches the upstream, in " +
				"the form in which nginx reads it. It refuses an empty Host line, with which the hosted proxy " +
				"routes by path."},
		{Reason: "fields_refused_twice", Status: bundle.Approximate, How: "nginx answers 400",
			Note: "A request with two lines of Authorization, Content-Range, If-Match, If-Modified-Since, " +
				"If-None-Match, If-Range or If-Unmodified-Since gets 400 from Kong with a page of HTML, and is " +
				"forwarded by the hosted proxy. At worst a caller that sends a list of entity tags in two lines of " +
				"If-Match or If-None-Match, which is proper HTTP, is always refused.",
			Remedy: "Have callers send the list in one line, with commas."},
		{Reason: "invalid_utf8", Status: bundle.Lossy, How: "not routed",
			Note: "Paths that are no UTF-8 once they are decoded, such as /%ff, are answered 404."},
		{Reason: "body_framing", Status: bundle.Approximate, How: "nginx's choice",
			Note: "A short chunked body may reach the upstream with a Content-Length instead, and an answer " +
				"that names Content-Length in its Connection field may reach the caller in chunks; the bytes " +
				"are the same."},
		{Reason: "header_names", Status: bundle.Exact, How: "nginx drops them",
			Note: "Request headers whose names have other characters than letters, digits, - and _ reach the " +
				"upstream of neither gateway."},
		{Reason: "trailers", Status: bundle.Lossy, How: "nginx drops them",
			Note: "Trailers after a chunked body are not forwarded, neither to the upstream nor back."},
		{Reason: "forwarded_for", Status: bundle.Approximate, How: "X-Forwarded-For is Kong's",
			Note: "A caller's header spelled X_Forwarded_For is ignored by the hosted proxy; Kong takes it for " +
				"X-Forwarded-For, which any caller may send, and appends to it."},
		{Reason: "via", Status: bundle.Approximate, How: "Via is Kong's",
			Note: "Via names kong instead of postern in requests, and is not added to answers."},
		{Reason: "open_streams", Status: bundle.Lossy, How: "not available",
			Note: "The hosted proxy ends WebSockets, downloads and other open calls within a second of the end of " +
				"their key or token, or of a change that refuses them. Kong asks when a call begins: at worst a " +
				"caller whose key has expired or was deleted keeps an open WebSocket until one side closes it.",
			Remedy: "Have the upstream close WebSockets after a while. ./start.sh --stop ends all of them."},
		{Reason: "body_memory", Status: bundle.Approximate, How: "client_body_buffer_size, and files",
			Note: "The hosted proxy holds at most 256 MB of bodies that it has to read whole, and answers 503 busy " +
				"beyond that. Kong writes long bodies of requests to files, and bounds neither those nor the bodies " +
				"of answers that are changed: at worst many large calls take all memory of the container.",
			Remedy: "Give the container a limit on its memory, and set KONG_NGINX_HTTP_CLIENT_MAX_BODY_SIZE in " +
				"docker-compose.yaml."},
		{Reason: "loop_guard", Status: bundle.Lossy, How: "not available",
			Note: "Kong does not notice a call that comes back to it: a gateway that has itself as upstream " +
				"answers 502 or 504 after a while instead of 508 at once.",
			Remedy: "Do not make the gateway's own address an upstream."},
		{Reason: "private_addresses", Status: bundle.Lossy, How: "not available",
			Note: "Kong connects to whatever the name of an upstream, token issuer or introspection endpoint " +
				"resolves to, private and loopback addresses included; the hosted proxy refuses those that its " +
				"operator did not allow. At worst a name that resolves to a loopback address leads into the " +
				"container itself, on port 8001 to Kong's own admin API.",
			Remedy: "Keep the gateway in a network from which it may reach its upstreams and nothing else. Write " +
				"host.docker.internal for a name that means the gateway's own machine."},
	}
}
