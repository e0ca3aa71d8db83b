package projects

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/idna"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Bounds on a CORS. Browsers cache preflights for a day at most.
const (
	maxOrigins     = 100
	maxCORSHeaders = 100
	maxCORSHeader  = 64 // characters
	maxCORSAge     = 24 * 60 * 60
)

// CORSMethods are the methods that pages of other origins can be allowed.
var CORSMethods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

func viewCORS(tx *models.Tx, row models.Project) (contract.SavedCORS, error) {
	return savedCORS(row.CORS, func() ([]models.AppClient, error) { return tx.AppClientsServed(row.ID) })
}

// savedCORS returns a CORS as it is now. clients lists the app clients that AppOrigins is about.
func savedCORS(c contract.CORS, clients func() ([]models.AppClient, error)) (contract.SavedCORS, error) {
	origins, err := appOrigins(c, clients)
	return contract.SavedCORS{CORS: c, FromApps: origins, ETag: digestOf(c)}, err
}

// readCORS compiles a project's CORS.
func readCORS(r *projectRows, row models.Project, out *snapshot.Project) (err error) {
	out.CORS, err = compileCORS(row.CORS, func() ([]models.AppClient, error) { return r.clientsServed(row.ID), nil })
	return err
}

// compileCORS returns nil for a CORS that is not set.
func compileCORS(c contract.CORS, clients func() ([]models.AppClient, error)) (*snapshot.CORS, error) {
	if !c.IsSet() {
		return nil, nil
	}
	origins, err := appOrigins(c, clients)
	return &snapshot.CORS{CORS: c, FromApps: origins}, err
}

// CORSColumn returns a compiled CORS as it is stored.
func CORSColumn(in *snapshot.CORS) contract.CORS {
	if in == nil {
		return contract.CORS{}
	}
	return in.CORS
}

// appOrigins returns the origins of the redirect URIs of app clients, sorted, without those that
// it names itself; none unless it allows them. Redirect URIs of native apps have none.
func appOrigins(column contract.CORS, clients func() ([]models.AppClient, error)) ([]string, error) {
	if !column.AppOrigins {
		return nil, nil
	}
	list, err := clients()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, client := range list {
		for _, uri := range client.RedirectURIs {
			u, err := url.Parse(uri)
			if err != nil {
				continue
			}
			origin := originOf(u)
			if wrongOrigin(origin) == "" && origin != "*" && !slices.Contains(column.Origins, origin) {
				out = append(out, origin)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
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

// SetCORS replaces which pages of other origins may call a project, from the next call on. No methods are all of
// CORSMethods.
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
		return written(tx.UpdateProjectCORS(project, seen))
	}
	err = s.changeNoted(ctx, p, in.Project, &note{change: "CORS"}, change)
	return out, err
}

// RemoveCORS leaves it to the upstreams of a project again.
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
				Detail: "Name the origins that may call, allow those of your apps, or remove CORS altogether."}}
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
			Detail: fmt.Sprintf("Use 0 to %d seconds, or leave it out.", maxCORSAge)})
	}
	return c, wrong
}

func checkOrigins(c contract.CORS) []fault.Field {
	if len(c.Origins) > maxOrigins {
		return []fault.Field{{Pointer: "/origins", Code: "too_many",
			Detail: fmt.Sprintf("Name at most %d origins.", maxOrigins)}}
	}
	var wrong []fault.Field
	for i, origin := range c.Origins {
		refuse := func(code, detail string) {
			wrong = append(wrong, fault.Field{Pointer: "/origins/" + strconv.Itoa(i), Code: code, Detail: detail})
		}
		switch problem := wrongOrigin(origin); {
		case problem != "":
			refuse("invalid_origin", problem)
		case origin == "*" && (len(c.Origins) > 1 || c.AppOrigins):
			refuse("any_origin", "* allows every origin: name it alone, or leave it out.")
		case origin == "*" && c.Credentials:
			refuse("any_origin_with_credentials", "Browsers refuse * together with credentials: name the origins that "+
				"may send cookies, or turn credentials off.")
		case slices.Contains(c.Origins[:i], origin):
			refuse("duplicate", "This origin is named twice.")
		}
	}
	return wrong
}

// originHost matches the hosts of origins. Kong takes an origin with any other character for a
// regular expression (kong/plugins/cors/handler.lua).
var originHost = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)

// wrongOrigin says what is wrong with an origin, and what it should be. An origin is written as
// browsers write it (RFC 6454 section 6.2).
func wrongOrigin(origin string) string {
	const want = "Write an origin as browsers do, such as https://app.example.com, http://localhost:3000 or " +
		"capacitor://localhost"
	if origin == "*" {
		return ""
	}
	if origin == "null" {
		return "null is the origin of every sandboxed page and local file: serve the page from an address, and name " +
			"that."
	}
	u, err := url.Parse(origin)
	if err != nil || u.Hostname() == "" || len(origin) > 300 {
		return want + "."
	}
	if strings.HasPrefix(u.Host, "[") {
		return "Kong cannot compare origins with IPv6 addresses: give the page a host name, and name that."
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "The port of an origin is a number from 1 to 65535."
		}
	}
	plain := cmp.Or(originOf(u), appOriginOf(u))
	switch {
	case plain == "":
		return want + "."
	case plain != origin:
		return want + "; here: " + plain + "."
	}
	return ""
}

// Schemes and hosts of origins of apps, such as capacitor://localhost, and of extensions of browsers. Browsers keep the
// case of these hosts: they are ids. Kong takes an origin with any other character for a regular expression.
var (
	appScheme = regexp.MustCompile(`^[a-z][a-z0-9.-]*$`)
	appHost   = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)
)

// otherSchemes have pages of the origin null, or none at all (HTML, "origin"; URL, "origin").
var otherSchemes = []string{
	"http", "https", "file", "data", "blob", "about", "javascript", "ftp", "ws", "wss", "mailto", "view-source",
	"filesystem", "vbscript",
}

// appOriginOf returns the origin of an address of an app or of an extension, "" for any other.
func appOriginOf(u *url.URL) string {
	if !appScheme.MatchString(u.Scheme) || slices.Contains(otherSchemes, u.Scheme) ||
		!appHost.MatchString(u.Hostname()) {
		return ""
	}
	if port := u.Port(); port != "" {
		return u.Scheme + "://" + u.Hostname() + ":" + port
	}
	return u.Scheme + "://" + u.Hostname()
}

// originOf returns the origin of an address, "" if its host has no form in ASCII.
func originOf(u *url.URL) string {
	if (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return ""
	}
	host, err := idna.Lookup.ToASCII(strings.TrimSuffix(u.Hostname(), "."))
	if err != nil || !originHost.MatchString(host) {
		return ""
	}
	port := u.Port()
	if port == "" || (u.Scheme == "http" && port == "80") || (u.Scheme == "https" && port == "443") {
		return u.Scheme + "://" + host
	}
	return u.Scheme + "://" + host + ":" + port
}

func checkCORSMethods(methods []string) []fault.Field {
	var wrong []fault.Field
	for i, method := range methods {
		pointer := "/methods/" + strconv.Itoa(i)
		if !slices.Contains(CORSMethods, method) {
			wrong = append(wrong, fault.Field{Pointer: pointer, Code: "invalid_method",
				Detail: "Use methods among " + strings.Join(CORSMethods, ", ") + "."})
		} else if slices.Contains(methods[:i], method) {
			wrong = append(wrong, fault.Field{
				Pointer: pointer, Code: "duplicate", Detail: "This method is named twice.",
			})
		}
	}
	return wrong
}

func checkCORSHeaders(at string, names []string, credentials bool) []fault.Field {
	if len(names) > maxCORSHeaders {
		return []fault.Field{
			{Pointer: at, Code: "too_many", Detail: fmt.Sprintf("Name at most %d headers.", maxCORSHeaders)},
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
			refuse("any_header", "* means every header: name it alone, or leave it out.")
		case name == "*" && credentials:
			refuse("any_header_with_credentials", "With credentials browsers take * for a header of that name: name "+
				"the headers.")
		case !httpguts.ValidHeaderFieldName(name) || len(name) > maxCORSHeader:
			refuse("invalid_header", fmt.Sprintf("Use the name of a header, of at most %d characters.", maxCORSHeader))
		case slices.ContainsFunc(names[:i], same):
			refuse("duplicate", "This header is named twice.")
		}
	}
	return wrong
}
