// Package configfile reads the configuration files of other gateways as values: YAML and JSON, with the line of each
// value and the placeholders in it.
//
// It owns what such files have in common: their encoding, the limits on what parsing costs, members that come twice,
// and placeholders that were never filled. It leaves what the values mean to the package of each gateway.
//
// Errors never contain values of a file, since any value can be a secret.
package configfile
