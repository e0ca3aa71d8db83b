// Package policy holds the decisions that the hosted gateway and every exported
// one share: what a well-formed key is, who a caller is and whether the call is
// admitted, which headers carry identity, and the normal form of a path that is
// matched, authorized and forwarded.
//
// Everything here is a pure function of its arguments. The package does not own
// where keys and projects come from (snapshot describes them), how a call is
// received and forwarded (gateway), or how the same decisions are written for
// another gateway (bundle).
//
// Standards: RFC 9562 (UUIDv5), RFC 3986 section 6.2.2 as Kong 3.9 applies it,
// RFC 9110 section 11.6.1 (WWW-Authenticate).
package policy
