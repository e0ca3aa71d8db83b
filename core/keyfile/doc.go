// Package keyfile reads files of API keys as other systems have them, and returns the rows that an import can write.
//
// It owns the formats (NDJSON, a JSON array, CSV), the columns of the systems that it recognizes, which values and
// hashes can work as keys at our gateway, and a refusal for each row that can't be taken. It leaves to service/keys
// what depends on a project or its database: owners, key types, tenants, limits, and keys that exist already. It
// doesn't read whole configurations of gateways.
//
// The value of a key is hashed as soon as it is read. Neither rows nor errors contain it.
package keyfile
