package api

import (
	"context"
	"strings"

	"postern/core/policy"
	"postern/handlers/web"
	"postern/service/projects"
)

type explainStep struct {
	Step    string `json:"step" enum:"route,authenticate,address,authorize,shadow,ownership,limits,document,validate,forward"`
	Outcome string `json:"outcome" enum:"pass,deny,skip,would_refuse"`
	Detail  string `json:"detail"`
}

type explainAnswer struct {
	Status int    `json:"status" doc:"200 stands for the upstream's answer"`
	Code   string `json:"code,omitempty"`
}

type explainOutput struct {
	Decision  string        `json:"decision" enum:"allow,deny"`
	Status    int           `json:"status" doc:"200 stands for the upstream's answer"`
	Code      string        `json:"code,omitempty"`
	Steps     []explainStep `json:"steps"`
	DecidedBy string        `json:"decided_by" doc:"A step, the id of a rule, default or read_write_scopes"`
	OnExport  explainAnswer `json:"on_export" doc:"What the exported gateway answers"`
}

func (h *Handler) explain(ctx context.Context, in *struct {
	ProjectRef
	Version     string `query:"version" doc:"Name or id; default: the only one"`
	Environment string `query:"environment" doc:"Name; default: the only one, or prod"`
	Method      string `query:"method" doc:"Default GET"`
	Path        string `query:"path" doc:"Below the environment's address, such as /orders/42"`
	Key         string `query:"key" doc:"Id of the API key that the call has"`
	User        string `query:"user" doc:"Id of the end user whose token the call has"`
	Scopes      string `query:"scopes" doc:"Of the user's token, separated by spaces"`
}) (*body[explainOutput], error) {
	found, err := h.Projects.Explain(ctx, web.Principal(ctx), in.Project, projects.ExplainInput{
		Version:     in.Version,
		Environment: in.Environment,
		Method:      in.Method,
		Path:        in.Path,
		Key:         in.Key,
		User:        in.User,
		Scopes:      strings.Fields(in.Scopes),
	})
	if err != nil {
		return nil, err
	}
	out := explainOutput{Decision: "allow", DecidedBy: found.DecidedBy, Steps: []explainStep{}}
	if found.Denial != (policy.Denial{}) {
		out.Decision = "deny"
	}
	answer, exported := answerOf(found.Denial), answerOf(found.Exported)
	out.Status, out.Code, out.OnExport = answer.Status, answer.Code, exported
	for _, step := range found.Steps {
		out.Steps = append(out.Steps, explainStep(step))
	}
	return &body[explainOutput]{out}, nil
}

func answerOf(d policy.Denial) explainAnswer {
	if d == (policy.Denial{}) {
		return explainAnswer{Status: 200}
	}
	return explainAnswer{Status: d.Status, Code: d.Code}
}
