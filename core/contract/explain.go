package contract

import "net/http"

// Question is a call that is explained without being made.
type Question struct {
	ProjectPath
	Version     string `query:"version" doc:"Name or ID of the version. Optional if there is only one version"`
	Environment string `query:"environment" doc:"Name of the environment. Optional if there is only one environment, or if one is named prod"`
	Host        string `query:"host" doc:"Custom domain that the call is sent to. If you set it, the domain and path determine the version and environment"`
	Method      string `query:"method" doc:"HTTP method. Defaults to GET"`
	Path        string `query:"path" doc:"Path under the environment's URL, such as /orders/42. For a custom domain, the complete path"`
	Key         string `query:"key" doc:"ID of the API key that the call sends"`
	User        string `query:"user" id:"user" doc:"ID of the user whose token the call sends"`
	Scopes      string `query:"scopes" doc:"Scopes of the user's token, separated by spaces"`
}

// Explanation is the gateway's decision about a call.
type Explanation struct {
	Decision string `json:"decision" enum:"allow,deny"`
	GatewayAnswer
	Steps     []ExplainedStep `json:"steps"`
	DecidedBy string          `json:"decided_by" doc:"Step or rule that determined the outcome: the name of a step, the ID of a rule, default or read_write_scopes"`
	OnExport  GatewayAnswer   `json:"on_export" doc:"Response of the exported gateway"`
}

// GatewayAnswer is the gateway's answer to a call.
type GatewayAnswer struct {
	Status int    `json:"status" doc:"Status code. 200 if the call would be forwarded"`
	Code   string `json:"code,omitempty"`
}

// Forwards reports whether the gateway forwards the call.
func (a GatewayAnswer) Forwards() bool { return a.Code == "" }

// ExplainedStep is one step of a decision.
type ExplainedStep struct {
	Step    ExplainStep `json:"step"`
	Outcome string      `json:"outcome" enum:"pass,deny,skip,would_refuse"`
	Detail  string      `json:"detail"`
}

// ExplainStep is the name of a step. Its schema lists the names.
type ExplainStep string

// Explain is the operation that explains a call.
var Explain = &Op[Question, Explanation]{Operation{
	ID: "explain", Method: http.MethodGet, Path: project + "/explain", Permission: ReadProjects,
	Summary: "Explain how the gateway would handle a call", Command: "explain PROJECT METHOD PATH",
	Example: "explain shop GET /orders/42 --key key_…",
	Doc: "Nothing is sent to the upstream. The response lists the steps of the decision, the step or rule that " +
		"determined the outcome, and how an exported gateway would respond to the same call.",
}}

var explainOperations = []Described{Explain}
