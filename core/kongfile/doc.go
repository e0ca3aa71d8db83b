// Package kongfile reads Kong's files: declarative YAML and JSON (_format_version 1.1, 2.1 and 3.0), decK's dumps, and
// the answers of GET /config.
//
// It owns their forms: nested and flat entities, references by name or ID, defaults by version, placeholders, and which
// plugin applies where. It returns every entity of the file, with its line. It leaves to core/movein what Postern makes
// of them.
//
// Errors never contain values of the file, since any value can be a secret.
package kongfile
