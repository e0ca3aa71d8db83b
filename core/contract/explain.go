package contract

import "net/http"

// Question is a call that is explained without being made.
type Question struct {
	ProjectPath
	Version     string `query:"version" doc:"Version, by name or id; default: the only one"`
	Environment string `query:"environment" doc:"Environment, by name; default: the only one, or prod"`
	Method      string `query:"method" doc:"Default GET"`
	Path        string `query:"path" doc:"Below the environment's address, such as /orders/42"`
	Key         string `query:"key" doc:"Id of the API key that the call has"`
	User        string `query:"user" doc:"Id of the end user whose token the call has"`
	Scopes      string `query:"scopes" doc:"Scopes of the user's token, separated by spaces"`
}

// Explanation is what the gateway decides about a call.
type Explanation struct {
	Decision string `json:"decision" enum:"allow,deny"`
	GatewayAnswer
	Steps     []ExplainedStep `json:"steps"`
	DecidedBy string          `json:"decided_by" doc:"A step, the id of a rule, default or read_write_scopes"`
	OnExport  GatewayAnswer   `json:"on_export" doc:"What the exported gateway answers"`
}

// GatewayAnswer is what a gateway answers to a call.
type GatewayAnswer struct {
	Status int    `json:"status" doc:"200 stands for the upstream's answer"`
	Code   string `json:"code,omitempty"`
}

// Forwards reports whether the gateway forwards the call.
func (a GatewayAnswer) Forwards() bool { return a.Code == "" }

// ExplainedStep is one step of a decision.
type ExplainedStep struct {
	Step    string `json:"step" enum:"route,authenticate,address,authorize,shadow,ownership,limits,document,validate,forward"`
	Outcome string `json:"outcome" enum:"pass,deny,skip,would_refuse"`
	Detail  string `json:"detail"`
}

// Explain is the operation that explains a call.
var Explain = Op[Question, Explanation]{Operation{
	ID: "explain", Method: http.MethodGet, Path: project + "/explain", Permission: ReadProjects,
	Summary: "Explain what the gateway answers to a call", Command: "explain PROJECT METHOD PATH",
	Example: "explain shop GET /orders/42 --key key_…",
	Doc: "Nothing is sent to the upstream. The answer has each step of the decision and what decided, and what an " +
		"exported gateway would answer to the same call.",
}}

var explainOperations = []Described{Explain}
