package projects

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/egress"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/keys"
)

// ConfigPointer begins the pointers of fields in an imported project, which are in this
// file of its zip.
const ConfigPointer = "/project-config.json"

// CheckImported checks a project that was read from a zip by the rules for new projects, and returns the fields that
// break them. It rewrites targets and address ranges to their canonical form. For a host name without an address it
// only warns, because the project may come from another network, and the guard checks every address when it is dialed.
// It looks up host names, so call it outside of transactions.
func (s *Service) CheckImported(
	ctx context.Context, p access.Principal, in *snapshot.Project,
) ([]fault.Field, []contract.Warning, error) {
	wrong := slices.Concat(
		checkImportedNames(in), checkImportedLimits(in), checkImportedTypes(in.KeyTypes),
		checkImportedTenants(in.Tenants),
		checkImportedCORS(ConfigPointer+"/cors", in.CORS),
		below(ConfigPointer+"/api", checkAPI(in.API)),
	)
	if len(in.Tenants) > maxImportedTenants { // the next checks compare them with each other
		return nil, nil, fault.InvalidFields(wrong)
	}
	if len(in.Versions) == 0 || len(in.Versions) > maxVersions {
		wrong = append(wrong, fault.Field{
			Pointer: ConfigPointer + "/versions",
			Code:    "invalid_versions",
			Detail:  fmt.Sprintf("A project must have 1 to %d versions.", maxVersions),
		})
		return wrong, nil, nil
	}
	ctx, stop := context.WithTimeout(ctx, resolveWithin)
	defer stop()
	// A version may still take tokens although the last app client or its tenant is gone.
	at := authContext{publicURL: s.PublicURL, login: true}
	for _, t := range in.Tenants {
		at.tenants = append(at.tenants, t.Name)
	}
	var warnings []contract.Warning
	for i := range in.Versions {
		fields, surprises, err := s.checkImportedVersion(ctx, p, in, i, at)
		if err != nil {
			return nil, nil, fmt.Errorf("projects: check an import: %w", err)
		}
		wrong, warnings = append(wrong, fields...), append(warnings, surprises...)
		wrong = append(wrong, CheckRules("/authz/rules.json/"+in.Versions[i].ID, &in.Versions[i].Rules)...)
		wrong = append(wrong, CheckOpenAPISettings(fmt.Sprintf("%s/versions/%d", ConfigPointer, i),
			in.Versions[i].OpenAPISettings(), in.Versions[i].OpenAPI != nil)...)
		wrong = append(wrong, CheckTransforms("/transforms.json/"+in.Versions[i].ID, &in.Versions[i].Transforms)...)
	}
	return wrong, warnings, nil
}

// below returns the fields with prefix before their pointers.
func below(prefix string, fields []fault.Field) []fault.Field {
	for i := range fields {
		fields[i].Pointer = prefix + fields[i].Pointer
	}
	return fields
}

func checkImportedNames(in *snapshot.Project) []fault.Field {
	wrong := below(ConfigPointer, checkDisplayName(in.DisplayName))
	if !ValidName(in.Name) {
		wrong = append(wrong, nameFault("/name"))
	}
	if in.ProductID != "" && !ValidName(in.Product) {
		wrong = append(wrong, nameFault(ConfigPointer+"/product/name"))
	}
	if in.FallbackOwner != "" {
		wrong = append(wrong, below(ConfigPointer, checkFallbackOwner(in.FallbackOwner))...)
	}
	return wrong
}

func checkImportedCORS(pointer string, in *snapshot.CORS) []fault.Field {
	if in == nil {
		return nil
	}
	checked, wrong := checkCORS(in.CORS)
	in.CORS = checked
	return below(pointer, wrong)
}

func checkImportedLimits(in *snapshot.Project) []fault.Field {
	const at = ConfigPointer + "/limits/"
	return slices.Concat(
		keys.CheckLimits(at+"key", in.Limits.Key.Stated()),
		keys.CheckLimits(at+"owner", in.Limits.Owner.Stated()),
		keys.CheckLimits(at+"ip", in.Limits.IP.Stated()),
		keys.CheckLimits(at+"project", in.Limits.Project.Stated()),
	)
}

// checkImportedTypes also requires the built-in key types as every project has them: a type
// of their name with other scopes would give keys more than the name says.
func checkImportedTypes(types []snapshot.KeyType) []fault.Field {
	const pointer = ConfigPointer + "/key_types"
	var custom []contract.NewKeyType
	builtIns := builtInTypes()
	found := 0
	for _, t := range types {
		one := contract.NewKeyType{
			Name:      t.Name,
			Scopes:    t.Scopes,
			ExpiresIn: int64(t.ExpiresIn / time.Second),
			Limits:    t.Limits.Stated(),
		}
		if !t.BuiltIn {
			custom = append(custom, one)
			continue
		}
		same := func(o contract.NewKeyType) bool {
			return o.Name == one.Name && slices.Equal(o.Scopes, one.Scopes) && one.ExpiresIn == 0 &&
				len(one.Limits) == 0
		}
		if slices.ContainsFunc(builtIns, same) {
			found++
		}
	}
	_, fields := withBuiltIns(custom)
	wrong := fields
	for i := range wrong { // by position among the custom types, which the pointer must not claim
		wrong[i].Pointer = pointer
	}
	if found != len(builtIns) || len(types) != found+len(custom) {
		wrong = append(wrong, fault.Field{
			Pointer: pointer,
			Code:    "invalid_built_in",
			Detail:  "Include the key types full and read-only once each. Every project has them.",
		})
	}
	return wrong
}

// maxImportedTenants bounds the tenants of a zip.
const maxImportedTenants = 1000

func checkImportedTenants(tenants []snapshot.Tenant) []fault.Field {
	const pointer = ConfigPointer + "/tenants"
	own := 0
	var wrong []fault.Field
	for i, t := range tenants[:min(len(tenants), maxImportedTenants)] {
		at := fmt.Sprintf("%s/%d", pointer, i)
		if t.Name == snapshot.DefaultTenant && !t.Detached {
			own++
		} else {
			wrong = append(wrong, checkTenantName(at+"/name", t.Name)...)
		}
		wrong = append(wrong, below(at, checkDisplayName(t.DisplayName))...)
		if t.FallbackOwner != "" {
			wrong = append(wrong, below(at, checkFallbackOwner(t.FallbackOwner))...)
		}
		wrong = append(wrong, checkImportedCORS(at+"/cors", t.CORS)...)
		if slices.ContainsFunc(tenants[:i], func(o snapshot.Tenant) bool { return o.Name == t.Name || o.ID == t.ID }) {
			wrong = append(wrong, fault.Field{
				Pointer: at, Code: "duplicate", Detail: "This tenant is listed twice. Remove one.",
			})
		}
	}
	if own != 1 || len(tenants) > maxImportedTenants {
		wrong = append(wrong, fault.Field{
			Pointer: pointer,
			Code:    "invalid_tenants",
			Detail: fmt.Sprintf("A project must have a tenant named default, and can have at most %s tenants.",
				humanize.Comma(maxImportedTenants)),
		})
	}
	return wrong
}

func (s *Service) checkImportedVersion(
	ctx context.Context, p access.Principal, in *snapshot.Project, i int, at authContext,
) ([]fault.Field, []contract.Warning, error) {
	v := &in.Versions[i]
	here := fmt.Sprintf("%s/versions/%d", ConfigPointer, i)
	wrong := checkVersionName(here+"/name", v.Name)
	if slices.ContainsFunc(in.Versions[:i], func(o snapshot.Version) bool { return o.Name == v.Name }) {
		wrong = append(wrong, fault.Field{
			Pointer: here, Code: "duplicate", Detail: "This version is listed twice. Remove one.",
		})
	}
	auth := &v.Access.RequestsAuth
	if auth.Methods == nil { // defaults are for new projects
		auth.Methods = []string{}
	}
	if auth.Introspection().Endpoint == "" {
		auth.Opaque = nil
	}
	prefix := here + "/requests_auth"
	normalized, authWrong := normalizeAuth(*auth, prefix, at)
	*auth = normalized
	wrong = append(wrong, authWrong...)
	issuersWrong, err := s.checkIssuerAddresses(ctx, prefix, auth.Issuers())
	if err != nil {
		return nil, nil, err
	}
	endpointWrong, err := s.checkEndpoint(ctx, p, prefix, keptIntrospection(*auth))
	if err != nil {
		return nil, nil, err
	}
	var rangesWrong [2][]fault.Field
	v.Access.IP.Allow, rangesWrong[0] = keys.ReadRanges(here+"/ip/allow", keys.Texts(v.Access.IP.Allow), maxRanges)
	v.Access.IP.Deny, rangesWrong[1] = keys.ReadRanges(here+"/ip/deny", keys.Texts(v.Access.IP.Deny), maxRanges)
	wrong = slices.Concat(wrong, issuersWrong, endpointWrong, rangesWrong[0], rangesWrong[1])
	targetsWrong, err := s.checkImportedEnvironments(ctx, p, here, v)
	if err != nil {
		return nil, nil, err
	}
	wrong, warnings := unresolvedApart(append(wrong, targetsWrong...))
	return wrong, warnings, nil
}

func (s *Service) checkImportedEnvironments(
	ctx context.Context, p access.Principal, here string, v *snapshot.Version,
) ([]fault.Field, error) {
	if len(v.Environments) > maxEnvironments {
		return []fault.Field{tooManyEnvironments(here + "/environments")}, nil
	}
	var wrong []fault.Field
	for i := range v.Environments {
		e := &v.Environments[i]
		at := fmt.Sprintf("%s/environments/%d", here, i)
		wrong = append(wrong, checkEnvironmentName(at+"/name", e.Name)...)
		settingsWrong, err := s.checkUpstream(ctx, p, at+"/upstream", &e.Upstream)
		if err != nil {
			return nil, err
		}
		wrong = append(wrong, settingsWrong...)
		if slices.ContainsFunc(v.Environments[:i], func(o snapshot.Environment) bool { return o.Name == e.Name }) {
			wrong = append(wrong, fault.Field{
				Pointer: at, Code: "duplicate", Detail: "This environment is listed twice. Remove one.",
			})
		}
		target := e.Target
		if len(e.Upstream.Targets) > 0 {
			target = "" // the document repeats the first one
		} else {
			e.Upstream.Targets = nil
		}
		to, placeWrong, err := s.checkPlace(ctx, p, at, target, e.Upstream)
		if err != nil {
			return nil, err
		}
		wrong = append(wrong, placeWrong...)
		if to.target == "" {
			continue
		}
		to.in(&e.Target, &e.Upstream)
		wrong = append(wrong, fitUpstream(at+"/upstream", e.Upstream, e.Upstream, e.Target)...)
	}
	return wrong, nil
}

// unresolvedApart separates addresses whose host name has no address now, as warnings.
func unresolvedApart(fields []fault.Field) ([]fault.Field, []contract.Warning) {
	var wrong []fault.Field
	var warnings []contract.Warning
	for _, f := range fields {
		if f.Code != egress.CodeUnresolvable {
			wrong = append(wrong, f)
			continue
		}
		warnings = append(warnings, contract.Warning{Code: f.Code, Detail: f.Pointer + ": " + f.Detail})
	}
	return wrong, warnings
}

// FitsImported refuses an imported project whose name or audience is taken, or whose login couldn't work. The project's
// rows must already be written in tx.
func (s *Service) FitsImported(tx *models.Tx, project models.Project) error {
	taken, err := audienceTaken(tx, project, project.APIAudience)
	if err != nil {
		return err
	}
	if err := fault.InvalidFields(below(ConfigPointer+"/api", taken)); err != nil {
		return err
	}
	if s.CheckLogin == nil {
		return nil
	}
	return s.CheckLogin(tx, project.ID)
}

// NameTaken returns the error for an import whose project name is in use.
func NameTaken(name string) error {
	return &fault.Error{
		Kind: fault.Conflict, Code: "name_taken", Public: fmt.Sprintf("The name %q is taken.", name),
		Fields: []fault.Field{{
			Pointer: "/name", Code: "name_taken", Detail: "Choose another name for the imported project.",
		}},
	}
}

// ViewImported returns an imported project as its team sees it.
func (s *Service) ViewImported(tx *models.Tx, project models.Project) (Project, error) {
	return s.view(tx, project)
}
