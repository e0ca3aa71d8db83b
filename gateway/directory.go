package gateway

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"

	"postern/core/policy"
)

// directoryType is the media type of policy.SigningDirectory.
const directoryType = "application/http-message-signatures-directory+json"

// directoryAge is how long readers may keep a directory, in seconds.
const directoryAge = "300"

// isDirectory reports whether a request without a route reads the public keys of a project
// that signs its calls. No version begins with a dot, so no environment has the address.
func (g *Gateway) isDirectory(r route, method string, target target) bool {
	if r.project == nil || r.project.signer == nil || (method != http.MethodGet && method != http.MethodHead) {
		return false
	}
	if target.path != policy.SigningDirectory && target.path != "/"+r.project.name+policy.SigningDirectory {
		return false
	}
	_, ended := r.project.ended(g.now())
	return !ended && !r.project.takenDown
}

// publicKey is a JSON Web Key (RFC 8037, section 2).
type publicKey struct {
	Type  string `json:"kty"`
	Curve string `json:"crv"`
	ID    string `json:"kid"`
	Use   string `json:"use"`
	X     string `json:"x"`
}

// serveDirectory answers with the public keys of a project as a JSON Web Key Set.
func (g *Gateway) serveDirectory(w http.ResponseWriter, p *project) {
	h := w.Header()
	h["Content-Type"] = []string{directoryType}
	h["Cache-Control"] = []string{"public, max-age=" + directoryAge}
	h["Access-Control-Allow-Origin"] = []string{"*"} // it is public
	_ = json.NewEncoder(w).Encode(p.signer.directory(g.now()))
}

// directory returns the keys that are published at a time, including those that don't sign yet.
func (s *signer) directory(now time.Time) any {
	out := struct {
		Keys []publicKey `json:"keys"`
	}{[]publicKey{}}
	for _, k := range s.keys {
		if k.until.IsZero() || k.until.After(now) {
			x := base64.RawURLEncoding.EncodeToString(k.public)
			out.Keys = append(out.Keys, publicKey{"OKP", "Ed25519", k.id, "sig", x})
		}
	}
	return out
}
