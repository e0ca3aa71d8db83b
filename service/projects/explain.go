package projects

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/core/policy"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Explain returns this process's gateway's decision about a call, and the exported gateway's.
func (s *Service) Explain(
	ctx context.Context, p access.Principal, in contract.Question,
) (contract.Explanation, error) {
	tx := s.DB.Read(ctx)
	q, err := questionOf(tx, p, in)
	if err != nil {
		return contract.Explanation{}, fmt.Errorf("projects: explain a call of %s: %w", in.Project, err)
	}
	if s.Gateway == nil {
		return contract.Explanation{}, errors.New("projects: there is no gateway to explain calls")
	}
	found := s.Gateway(q)
	out := contract.Explanation{
		Decision:      "deny",
		GatewayAnswer: answerOf(found.Denial),
		Steps:         []contract.ExplainedStep{},
		DecidedBy:     found.DecidedBy,
		OnExport:      answerOf(found.Exported),
	}
	if out.Forwards() {
		out.Decision = "allow"
	}
	for _, step := range found.Steps {
		out.Steps = append(out.Steps, contract.ExplainedStep{
			Step: contract.ExplainStep(step.Step), Outcome: step.Outcome, Detail: step.Detail,
		})
	}
	return out, nil
}

func answerOf(d policy.Denial) contract.GatewayAnswer {
	if d == (policy.Denial{}) {
		return contract.GatewayAnswer{Status: http.StatusOK}
	}
	return contract.GatewayAnswer{Status: d.Status, Code: d.Code}
}

// questionOf returns a question and the objects that it names: the environment, the key, the user.
func questionOf(tx *models.Tx, p access.Principal, in contract.Question) (policy.Question, error) {
	project, err := access.Project(tx, p, in.Project, access.ProjectRead)
	if err != nil {
		return policy.Question{}, err
	}
	path, _, _ := strings.Cut(in.Path, "?") // rules do not look at the query
	q := policy.Question{ProjectID: project.ID, Host: in.Host, Method: strings.ToUpper(in.Method), Path: path}
	if q.Method == "" {
		q.Method = "GET"
	}
	var wrong []fault.Field
	if in.Host == "" {
		wrong, err = findTarget(tx, project, in, &q)
	} else {
		wrong, err = findHost(tx, project, in, &q)
	}
	if err != nil {
		return q, err
	}
	if in.Key != "" && in.User != "" {
		wrong = append(wrong, fault.Field{
			Pointer: "/user", Code: "one_caller", Detail: "Use a key or a user, not both.",
		})
	}
	if !validRuleMethod(q.Method) {
		wrong = append(wrong, fault.Field{
			Pointer: "/method",
			Code:    "invalid_method",
			Detail:  "Use a method such as GET. CONNECT and TRACE are never forwarded.",
		})
	}
	if q.Path != "" && q.Path[0] != '/' {
		wrong = append(wrong, fault.Field{Pointer: "/path", Code: "invalid_path", Detail: "Start the path with a " +
			"slash, as in /orders/42."})
	}
	if err := fault.InvalidFields(wrong); err != nil {
		return q, err
	}
	return q, errors.Join(askKey(tx, p, project, in.Key, &q), askUser(tx, p, project, in, &q))
}

// findHost checks that a custom domain of the project has the host of a question.
func findHost(
	tx *models.Tx, project models.Project, in contract.Question, q *policy.Question,
) (wrong []fault.Field, err error) {
	if in.Version != "" || in.Environment != "" {
		wrong = append(wrong, fault.Field{Pointer: "/host", Code: "one_address", Detail: "Use a host, or a version " +
			"and an environment. The host's custom domains determine the version and environment."})
	}
	host, ok := hostOf(in.Host)
	q.Host = host
	rows, err := tx.DomainsAt(project.ID, host)
	if err == nil && (!ok || len(rows) == 0) {
		wrong = append(wrong, fault.Field{Pointer: "/host", Code: "unknown_host", Detail: "Use the host name of one " +
			"of the project's custom domains."})
	}
	return wrong, err
}

// findTarget finds the version and the environment.
func findTarget(
	tx *models.Tx, project models.Project, in contract.Question, q *policy.Question,
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
		names := namesOf(versions, func(v models.Version) string { return v.Name })
		return []fault.Field{notAmong("/version", "This project", in.Version, names)}, nil
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
		names := namesOf(environments, func(e models.Environment) string { return e.Name })
		wrong = append(wrong, notAmong("/environment", "Version "+q.Version, in.Environment, names))
	}
	return wrong, nil
}

func namesOf[Row any](rows []Row, name func(Row) string) (names []string) {
	for _, row := range rows {
		names = append(names, name(row))
	}
	return names
}

// notAmong says which names a question can have instead of a wrong one, or that one is missing where there are several.
// of is what has them, as the subject of a sentence.
func notAmong(pointer, of, given string, names []string) fault.Field {
	noun, all := strings.TrimPrefix(pointer, "/"), strings.Join(names, ", ")
	if given == "" {
		return fault.Field{Pointer: pointer, Code: "required", Detail: of + " has several " + noun + "s: " + all + "."}
	}
	return fault.Field{
		Pointer: pointer, Code: "unknown_" + noun,
		Detail: fmt.Sprintf("%s has no %s %q. Its %ss: %s.", of, noun, given, noun, all),
	}
}

// defaultEnvironment is the environment of a question that names none.
const defaultEnvironment = "prod"

func askKey(tx *models.Tx, p access.Principal, project models.Project, id string, q *policy.Question) error {
	if id == "" {
		return nil
	}
	if err := access.CheckProject(p, project, access.KeyRead); err != nil {
		return err
	}
	row, err := tx.KeyByID(id)
	valid := row.ProjectID == project.ID ||
		row.ProductID != nil && project.ProductID != nil && *row.ProductID == *project.ProductID
	if errors.Is(err, models.ErrNotFound) || (err == nil && !valid) {
		return fault.InvalidField("/key", "unknown_key", "Use the ID of one of the project's keys.")
	}
	if err != nil {
		return err
	}
	q.KeyHash = (*[32]byte)(row.Hash)
	return nil
}

func askUser(
	tx *models.Tx, p access.Principal, project models.Project, in contract.Question, q *policy.Question,
) error {
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
		return fault.InvalidField("/user", "unknown_user", "Choose a user in one of the project's tenants.")
	}
	if err != nil {
		return err
	}
	q.User = &policy.TokenUser{ID: user.ID, TenantID: user.TenantID, Scopes: strings.Fields(in.Scopes)}
	return nil
}
