package scim

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// scimRoot is the base path of a tenant's endpoints (RFC 7644).
const scimRoot = "/api/v1/tenants/:tenant/scim/v2"

// Mount adds the routes.
func (h *Handler) Mount(r *gin.Engine) {
	at := r.Group(scimRoot)
	for _, route := range []struct {
		method, path string
		status       int
		handle       func(*provisioner) (any, error)
	}{
		{http.MethodGet, "/ServiceProviderConfig", http.StatusOK, (*provisioner).config},
		{http.MethodGet, "/ResourceTypes", http.StatusOK, (*provisioner).resourceTypes},
		{http.MethodGet, "/ResourceTypes/:id", http.StatusOK, (*provisioner).resourceType},
		{http.MethodGet, "/Schemas", http.StatusOK, (*provisioner).schemas},
		{http.MethodGet, "/Schemas/:id", http.StatusOK, (*provisioner).schema},
		{http.MethodPost, "/.search", http.StatusOK, (*provisioner).searchAll},
		{http.MethodPost, "/Users/.search", http.StatusOK, (*provisioner).searchUsers},
		{http.MethodPost, "/Groups/.search", http.StatusOK, (*provisioner).searchGroups},
		{http.MethodGet, "/Users", http.StatusOK, (*provisioner).listUsers},
		{http.MethodPost, "/Users", http.StatusCreated, (*provisioner).createUser},
		{http.MethodGet, "/Users/:id", http.StatusOK, (*provisioner).getUser},
		{http.MethodPut, "/Users/:id", http.StatusOK, (*provisioner).putUser},
		{http.MethodPatch, "/Users/:id", http.StatusOK, (*provisioner).patchUser},
		{http.MethodDelete, "/Users/:id", http.StatusNoContent, (*provisioner).deleteUser},
		{http.MethodGet, "/Groups", http.StatusOK, (*provisioner).listGroups},
		{http.MethodPost, "/Groups", http.StatusCreated, (*provisioner).createGroup},
		{http.MethodGet, "/Groups/:id", http.StatusOK, (*provisioner).getGroup},
		{http.MethodPut, "/Groups/:id", http.StatusOK, (*provisioner).putGroup},
		{http.MethodPatch, "/Groups/:id", http.StatusOK, (*provisioner).patchGroup},
		{http.MethodDelete, "/Groups/:id", http.StatusNoContent, (*provisioner).deleteGroup},
	} {
		at.Handle(route.method, route.path, func(c *gin.Context) { h.provision(c, route.status, route.handle) })
	}
}
