package policy

import (
	"slices"
	"strings"

	"postern/core/snapshot"
)

// SplitChange splits an entry of snapshot.Changes at its colon into the header and the value.
func SplitChange(entry string) (header, value string) {
	header, value, _ = strings.Cut(entry, ":")
	return strings.TrimSpace(header), strings.TrimSpace(value)
}

// OneLine lists the headers that have at most one line after transforms: a transform that would add a line joins the
// values with a comma instead. nginx's Lua can set only one line of them (ngx_http_lua_headers_in.c and
// ngx_http_lua_headers_out.c, ngx_http_lua_set_handlers), and transforms may change them.
var OneLine = []string{
	"accept-encoding", "accept-ranges", "content-range", "content-type", "date", "depth", "destination", "etag",
	"expires", "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "last-modified",
	"location", "overwrite", "range", "referer", "refresh", "user-agent",
}

// HasOneLine reports whether a header is one of OneLine. It ignores case.
func HasOneLine(name string) bool { return isAmong(name, OneLine...) }

// FixedRequestHeader reports whether transforms of requests must leave a header alone: it frames the message, belongs
// to one connection, is a credential, or only the gateway may set it. Origin is one of them because Kong's cors plugin
// reads it again when the response arrives (kong/plugins/cors/handler.lua).
func FixedRequestHeader(name string) bool {
	return IsIdentityHeader(name) || IsForwardedHeader(name) || IsFramingHeader(name) || IsKeyHeader(name) ||
		isAmong(name, "host", "authorization", "connection", "keep-alive", "upgrade", "trailer", "te",
			"expect", "proxy", "proxy-connection", "proxy-authorization", "http2-settings", "signature",
			"signature-input", "signature-agent", "origin")
}

// FixedResponseHeader reports whether transforms of responses must leave a header alone: it describes
// or frames the body, belongs to one connection, or the gateway sets it itself.
func FixedResponseHeader(name string) bool {
	return IsFramingHeader(name) || IsLimitHeader(name) || inFamily(name, "access-control-") ||
		inFamily(name, "x-kong-") || inFamily(name, "x-accel-") ||
		isAmong(name, "connection", "keep-alive", "upgrade", "trailer", "proxy-connection", "content-type",
			"content-encoding", "date", "e-tag", "server", "via", "vary", "www-authenticate", "retry-after", "x-pad")
}

// IsCookieHeader reports whether a header carries cookies. Transforms may only remove these: the
// gateway keeps those of the dashboard from passing, one by one.
func IsCookieHeader(name string) bool { return isAmong(name, "cookie", "set-cookie") }

func isAmong(name string, lower ...string) bool {
	return slices.ContainsFunc(lower, func(one string) bool { return sameHeader(name, one) })
}

// Limits on bodies that transforms change. Larger ones are refused.
const (
	MaxChangedBody   = 4 << 20 // bytes
	MaxFormArguments = 1000    // as many as the exported Kong reads
)

// digestHeaders are about the bytes of a body, and wrong once it is changed (RFC 9530; RFC 1864).
var digestHeaders = []string{"Content-Digest", "Repr-Digest", "Digest", "Content-MD5"}

// RequestChanges returns the changes to the headers of requests to an environment with these upstream headers. If
// bodies are changed, it removes their digests. If responses are changed, it asks the upstream not to compress them.
func RequestChanges(t *snapshot.Transforms, own []snapshot.UpstreamHeader) snapshot.Changes {
	changes := ChangesBeside(t.Request, own)
	if !t.RequestBody.None() {
		changes.Remove = slices.Concat(changes.Remove, digestHeaders)
	}
	if !t.ResponseBody.None() {
		changes.Replace = slices.Concat([]string{"Accept-Encoding:identity"}, changes.Replace)
	}
	return changes
}

// ResponseChanges returns the changes to the headers of responses.
func ResponseChanges(t *snapshot.Transforms) snapshot.Changes {
	changes := t.Response
	if !t.ResponseBody.None() {
		changes.Remove = slices.Concat(changes.Remove, digestHeaders)
	}
	return changes
}

// ChangesBeside returns the changes of requests without those to the environment's own upstream headers, which the
// upstream trusts to be the gateway's.
func ChangesBeside(changes snapshot.Changes, own []snapshot.UpstreamHeader) snapshot.Changes {
	if len(own) == 0 {
		return changes
	}
	isOwn := func(name string) bool {
		return slices.ContainsFunc(own, func(h snapshot.UpstreamHeader) bool { return SameHeader(h.Name, name) })
	}
	without := func(list []string, renames bool) []string {
		return slices.DeleteFunc(slices.Clone(list), func(entry string) bool {
			header, value := SplitChange(entry)
			return isOwn(header) || renames && isOwn(value)
		})
	}
	return snapshot.Changes{
		Remove:  without(changes.Remove, false),
		Rename:  without(changes.Rename, true),
		Replace: without(changes.Replace, false),
		Add:     without(changes.Add, false),
		Append:  without(changes.Append, false),
	}
}
