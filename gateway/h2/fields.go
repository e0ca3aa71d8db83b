package h2

import (
	"net/http"
	"strconv"

	"golang.org/x/net/http/httpguts"
)

// names are the names of common fields, encoded as the beginning of a literal field without indexing (RFC 7541 section
// 6.2.2), by their index in the static table (appendix A).
var names = func() map[string][]byte {
	out := map[string][]byte{}
	for name, index := range map[string]int{
		"Accept-Ranges": 18, "Access-Control-Allow-Origin": 20, "Age": 21, "Allow": 22, "Cache-Control": 24,
		"Content-Disposition": 25, "Content-Encoding": 26, "Content-Language": 27, "Content-Length": 28,
		"Content-Location": 29, "Content-Range": 30, "Content-Type": 31, "Date": 33, "Etag": 34, "Expires": 36,
		"Last-Modified": 44, "Link": 45, "Location": 46, "Refresh": 52, "Retry-After": 53, "Server": 54,
		"Set-Cookie": 55, "Strict-Transport-Security": 56, "Vary": 59, "Via": 60, "Www-Authenticate": 61,
	} {
		out[name] = appendInt(nil, 0, 4, index)
	}
	return out
}()

// appendInt appends an integer with a prefix of some bits (RFC 7541 section 5.1).
func appendInt(dst []byte, first byte, bits, n int) []byte {
	most := 1<<bits - 1
	if n < most {
		return append(dst, first|byte(n))
	}
	dst = append(dst, first|byte(most))
	for n -= most; n >= 0x80; n >>= 7 {
		dst = append(dst, byte(n)|0x80)
	}
	return append(dst, byte(n))
}

// appendString appends a string as it is: the code of RFC 7541 section 5.2 would save a fifth of a header, and cost
// more than that saves.
func appendString(dst []byte, s string) []byte {
	return append(appendInt(dst, 0, 7, len(s)), s...)
}

// appendStatus appends :status.
func appendStatus(dst []byte, status int) []byte {
	switch status {
	case http.StatusOK:
		return append(dst, 0x80|8)
	case http.StatusNoContent:
		return append(dst, 0x80|9)
	case http.StatusNotModified:
		return append(dst, 0x80|11)
	case http.StatusNotFound:
		return append(dst, 0x80|13)
	}
	dst = append(dst, 8, 3) // a literal with the name of index 8, of three digits
	return strconv.AppendInt(dst, int64(status), 10)
}

// appendField appends a field whose name is in canonical form. Fields are not added to the table of compression: its
// strings would keep those of the upstream's headers in memory, and encoding would be part of the order of writes.
// Names and values that cannot be sent are left out.
func appendField(dst []byte, name, value string) []byte {
	if !httpguts.ValidHeaderFieldValue(value) {
		return dst
	}
	if begun, ok := names[name]; ok {
		return appendString(append(dst, begun...), value)
	}
	if !httpguts.ValidHeaderFieldName(name) {
		return dst
	}
	dst = appendInt(append(dst, 0), 0, 7, len(name))
	for i := range len(name) {
		c := name[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		dst = append(dst, c)
	}
	return appendString(dst, value)
}

// isConnectionField reports whether a field of a response has no place in HTTP/2 (RFC 9113 section 8.2.2).
func isConnectionField(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding", "Upgrade":
		return true
	}
	return false
}
