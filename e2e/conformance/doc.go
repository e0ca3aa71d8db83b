// Package conformance sends one corpus of requests to Postern's gateway and to
// gateways that run an exported bundle, and compares what comes back and what
// the upstream saw.
//
// It owns the corpus, the comparison and its short list of differences that are
// allowed, each with its reason. Two peers exist: nginx with the exported
// plugin behind a thin stand-in for Kong's PDK, which every test run uses, and
// a real Kong 3.9, started by the program that POSTERN_KONG names, behind the
// build tag conformance (make conformance).
package conformance
