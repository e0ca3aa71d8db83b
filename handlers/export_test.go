package handlers

import (
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"
)

// Patiently is what stands before every route, with less patience.
func Patiently(patience time.Duration, next http.Handler) http.Handler {
	return patiently(patience, next)
}

// Routes lists every route there is, for the test that each one is accounted for,
// but for HEAD where the same handler answers GET.
func (s *Server) Routes() gin.RoutesInfo {
	router := gin.New()
	s.routes(router)
	all := router.Routes()
	return slices.DeleteFunc(slices.Clone(all), func(r gin.RouteInfo) bool {
		return r.Method == http.MethodHead && slices.ContainsFunc(all, func(other gin.RouteInfo) bool {
			return other.Method == http.MethodGet && other.Path == r.Path
		})
	})
}

// FormNonce is the nonce that a page gives a form for posting to path.
func FormNonce(session, path, state string) string { return formNonce(session, path, state) }

// FieldLabel is the label of a refused form's field.
func FieldLabel(name string) string { return fieldLabel(name) }
