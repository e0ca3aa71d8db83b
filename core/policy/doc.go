// Package policy has the decisions that the hosted gateway and all exported gateways share, as pure functions: the
// shape of a key, the identity of a caller, whether a call is admitted, the identity headers, and the normal form of
// paths. It leaves the description of projects and keys to package snapshot, receiving and forwarding calls to package
// gateway, and translating the decisions for another gateway to package bundle. Standards: RFC 9562 section 5.5
// (UUIDv5), RFC 3986 section 6.2.2 as Kong 3.9 applies it, RFC 9110 section 11.6.1 (WWW-Authenticate).
package policy
