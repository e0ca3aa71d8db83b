package movein

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"postern/core/contract"
	"postern/core/keyfile"
	"postern/core/movein"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/directory"
	"postern/service/domains"
	"postern/service/keys"
	"postern/service/projects"
)

// checked is a plan that obeys the rules of this server.
type checked struct {
	parts []*checkedPart
	keys  []checkedKey
}

// checkedPart is a project of the plan.
type checkedPart struct {
	plan     *contract.PlannedProject
	project  *snapshot.Project
	planned  []byte // digest of its settings, as below
	versions []checkedVersion
}

// checkedVersion is a version of the plan with its environment.
type checkedVersion struct {
	plan        *contract.PlannedVersion
	pointer     string // to its first route, or else to the service
	planned     []byte
	environment []byte // digest of the plan, without the values of headers
	headers     []movein.Header
	domains     []checkedDomain
}

// checkedDomain is a custom domain of the plan.
type checkedDomain struct {
	row     models.Domain
	pointer string
	planned []byte
}

// checkedKey is a key of the plan.
type checkedKey struct {
	row     models.APIKey
	pointer string
}

// maxFields is the number of broken rules after which a plan isn't checked further.
const maxFields = 20

// check applies the rules of this server to everything in the plan.
func (s *Service) check(ctx context.Context, p access.Principal, plan *movein.Plan) (*checked, error) {
	out := &checked{}
	wrong := checkGroups(plan)
	for i := range plan.Projects {
		one, fields, err := s.checkProject(ctx, p, plan, i)
		if err != nil {
			return nil, err
		}
		out.parts = append(out.parts, one)
		if wrong = append(wrong, fields...); len(wrong) >= maxFields {
			return nil, fault.InvalidFields(wrong)
		}
	}
	fields, err := out.checkKeys(plan)
	if err != nil {
		return nil, err
	}
	return out, fault.InvalidFields(append(wrong, fields...))
}

func (s *Service) checkProject(
	ctx context.Context, p access.Principal, plan *movein.Plan, at int,
) (*checkedPart, []fault.Field, error) {
	planned := &plan.Projects[at]
	out := &checkedPart{plan: planned, planned: digest(planned.DisplayName, planned.Limits, planned.CORS)}
	count := 0
	var wrong []fault.Field
	for i := range planned.Versions {
		v, fields := s.checkVersion(planned, i, plan.Headers[movein.VersionPlace{Project: at, Version: i}])
		out.versions = append(out.versions, v)
		wrong, count = append(wrong, fields...), count+len(v.domains)
	}
	if field := domains.TooMany(count); field != nil {
		field.Pointer, field.Detail = planned.From, field.Detail+" Split the service in the file."
		wrong = append(wrong, *field)
	}
	out.project = projectOf(plan, planned)
	fields, _, err := s.Projects.CheckImported(ctx, p, out.project)
	for _, field := range fields {
		wrong = append(wrong, out.inSource(field))
	}
	return out, wrong, err
}

// checkVersion checks what CheckImported of the project doesn't.
func (s *Service) checkVersion(
	project *contract.PlannedProject, at int, headers []movein.Header,
) (checkedVersion, []fault.Field) {
	v := &project.Versions[at]
	out := checkedVersion{
		plan: v, pointer: project.From, headers: headers,
		planned:     digest(v.RequestsAuth, v.IP, v.Rules, v.Transforms),
		environment: digest(v.Environment),
	}
	if len(v.Routes) > 0 {
		out.pointer = v.Routes[0]
	}
	_, allowWrong := keys.ReadRanges("ip/allow", v.IP.Allow, len(v.IP.Allow))
	_, denyWrong := keys.ReadRanges("ip/deny", v.IP.Deny, len(v.IP.Deny))
	var wrong []fault.Field
	for _, field := range append(allowWrong, denyWrong...) {
		field.Pointer, field.Detail = out.pointer, field.Pointer+": "+field.Detail
		wrong = append(wrong, field)
	}
	for _, header := range headers {
		for _, field := range projects.CheckImportedHeader(header.Name, secrets.Secret(header.Value)) {
			field.Pointer, field.Detail = out.pointer, "Upstream header "+header.Name+": "+field.Detail
			wrong = append(wrong, field)
		}
	}
	for _, d := range v.Domains {
		row, fields := s.Domains.ReadImported(d.NewDomain)
		for _, field := range fields {
			field.Pointer, field.Detail = d.Route, "Custom domain "+d.Host+d.PathPrefix+": "+field.Detail
			wrong = append(wrong, field)
		}
		out.domains = append(out.domains, checkedDomain{row, d.Route, digest(d.NewDomain)})
	}
	return out, wrong
}

// projectOf returns a project of the plan in the form that imports of zips use.
func projectOf(plan *movein.Plan, in *contract.PlannedProject) *snapshot.Project {
	out := &snapshot.Project{
		Name: in.Name, DisplayName: in.DisplayName, FallbackOwner: in.Name,
		ProductID: plainSource, Product: plan.Product,
		Limits:   keys.ProjectLimits(in.Limits),
		KeyTypes: projects.BuiltInKeyTypes(),
		Tenants:  []snapshot.Tenant{{ID: "default", Name: snapshot.DefaultTenant}, {ID: "shared", Name: plan.Tenant}},
	}
	if in.CORS != nil {
		out.CORS = &snapshot.CORS{CORS: *in.CORS}
	}
	for i := range in.Versions {
		v := &in.Versions[i]
		one := snapshot.Version{
			ID: strconv.Itoa(i), Name: v.Name, Access: snapshot.Access{RequestsAuth: v.RequestsAuth}, Rules: v.Rules,
			Environments: []snapshot.Environment{{
				Name: v.Environment.Name, Target: v.Environment.Target, Upstream: v.Environment.Upstream,
			}},
		}
		one.Access.IP.Allow, _ = keys.ReadRanges("", v.IP.Allow, len(v.IP.Allow)) // checkVersion has checked them
		one.Access.IP.Deny, _ = keys.ReadRanges("", v.IP.Deny, len(v.IP.Deny))
		one.Rules.List = append([]contract.Rule{}, v.Rules.List...)
		if v.Transforms != nil {
			one.Transforms = snapshot.TransformsOf(*v.Transforms)
		}
		out.Versions = append(out.Versions, one)
	}
	return out
}

// inSource points a field of CheckImported to the entity of the file, and says which setting it is about.
func (c *checkedPart) inSource(field fault.Field) fault.Field {
	at, pointer := field.Pointer, c.plan.From
	for _, prefix := range []string{projects.ConfigPointer + "/versions/", "/authz/rules.json/", "/transforms.json/"} {
		rest, found := strings.CutPrefix(at, prefix)
		if !found {
			continue
		}
		number, member, _ := strings.Cut(rest, "/")
		if n, err := strconv.Atoi(number); err == nil && n < len(c.versions) {
			pointer, at = c.versions[n].pointer, member
			if strings.HasPrefix(member, "environments/") {
				pointer = c.plan.From
			}
		}
	}
	at = strings.TrimPrefix(strings.TrimPrefix(at, projects.ConfigPointer), "/")
	return fault.Field{Pointer: pointer, Code: field.Code, Detail: at + ": " + field.Detail}
}

// checkGroups checks groups and their members by the rules of those in zips.
func checkGroups(plan *movein.Plan) []fault.Field {
	groups := &snapshot.Directory{}
	at := map[string]int{}
	for i, one := range plan.Groups {
		at[one.Name] = i
		groups.Groups = append(groups.Groups, snapshot.Group{
			ID: one.Name, Name: one.Name, DisplayName: one.DisplayName,
		})
	}
	var wrong []fault.Field
	for i := range plan.Owners {
		owner := &plan.Owners[i]
		for _, name := range owner.Groups {
			if n, known := at[name]; known {
				g := &groups.Groups[n]
				g.Owners = append(g.Owners, snapshot.GroupOwner{Owner: owner.Name, Role: snapshot.RoleMember})
			}
		}
	}
	for _, field := range directory.CheckImported("", groups) {
		rest, _ := strings.CutPrefix(field.Pointer, "/groups.json/groups/")
		number, member, _ := strings.Cut(rest, "/")
		name := number
		if n, err := strconv.Atoi(number); err == nil && n < len(plan.Groups) {
			name = plan.Groups[n].Name
			if place, isOwner := strings.CutPrefix(member, "owners/"); isOwner {
				number, _, _ := strings.Cut(place, "/")
				if o, err := strconv.Atoi(number); err == nil && o < len(groups.Groups[n].Owners) {
					name += ", consumer " + groups.Groups[n].Owners[o].Owner
				}
			}
		}
		wrong = append(wrong, fault.Field{Pointer: "/acls", Code: field.Code, Detail: "Group " + name + ": " +
			field.Detail})
	}
	return wrong
}

// checkKeys checks keys by the rules of those in files of keys.
func (c *checked) checkKeys(plan *movein.Plan) (wrong []fault.Field, err error) {
	now := models.Now()
	for i := range plan.Owners {
		owner := &plan.Owners[i]
		row := keyfile.Row{
			Owner: owner.Name, AllowedCIDRs: owner.AllowedCIDRs,
			Consumer: keyfile.Consumer{ID: owner.ConsumerID, Username: owner.Username, CustomID: owner.CustomID},
		}
		if len(owner.Limits) > 0 {
			row.Limits = owner.Limits
		}
		for _, key := range plan.OwnerKeys[i] {
			one := row // the key refers to it
			one.SHA256, one.Last4, one.CredentialID = key.SHA256, key.Last4, key.CredentialID
			one.State, one.ExpiresAt = key.State, key.ExpiresAt
			made, fields, err := keys.NewImported(&one, true, now) // the plan has left out weak ones
			if err != nil {
				return nil, err
			}
			if strings.HasPrefix(owner.Name, "usr_") {
				fields = append(fields, fault.Field{Pointer: "/owner", Code: "invalid_owner", Detail: "Names that " +
					"begin with usr_ are reserved for Postern's users. Rename the consumer in the file."})
			}
			for _, field := range fields {
				wrong = append(wrong, fault.Field{
					Pointer: key.Pointer, Code: field.Code,
					Detail: strings.TrimPrefix(field.Pointer, "/") + ": " + field.Detail,
				})
			}
			if len(wrong) >= maxFields {
				return wrong, nil
			}
			c.keys = append(c.keys, checkedKey{made, key.Pointer})
		}
	}
	return wrong, nil
}

// digest returns a SHA-256 of values, to recognize them later.
func digest(values ...any) []byte {
	sum := sha256.New()
	lines := json.NewEncoder(sum)
	for _, one := range values {
		if err := lines.Encode(one); err != nil { // values of our own types, which all have JSON
			panic(fmt.Sprintf("movein: encode %T: %v", one, err))
		}
	}
	return sum.Sum(nil)
}
