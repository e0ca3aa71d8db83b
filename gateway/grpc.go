package gateway

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"postern/core/policy"
	"postern/gateway/engine"
	"postern/gateway/h2upstream"
)

// isGRPC reports whether a request is a call of gRPC over HTTP/2.
func isGRPC(r *http.Request) bool {
	return r.ProtoMajor == 2 && h2upstream.IsGRPC(first(r.Header["Content-Type"]))
}

// servesGRPC reports whether the route can carry gRPC, and why not. A client of gRPC knows a host and no prefix of its
// paths, so only a custom domain that removes nothing from them can be its address.
func (r *route) servesGRPC() (policy.Denial, bool) {
	switch {
	case r.prefix != "":
		return policy.GRPCNeedsDomain, false
	case !r.environment.usesHTTP2():
		return policy.GRPCNeedsHTTP2, false
	}
	return policy.Denial{}, true
}

// refuseGRPC answers a call of gRPC with a denial, as a response without messages (Trailers-Only). The caller gets its
// code in the metadata postern-code.
func refuseGRPC(w http.ResponseWriter, d policy.Denial) {
	h := w.Header()
	h["Content-Type"] = grpcType
	h["Grpc-Status"] = []string{strconv.Itoa(d.GRPCStatus())}
	h["Grpc-Message"] = []string{grpcMessage(d.Message)}
	h["Postern-Code"] = []string{d.Code}
	w.WriteHeader(http.StatusOK)
}

var grpcType = []string{"application/grpc"}

// grpcMessage encodes a message as Percent-Encoded of gRPC's protocol. Its space isn't encoded.
func grpcMessage(text string) string { return strings.ReplaceAll(url.PathEscape(text), "%20", " ") }

// bodyLimits returns the limits on the caller's body. A stream of gRPC may be silent as long as the upstream's, and has
// no lowest rate.
func (c *httpCall) bodyLimits() *engine.Limits {
	if !c.grpc {
		return &c.gateway.engineLimits
	}
	limits := c.gateway.engineLimits
	limits.Idle, limits.BodyRate = c.route.environment.timeouts.StreamIdle, 0
	return &limits
}
