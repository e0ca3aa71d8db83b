// Package relations keeps who owns which object of a project: the facts that rules with owner decide by. It owns the
// table in memory that the gateway asks, the recorder of what the gateway finds in answers, and reading and changing
// relations by hand. It leaves decisions to core/policy, and serving changes of other replicas to the feed of
// service/projects.
package relations

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/core/filelimits"
	"postern/core/policy"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// maxUser bounds the user of a relation, in bytes.
const maxUser = 1024

// Service reads and changes relations.
type Service struct {
	DB      *models.DB
	Changed func(context.Context) // brings a committed change to the gateway
}

// List returns relations of a project by tenant, object, relation and user, or in the order that is asked for.
func (s *Service) List(
	ctx context.Context, p access.Principal, in contract.RelationList,
) (models.List[contract.Relation], error) {
	tx := s.DB.Read(ctx)
	row, err := access.Project(tx, p, in.Project, access.ProjectRead)
	if err != nil {
		return models.List[contract.Relation]{}, fmt.Errorf("relations: list relations of %s: %w", in.Project, err)
	}
	names, err := tenantsOf(tx, row.ID)
	if err != nil {
		return models.List[contract.Relation]{}, fmt.Errorf("relations: list relations of %s: %w", in.Project, err)
	}
	rows, wrong := names.filter(in.RelationFilter)
	if err := fault.InvalidFields(wrong); err != nil {
		return models.List[contract.Relation]{}, fmt.Errorf("relations: list relations of %s: %w", in.Project, err)
	}
	list, err := tx.RelationsOf(row.ID, rows, models.PageOf(in.Page, in.Sort, in.Text))
	if err != nil {
		return models.List[contract.Relation]{}, fmt.Errorf("relations: list relations of %s: %w", in.Project, err)
	}
	return models.MapList(list, names.view), nil
}

// Add adds the relations of a request, all or none. Existing relations stay unchanged.
func (s *Service) Add(
	ctx context.Context, p access.Principal, in contract.RelationAddition,
) (contract.AddedRelations, error) {
	list, err := ReadAll(bytes.NewReader(in.RawBody))
	if err != nil {
		return contract.AddedRelations{}, err
	}
	return s.add(ctx, p, in.Project, 0, list)
}

// Remove removes the relations that a request selects. It has to name a user or an object.
func (s *Service) Remove(
	ctx context.Context, p access.Principal, in contract.RelationRemoval,
) (out contract.RemovedRelations, err error) {
	err = s.change(ctx, p, in.Project, func(tx *models.Tx, row models.Project, names tenants) (string, error) {
		rows, wrong := names.filter(in.RelationFilter)
		if in.User == "" && in.Object == "" {
			wrong = append(wrong, fault.Field{
				Pointer: "/object",
				Code:    "required",
				Detail:  "Specify a user, an object or both.",
			})
		}
		if err := fault.InvalidFields(wrong); err != nil {
			return "", err
		}
		var err error
		out.Removed, err = tx.RemoveRelations(row.ID, rows, models.Now())
		return fmt.Sprintf("%d removed", out.Removed), err
	})
	return out, err
}

// edit is what the audit entry of a change shows.
type edit struct{ Relations string }

func (s *Service) change(
	ctx context.Context, p access.Principal, project string,
	fn func(tx *models.Tx, row models.Project, names tenants) (said string, err error),
) error {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, err := access.Project(tx, p, project, access.ProjectUpdate)
		if err != nil {
			return err
		}
		names, err := tenantsOf(tx, row.ID)
		if err != nil {
			return err
		}
		said, err := fn(tx, row, names)
		if err != nil {
			return err
		}
		return access.Record(tx, p, access.Entry{
			Action: access.ProjectUpdate,
			Object: row.ID,
			Team:   row.TeamID,
			Detail: map[string]string{"change": "relations", "object": said, "name": row.Name},
			After:  edit{Relations: said},
		})
	})
	if err != nil {
		return fmt.Errorf("relations: change relations of %s: %w", project, err)
	}
	s.Changed(ctx)
	return nil
}

// tenants are those that a project serves.
type tenants struct {
	own  string            // id of the project's own
	ids  map[string]string // by name
	name map[string]string // by id
}

func tenantsOf(tx *models.Tx, projectID string) (tenants, error) {
	out := tenants{ids: map[string]string{}, name: map[string]string{}}
	list, err := tx.TenantsOf(projectID)
	for _, one := range list {
		if one.ProjectID != nil {
			out.own = one.ID
		}
		out.ids[one.Name], out.name[one.ID] = one.ID, one.Name
	}
	return out, err
}

func (t tenants) view(row models.Relation) contract.Relation {
	name := t.name[row.TenantID]
	if name == "" {
		name = row.TenantID // it was detached from the project
	}
	return contract.Relation{
		Tenant: name, User: row.User, Relation: row.Relation, Object: row.Object, CreatedAt: row.CreatedAt.UTC(),
	}
}

// filter returns the row filter. For an object in another spelling, it selects the canonical form.
func (t tenants) filter(f contract.RelationFilter) (out models.RelationFilter, wrong []fault.Field) {
	out = models.RelationFilter{User: f.User, Relation: f.Relation}
	if f.Tenant != "" {
		if out.TenantID = t.ids[f.Tenant]; out.TenantID == "" {
			wrong = append(wrong, unknownTenant("/tenant", f.Tenant))
		}
	}
	if f.Object != "" {
		var err error
		if out.Object, err = policy.CanonicalObject(f.Object); err != nil {
			wrong = append(wrong, invalidObject("/object", err))
		}
	}
	return out, wrong
}

func unknownTenant(pointer, name string) fault.Field {
	return fault.Field{
		Pointer: pointer,
		Code:    "unknown_tenant",
		Detail:  fmt.Sprintf("This project doesn't serve the tenant %q. Attach the tenant to the project first.", name),
	}
}

func invalidObject(pointer string, err error) fault.Field {
	detail := "Use a type, a colon and an ID, such as order:42."
	if errors.Is(err, policy.ErrObjectLong) {
		detail = fmt.Sprintf("Use an object of at most %d bytes.", policy.MaxObject)
	}
	return fault.Field{Pointer: pointer, Code: "invalid_object", Detail: detail}
}

// rows returns the rows of relations, or what is wrong with them. The first is number begin of those that were sent.
func (t tenants) rows(
	projectID string, begin int, in []contract.NewRelation, now time.Time,
) (rows []models.Relation, wrong []fault.Field) {
	switch {
	case len(in) == 0:
		return nil, []fault.Field{{Pointer: "", Code: "required", Detail: "Send at least one relation."}}
	case int64(len(in)) > filelimits.Relations.Most:
		return nil, []fault.Field{{
			Pointer: "",
			Code:    "too_many",
			Detail:  filelimits.Relations.Sentence(),
		}}
	}
	for i, one := range in {
		at := ""
		if begin > 0 || len(in) > 1 {
			at = fmt.Sprintf("/%d", begin+i)
		}
		row := models.Relation{
			ProjectID: projectID,
			TenantID:  t.own,
			Relation:  policy.OwnerRelation,
			User:      one.User,
			CreatedAt: now,
		}
		if one.Tenant != "" {
			if row.TenantID = t.ids[one.Tenant]; row.TenantID == "" {
				wrong = append(wrong, unknownTenant(at+"/tenant", one.Tenant))
			}
		}
		if one.Relation != "" && one.Relation != policy.OwnerRelation {
			wrong = append(wrong, fault.Field{
				Pointer: at + "/relation",
				Code:    "invalid_relation",
				Detail:  "Use owner, or omit the relation. Rules don't use other relations.",
			})
		}
		if !validUser(one.User) {
			wrong = append(wrong, fault.Field{
				Pointer: at + "/user",
				Code:    "invalid_user",
				Detail: fmt.Sprintf("Use the ID of a user, the owner of a key, or the subject and issuer of a token, "+
					"as in \"sub (https://issuer.example)\". Use at most %s characters. Don't begin or end with a "+
					"space.", humanize.Comma(maxUser)),
			})
		}
		var err error
		if row.Object, err = policy.CanonicalObject(one.Object); err != nil {
			wrong = append(wrong, invalidObject(at+"/object", err))
		}
		rows = append(rows, row)
	}
	return rows, wrong
}

func validUser(user string) bool {
	return user != "" && len(user) <= maxUser && strings.TrimSpace(user) == user &&
		!strings.ContainsFunc(user, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xfffd })
}
