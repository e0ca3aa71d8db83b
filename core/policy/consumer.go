package policy

import (
	"crypto/sha1" //nolint:gosec // RFC 9562 section 5.5 fixes SHA-1 for UUIDv5; it protects no secret
	"encoding/hex"
)

// ConsumerNamespace is the UUID namespace of ConsumerID and EntityID. Changing it
// changes the X-Consumer-ID that upstreams may have stored.
const ConsumerNamespace = "6f0e4b52-3a1d-5c7e-9b84-2d1f7a90c3e5"

var namespaceBytes = [16]byte{
	0x6f, 0x0e, 0x4b, 0x52, 0x3a, 0x1d, 0x5c, 0x7e,
	0x9b, 0x84, 0x2d, 0x1f, 0x7a, 0x90, 0xc3, 0xe5,
}

// ConsumerID returns the X-Consumer-ID of a key owner within a project: the same
// value here and on the exported gateway.
func ConsumerID(projectID, owner string) string {
	var scratch [256]byte
	name := append(scratch[:0], namespaceBytes[:]...)
	name = append(name, projectID...)
	name = append(name, '\n')
	return uuidV5(append(name, owner...))
}

// Consumers computes consumer IDs and caches the last one, because successive calls of a caller usually have the same
// owner. The zero value has nothing cached.
type Consumers struct{ project, owner, id string }

// ID returns ConsumerID(projectID, owner), from the cache if it is the last one. A
// nil Consumers caches nothing.
func (c *Consumers) ID(projectID, owner string) string {
	if c == nil {
		return ConsumerID(projectID, owner)
	}
	if c.id == "" || c.owner != owner || c.project != projectID {
		*c = Consumers{projectID, owner, ConsumerID(projectID, owner)}
	}
	return c.id
}

// EntityID returns the UUID of an entity of an export, derived from its prefixed id.
func EntityID(id string) string {
	return uuidV5(append(append([]byte{}, namespaceBytes[:]...), id...))
}

// uuidV5 returns the UUIDv5 (RFC 9562 section 5.5) of namespace and name, which are
// passed as one slice. It uses no library because it runs once per proxied call.
func uuidV5(namespaceAndName []byte) string {
	sum := sha1.Sum(namespaceAndName) //nolint:gosec // see the import
	sum[6] = sum[6]&0x0f | 0x50
	sum[8] = sum[8]&0x3f | 0x80
	var out [36]byte
	hex.Encode(out[0:8], sum[0:4])
	hex.Encode(out[9:13], sum[4:6])
	hex.Encode(out[14:18], sum[6:8])
	hex.Encode(out[19:23], sum[8:10])
	hex.Encode(out[24:36], sum[10:16])
	out[8], out[13], out[18], out[23] = '-', '-', '-', '-'
	return string(out[:])
}
