package snapshot

// UpstreamHeader is a header that every call to an environment carries to the upstream,
// with a value that only the upstream and the gateway have.
type UpstreamHeader struct {
	Name   string // in the canonical form of net/http
	Sealed []byte // the encrypted value; the gateway opens it when it loads the project
}

// DataKey is an encrypted key that sealed values of a project were encrypted with. A
// gateway that starts while the database is unavailable opens them with it.
type DataKey struct {
	ID      string // dek_…
	Wrapped []byte
}
