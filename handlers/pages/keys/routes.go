// Package keys serves the pages of a project's API keys and key types.
//
// It leaves keys and permissions to service/keys.
package keys

import (
	"slices"

	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/keys"
	"postern/service/projects"
)

// Handler serves the pages of API keys.
type Handler struct {
	Keys     *keys.Service
	Projects *projects.Service
	Web      *web.Site
}

// Mount mounts the pages of API keys.
func (h *Handler) Mount(p page.Router) {
	p.SignedIn("GET", "/projects/:project/keys", h.showKeys)
	p.SecretForm("/projects/:project/keys", h.createKey, slices.Concat(created, otherFields)...)
	p.SignedIn("POST", "/projects/:project/keys/change", h.changeKeys, "do key")
	p.SignedIn("GET", "/projects/:project/keys/import", h.showImport)
	p.SignedIn("POST", "/projects/:project/keys/import", h.importKeys, importFields)
	p.SignedIn("POST", "/projects/:project/keys/import/preview", h.previewImport, importFields)
	p.SignedIn("POST", "/projects/:project/keys/check", h.checkKey, "secret")
	p.SignedIn("GET", "/projects/:project/keys/:key", h.showKey)
	p.SignedIn("POST", "/projects/:project/keys/:key", h.saveKey, slices.Concat(changed, otherFields)...)
	p.SignedIn("POST", "/projects/:project/keys/:key/freeze", h.freezeKey)
	p.SignedIn("POST", "/projects/:project/keys/:key/unfreeze", h.unfreezeKey)
	p.SignedIn("POST", "/projects/:project/keys/:key/revoke", h.revokeKey)
	p.SecretForm("/projects/:project/keys/:key/rotate", h.rotateKey, "grace_seconds")
	p.SignedIn("GET", "/projects/:project/keys/:key/secret", h.showKeySecret)
	p.SignedIn("GET", "/projects/:project/key-types", h.showKeyTypes)
	p.SignedIn("POST", "/projects/:project/key-types", h.createKeyType, "expires_in name scopes limits_*")
	p.SignedIn("GET", "/projects/:project/key-types/:key_type", h.showKeyType)
	p.SignedIn("POST", "/projects/:project/key-types/:key_type", h.saveKeyType, "expires_in name scopes limits_*")
	p.SignedIn("POST", "/projects/:project/key-types/:key_type/delete", h.deleteKeyType)
}
