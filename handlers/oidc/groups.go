package oidc

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/models"
	"postern/platform/fault"
	"postern/service/login"
)

// maxMemberBody bounds the body that sets a member, which holds a role.
const maxMemberBody = 4 << 10

// managedMember is a member as the end users who manage a group see it.
type managedMember struct {
	User  string     `json:"user"`
	Email string     `json:"email,omitempty"`
	Name  string     `json:"name,omitempty"`
	State string     `json:"state"`
	Role  string     `json:"role"`
	Since *time.Time `json:"since,omitempty"` // not in the answer to PUT
}

// managedGroups lists the groups that the user of the access token is an admin of.
func (h *Handler) managedGroups(c *gin.Context) {
	admin, ok := h.groupAdmin(c)
	if !ok {
		return
	}
	found, err := h.Users.ManagedGroups(c.Request.Context(), admin)
	if err != nil {
		h.Web.Refuse(c, err)
		return
	}
	out := contract.List[contract.NestedGroup]{Items: []contract.NestedGroup{}}
	for _, one := range found {
		out.Items = append(out.Items, contract.NestedGroup{ID: one.ID, Name: one.Name, DisplayName: one.DisplayName})
	}
	writeJSON(c.Writer, out)
}

func (h *Handler) managedMembers(c *gin.Context) {
	admin, ok := h.groupAdmin(c)
	if !ok {
		return
	}
	limit, err := strconv.Atoi(c.DefaultQuery("limit", strconv.Itoa(models.DefaultLimit)))
	if err != nil || limit < 1 || limit > models.MaxLimit {
		h.Web.Refuse(c, fault.InvalidField("/limit", "invalid", "Use a number from 1 to %d.", models.MaxLimit))
		return
	}
	found, err := h.Users.ManagedMembers(c.Request.Context(), admin, c.Param("group"),
		models.Page{Cursor: c.Query("cursor"), Limit: limit})
	if err != nil {
		h.Web.Refuse(c, err)
		return
	}
	out := contract.List[managedMember]{Items: []managedMember{}}
	for _, one := range found.Items {
		out.Items = append(out.Items, showMember(one))
	}
	if found.Next != "" {
		out.NextCursor = &found.Next
	}
	writeJSON(c.Writer, out)
}

// setManagedMember puts a user, named by id or verified email address, into a group.
func (h *Handler) setManagedMember(c *gin.Context) {
	admin, ok := h.groupAdmin(c)
	if !ok {
		return
	}
	role, err := roleOf(c)
	if err != nil {
		h.Web.Refuse(c, err)
		return
	}
	member, err := h.Users.SetManagedMember(c.Request.Context(), admin, c.Param("group"), c.Param("user"), role)
	if err != nil {
		h.Web.Refuse(c, err)
		return
	}
	writeJSON(c.Writer, showMember(member))
}

// roleOf returns the role of the body {"role": …}. A request without one would demote an admin.
func roleOf(c *gin.Context) (string, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, maxMemberBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return "", fault.New(fault.TooLarge, "too_large", "The request body is larger than 4 KB.").Because(err)
	}
	if err != nil {
		return "", fault.New(fault.Malformed, "malformed", "The request body can't be read.").Because(err)
	}
	in := map[string]string{}
	if err := web.UnmarshalStrict(raw, &in); len(raw) > 0 && err != nil {
		return "",
			fault.New(fault.Malformed, "invalid_json", `Send {"role": "member"} or {"role": "admin"}.`).Because(err)
	}
	for name := range in {
		if name != "role" {
			return "", fault.InvalidField("/"+name, "unknown_field", "The body can contain only the role field.")
		}
	}
	if in["role"] == "" {
		return "", fault.InvalidField("/role", "required", `Send {"role": "member"} or {"role": "admin"}.`)
	}
	return in["role"], nil
}

func (h *Handler) removeManagedMember(c *gin.Context) {
	admin, ok := h.groupAdmin(c)
	if !ok {
		return
	}
	err := h.Users.RemoveManagedMember(c.Request.Context(), admin, c.Param("group"), c.Param("user"))
	if err != nil {
		h.Web.Refuse(c, err)
		return
	}
	c.Status(http.StatusNoContent)
}

func showMember(one contract.GroupMember) managedMember {
	out := managedMember{User: one.User, Email: one.Email, Name: one.Name, State: one.State, Role: one.Role}
	if !one.Since.IsZero() {
		out.Since = &one.Since
	}
	return out
}

// groupAdmin returns the id of the user whose access token manages groups, or answers with a challenge
// (RFC 6750, 3.1).
func (h *Handler) groupAdmin(c *gin.Context) (string, bool) {
	h.allowOrigin(c)
	c.Header("Cache-Control", "no-store")
	scheme, token, _ := strings.Cut(c.GetHeader("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		c.Header("WWW-Authenticate", "Bearer")
		h.Web.Refuse(c, fault.New(fault.Unauthenticated, "credentials_required", "Send a user's access token as "+
			"Authorization: Bearer …"))
		return "", false
	}
	admin, err := h.Login.GroupAdmin(c.Request.Context(), c.Param("client"), token)
	if err == nil {
		return admin, true
	}
	switch fault.KindOf(err) {
	case fault.Unauthenticated:
		c.Header("WWW-Authenticate", `Bearer error="invalid_token"`)
	case fault.Forbidden:
		c.Header("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+login.ManagesGroups+`"`)
	}
	h.Web.Refuse(c, err)
	return "", false
}
