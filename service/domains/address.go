package domains

import (
	"fmt"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/core/policy"
	"postern/models"
	"postern/platform/fault"
)

const (
	maxPrefix  = 200 // bytes
	maxMethods = 20
	maxMethod  = 20 // bytes
)

// prefixCharacters may be in a prefix. Escaped characters may not: gateways differ in which of them they decode before
// they compare paths.
const prefixCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,=:@/"

// checkPrefix returns a path prefix in the form in which the gateway compares it with normalized paths, or what is
// wrong. The prefix / is that of all paths.
func checkPrefix(raw string) (string, *fault.Field) {
	wrong := func(detail string) (string, *fault.Field) {
		return "", &fault.Field{Pointer: "/path_prefix", Code: "invalid_path_prefix", Detail: detail}
	}
	if raw == "" || raw == "/" {
		return "", nil
	}
	normal, err := policy.NormalizePath(raw)
	switch {
	case raw[0] != '/':
		return wrong("Start the prefix with a slash, such as /orders.")
	case strings.ContainsAny(raw, "?#"):
		return wrong("Leave out the query and the fragment. The prefix is a path, such as /orders.")
	case len(raw) > maxPrefix:
		return wrong(fmt.Sprintf("Use at most %d characters.", maxPrefix))
	case strings.Trim(raw, prefixCharacters) != "" || strings.ContainsAny(raw, "%;\\"):
		return wrong("Use only letters, digits and the characters - . _ ~ ! $ & ' ( ) * + , = : @ in segments. " +
			"Percent-encoded characters, semicolons and backslashes can't be part of a prefix.")
	case err != nil || normal != raw:
		return wrong("Leave out dot segments and repeated slashes. The gateway resolves them before it compares paths.")
	case strings.HasSuffix(raw, "/"):
		return wrong("Leave out the slash at the end: " + strings.TrimSuffix(raw, "/") +
			" also matches all paths below it.")
	}
	return raw, nil
}

// checkMethods returns the methods of a domain in alphabetical order and with commas, or what is wrong. Methods that
// HTTP/2 and the exported gateway don't take either are refused.
func checkMethods(methods []string) (string, *fault.Field) {
	if len(methods) > maxMethods {
		return "", &fault.Field{Pointer: "/methods", Code: "too_many",
			Detail: fmt.Sprintf("Use at most %d methods. If you leave them out, the domain matches all methods.",
				maxMethods)}
	}
	for i, method := range methods {
		wrong := fault.Field{Pointer: fmt.Sprintf("/methods/%d", i), Code: "invalid_method"}
		switch {
		case method == "CONNECT" || method == "TRACE":
			wrong.Detail = "CONNECT and TRACE are never forwarded. Leave the method out."
		case method == policy.AnyMethod:
			wrong.Detail = "Leave out all methods to match every method."
		case method == "" || len(method) > maxMethod || strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "":
			wrong.Detail = "Use a method in uppercase letters, such as GET."
		case slices.Contains(methods[:i], method):
			wrong.Code, wrong.Detail = "duplicate", "This method is listed twice. Remove one."
		default:
			continue
		}
		return "", &wrong
	}
	return strings.Join(slices.Sorted(slices.Values(methods)), ","), nil
}

// collide reports whether a call could be one of both domains, and neither has precedence.
func collide(a, b contract.DomainAddress) bool {
	if a.Host != b.Host || a.PathPrefix != b.PathPrefix || (len(a.Methods) == 0) != (len(b.Methods) == 0) {
		return false
	}
	return len(a.Methods) == 0 || slices.ContainsFunc(a.Methods, func(m string) bool {
		return slices.Contains(b.Methods, m)
	})
}

// refuseCollision refuses a domain of a team that takes the same calls as another one of the team.
func refuseCollision(row models.Domain, owner models.Project, all []models.TeamDomain) error {
	for _, other := range all {
		if other.ID == row.ID || other.TeamID != owner.TeamID || !collide(row.Address(), other.Address()) {
			continue
		}
		what := other.Address().Address()
		if other.Methods != "" {
			what += " for " + strings.Join(other.Address().Methods, ", ")
		}
		whose := "This project"
		if other.ProjectID != owner.ID {
			whose = "The project " + other.Project
		}
		return fault.New(fault.Conflict, "already_added", "%s already has %s (%s). Use another path prefix or other "+
			"methods, or delete that domain.", whose, what, other.ID)
	}
	return nil
}

// lacksOptions reports whether a domain names methods without OPTIONS.
func lacksOptions(row models.Domain) bool {
	return row.Methods != "" && !slices.Contains(row.Address().Methods, "OPTIONS")
}

// noOptions warns of a domain that takes no preflights although the gateway answers them.
func noOptions(row models.Domain, cors bool) []contract.Warning {
	if !cors || !lacksOptions(row) {
		return nil
	}
	return []contract.Warning{{
		Code: "no_options",
		Detail: "CORS is set, but the domain doesn't match OPTIONS, so browsers' preflight requests get 404. Add " +
			"OPTIONS to its methods, or create a domain with the same path prefix that includes OPTIONS.",
		About: row.ID,
	}}
}

// hasCORS reports whether the gateway answers preflights of a project. It is false if no domain needs to know.
func hasCORS(tx *models.Tx, owner models.Project, rows ...models.Domain) (bool, error) {
	if !slices.ContainsFunc(rows, lacksOptions) {
		return false, nil
	}
	if owner.CORS.IsSet() {
		return true, nil
	}
	tenants, err := tx.TenantsOf(owner.ID)
	if err != nil {
		return false, fmt.Errorf("domains: tenants of %s: %w", owner.Name, err)
	}
	return slices.ContainsFunc(tenants, func(t models.Tenant) bool { return t.CORS.IsSet() }), nil
}
