package projects

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"postern/core/policy"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// ExplainInput is a call that is explained.
type ExplainInput struct {
	Version     string // name or id; "": the only one
	Environment string // name; "": the only one, or prod
	Method      string // "": GET
	Path        string // below the environment's address; "": /
	Key         string // id of the key that it has; "": none
	User        string // id of the end user whose token it has; "": none
	Scopes      []string
}

// Explain returns what the gateway of this process decides about a call, and what the exported one
// would.
func (s *Service) Explain(
	ctx context.Context, p access.Principal, ref string, in ExplainInput,
) (policy.Explanation, error) {
	tx := s.DB.Read(ctx)
	project, err := access.Project(tx, p, ref, access.ProjectRead)
	if err != nil {
		return policy.Explanation{}, fmt.Errorf("projects: explain a call of %s: %w", ref, err)
	}
	path, _, _ := strings.Cut(in.Path, "?") // rules do not look at the query
	q := policy.Question{ProjectID: project.ID, Method: strings.ToUpper(in.Method), Path: path}
	if q.Method == "" {
		q.Method = "GET"
	}
	wrong, err := in.place(tx, project, &q)
	if err != nil {
		return policy.Explanation{}, fmt.Errorf("projects: explain a call of %s: %w", ref, err)
	}
	if in.Key != "" && in.User != "" {
		wrong = append(wrong, fault.Field{
			Pointer: "/user", Code: "one_caller", Detail: "Name a key or a user, not both.",
		})
	}
	if !validRuleMethod(q.Method) {
		wrong = append(wrong, fault.Field{
			Pointer: "/method",
			Code:    "invalid_method",
			Detail:  "Use a method such as GET. CONNECT and TRACE are not forwarded, whoever calls.",
		})
	}
	if q.Path != "" && q.Path[0] != '/' {
		wrong = append(wrong, fault.Field{Pointer: "/path", Code: "invalid_path", Detail: "Begin the path with a " +
			"slash, such as /orders/42."})
	}
	if err := fault.InvalidFields(wrong); err != nil {
		return policy.Explanation{}, err
	}
	if err := errors.Join(in.key(tx, p, project, &q), in.user(tx, p, project, &q)); err != nil {
		return policy.Explanation{}, fmt.Errorf("projects: explain a call of %s: %w", ref, err)
	}
	if s.Gateway == nil {
		return policy.Explanation{}, errors.New("projects: there is no gateway to explain calls")
	}
	return s.Gateway(q), nil
}

// place finds the version and the environment.
func (in ExplainInput) place(
	tx *models.Tx, project models.Project, q *policy.Question,
) (wrong []fault.Field, err error) {
	versions, err := tx.VersionsOf(project.ID)
	if err != nil {
		return nil, err
	}
	at := findVersion(versions, in.Version)
	if in.Version == "" && len(versions) == 1 {
		at = 0
	}
	if at < 0 {
		return []fault.Field{{Pointer: "/version", Code: "unknown_version", Detail: "Name a version of the project."}},
			nil
	}
	environments, err := environmentsOf(tx, versions[at])
	if err != nil {
		return nil, err
	}
	q.Version, q.Environment = versions[at].Name, in.Environment
	if q.Environment == "" {
		q.Environment = defaultEnvironment
		if len(environments) == 1 {
			q.Environment = environments[0].Name
		}
	}
	if !slices.ContainsFunc(environments, func(e models.Environment) bool { return e.Name == q.Environment }) {
		wrong = append(wrong, fault.Field{
			Pointer: "/environment",
			Code:    "unknown_environment",
			Detail:  "Name an environment of the version.",
		})
	}
	return wrong, nil
}

// defaultEnvironment is the environment of a question that names none.
const defaultEnvironment = "prod"

func (in ExplainInput) key(tx *models.Tx, p access.Principal, project models.Project, q *policy.Question) error {
	if in.Key == "" {
		return nil
	}
	if err := access.CheckProject(p, project, access.KeyRead); err != nil {
		return err
	}
	row, err := tx.KeyByID(in.Key)
	opens := row.ProjectID == project.ID ||
		row.ProductID != nil && project.ProductID != nil && *row.ProductID == *project.ProductID
	if errors.Is(err, models.ErrNotFound) || (err == nil && !opens) {
		return fault.InvalidField("/key", "unknown_key", "Name a key of the project by its id.")
	}
	if err != nil {
		return err
	}
	q.KeyHash = (*[32]byte)(row.Hash)
	return nil
}

func (in ExplainInput) user(tx *models.Tx, p access.Principal, project models.Project, q *policy.Question) error {
	if in.User == "" {
		return nil
	}
	if err := access.CheckProject(p, project, access.UserRead); err != nil {
		return err
	}
	tenants, err := tx.TenantsOf(project.ID)
	if err != nil {
		return err
	}
	user, err := tx.EndUserByID(in.User)
	serves := slices.ContainsFunc(tenants, func(t models.Tenant) bool { return t.ID == user.TenantID })
	if errors.Is(err, models.ErrNotFound) || (err == nil && !serves) {
		return fault.InvalidField("/user", "unknown_user", "Name a user of one of the project's tenants by their id.")
	}
	if err != nil {
		return err
	}
	q.User = &policy.AskedUser{ID: user.ID, TenantID: user.TenantID, Scopes: in.Scopes}
	return nil
}
