package keyfile

import "time"

// Source is a system whose columns or members are recognized.
type Source string

// The sources. Files of other systems are read as Native, with a mapping.
const (
	Native Source = "postern"
	Unkey  Source = "unkey"
	Kong   Source = "kong"
	AWS    Source = "aws"
	Tyk    Source = "tyk"
)

// Ignored is the field of a column that is left out on purpose.
const Ignored = "-"

// Options say how a file is read.
type Options struct {
	// Map has a field, Ignored or "metadata.NAME" for each column that isn't named as its field. Names of columns are
	// in any case. Members of objects in JSON are named with dots ("properties.primaryKey"). Several columns can be
	// keys.
	Map map[string]string
	// Now decides which keys have expired.
	Now time.Time
	// Written is when the file was written, if that is known. Kong's Admin API counts the seconds that a key has left
	// from then. The zero time is Now.
	Written time.Time
}

// MaxMetadata bounds the metadata of a key, in bytes of compact JSON.
const MaxMetadata = 4096
