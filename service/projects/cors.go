package projects

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/net/http/httpguts"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/serving"
)

// Bounds on a CORS. Browsers cache preflights for a day at most.
const (
	maxOrigins     = 100
	maxCORSHeaders = 100
	maxCORSHeader  = 64 // characters
	maxCORSAge     = 24 * 60 * 60
)

// CORSMethods are the methods that a CORS can allow.
var CORSMethods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

func viewCORS(tx *models.Tx, row models.Project) (contract.SavedCORS, error) {
	return savedCORS(row.CORS, func() ([]models.AppClient, error) { return tx.AppClientsServed(row.ID) })
}

// savedCORS returns a CORS as it is now. clients lists the app clients that AppOrigins is about.
func savedCORS(c contract.CORS, clients func() ([]models.AppClient, error)) (contract.SavedCORS, error) {
	origins, err := serving.AppOrigins(c, clients)
	return contract.SavedCORS{CORS: c, FromApps: origins, ETag: digestOf(c)}, err
}

// CORSColumn returns a compiled CORS as it is stored.
func CORSColumn(in *snapshot.CORS) contract.CORS {
	if in == nil {
		return contract.CORS{}
	}
	return in.CORS
}

// CORS returns which pages of other origins may call a project.
func (s *Service) CORS(
	ctx context.Context, p access.Principal, in contract.ProjectPath,
) (contract.SavedCORS, error) {
	tx := s.DB.Read(ctx)
	row, err := access.Project(tx, p, in.Project, access.ProjectRead)
	if err != nil {
		return contract.SavedCORS{}, fmt.Errorf("projects: CORS of %s: %w", in.Project, err)
	}
	return viewCORS(tx, row)
}

// SetCORS replaces a project's CORS, from the next call on. An empty list of methods means all of CORSMethods.
func (s *Service) SetCORS(
	ctx context.Context, p access.Principal, in contract.CORSUpdate,
) (out contract.SavedCORS, err error) {
	change := func(tx *models.Tx, project models.Project, now time.Time) error {
		have, err := viewCORS(tx, project)
		if err != nil {
			return err
		}
		if err := access.Unchanged(in.IfMatch, have.ETag); err != nil {
			return err
		}
		cors, wrong := checkCORS(in.Body)
		if err := fault.InvalidFields(wrong); err != nil {
			return err
		}
		seen := project.UpdatedAt
		project.CORS, project.UpdatedAt = cors, now
		if out, err = viewCORS(tx, project); err != nil {
			return err
		}
		return orStale(tx.UpdateProjectCORS(project, seen))
	}
	err = s.changeNoted(ctx, p, in.Project, &note{change: "CORS"}, change)
	return out, err
}

// RemoveCORS removes a project's CORS, which leaves CORS to its upstreams again.
func (s *Service) RemoveCORS(
	ctx context.Context, p access.Principal, in contract.CORSRemoval,
) (contract.None, error) {
	_, err := s.SetCORS(ctx, p, contract.CORSUpdate{ProjectPath: in.ProjectPath, Condition: in.Condition})
	return contract.None{}, err
}

// checkCORS returns the value to store, and the fields that are wrong.
func checkCORS(c contract.CORS) (contract.CORS, []fault.Field) {
	if !c.IsSet() {
		if len(c.Methods)+len(c.Headers)+len(c.ExposedHeaders) > 0 || c.Credentials || c.MaxAge != nil {
			return c, []fault.Field{{Pointer: "/origins", Code: "required",
				Detail: "Add an origin, allow the origins of your app clients, or remove the CORS settings."}}
		}
		return contract.CORS{}, nil
	}
	if len(c.Methods) == 0 {
		c.Methods = CORSMethods
	}
	wrong := checkOrigins(c)
	wrong = append(wrong, checkCORSMethods(c.Methods)...)
	wrong = append(wrong, checkCORSHeaders("/headers", c.Headers, c.Credentials)...)
	wrong = append(wrong, checkCORSHeaders("/exposed_headers", c.ExposedHeaders, c.Credentials)...)
	if c.MaxAge != nil && (*c.MaxAge < 0 || *c.MaxAge > maxCORSAge) {
		wrong = append(wrong, fault.Field{Pointer: "/max_age", Code: "out_of_range",
			Detail: fmt.Sprintf("Use 0 to %s seconds, or omit this setting.", humanize.Comma(maxCORSAge))})
	}
	return c, wrong
}

func checkOrigins(c contract.CORS) []fault.Field {
	if len(c.Origins) > maxOrigins {
		return []fault.Field{{Pointer: "/origins", Code: "too_many",
			Detail: fmt.Sprintf("Use at most %d origins.", maxOrigins)}}
	}
	var wrong []fault.Field
	for i, origin := range c.Origins {
		refuse := func(code, detail string) {
			wrong = append(wrong, fault.Field{Pointer: "/origins/" + strconv.Itoa(i), Code: code, Detail: detail})
		}
		switch problem := serving.OriginFault(origin); {
		case problem != "":
			refuse("invalid_origin", problem)
		case origin == "*" && (len(c.Origins) > 1 || c.AppOrigins):
			refuse("any_origin", "* allows every origin. Use it alone, or leave it out.")
		case origin == "*" && c.Credentials:
			refuse("any_origin_with_credentials", "Browsers don't allow * with credentials. List the origins that "+
				"can send cookies, or turn credentials off.")
		case slices.Contains(c.Origins[:i], origin):
			refuse("duplicate", "This origin is listed twice. Remove one.")
		}
	}
	return wrong
}

func checkCORSMethods(methods []string) []fault.Field {
	var wrong []fault.Field
	for i, method := range methods {
		pointer := "/methods/" + strconv.Itoa(i)
		if !slices.Contains(CORSMethods, method) {
			wrong = append(wrong, fault.Field{Pointer: pointer, Code: "invalid_method",
				Detail: "Use only the methods " + strings.Join(CORSMethods, ", ") + "."})
		} else if slices.Contains(methods[:i], method) {
			wrong = append(wrong, fault.Field{
				Pointer: pointer, Code: "duplicate", Detail: "This method is listed twice. Remove one.",
			})
		}
	}
	return wrong
}

func checkCORSHeaders(at string, names []string, credentials bool) []fault.Field {
	if len(names) > maxCORSHeaders {
		return []fault.Field{
			{Pointer: at, Code: "too_many", Detail: fmt.Sprintf("Use at most %d headers.", maxCORSHeaders)},
		}
	}
	var wrong []fault.Field
	for i, name := range names {
		refuse := func(code, detail string) {
			wrong = append(wrong, fault.Field{Pointer: at + "/" + strconv.Itoa(i), Code: code, Detail: detail})
		}
		same := func(other string) bool { return strings.EqualFold(other, name) }
		switch {
		case name == "*" && len(names) > 1:
			refuse("any_header", "* means every header. Use it alone, or leave it out.")
		case name == "*" && credentials:
			refuse("any_header_with_credentials", "With credentials, browsers treat * as a header name. List the "+
				"headers.")
		case !httpguts.ValidHeaderFieldName(name) || len(name) > maxCORSHeader:
			refuse("invalid_header", fmt.Sprintf("Use a header name of at most %d characters.", maxCORSHeader))
		case slices.ContainsFunc(names[:i], same):
			refuse("duplicate", "This header is listed twice. Remove one.")
		}
	}
	return wrong
}
