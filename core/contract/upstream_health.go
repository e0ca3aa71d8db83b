package contract

import (
	"net/http"
	"time"
)

// UpstreamTargetHealth is a target of an environment, with its health as all gateways see it.
type UpstreamTargetHealth struct {
	Version     string `json:"version" doc:"Name of the version"`
	Environment string `json:"environment" doc:"Name of the environment"`
	URL         string `json:"url" doc:"URL that calls are forwarded to"`
	Weight      int    `json:"weight" doc:"Share of the calls, relative to the weights of the other targets"`

	Health string     `json:"health" enum:"healthy,unhealthy,open,not_checked,unknown" doc:"open: a breaker stops calls to the target. not_checked: the environment has one target, without active checks or a breaker. unknown: no gateway has reported yet"`
	Since  *time.Time `json:"since" doc:"When the target became healthy or unhealthy; null if it was never unhealthy or if the time is unknown"`
	Reason *string    `json:"reason" doc:"Last problem of a target that isn't healthy, such as status 503, timeout or connection refused"`

	Gateways          int64 `json:"gateways" doc:"Number of gateways that report on the target"`
	UnhealthyGateways int64 `json:"unhealthy_gateways" doc:"Number of gateways for which the target isn't healthy"`
}

// The health of a target.
const (
	HealthHealthy    = "healthy"
	HealthUnhealthy  = "unhealthy"
	HealthOpen       = "open" // a breaker stops calls
	HealthNotChecked = "not_checked"
	HealthUnknown    = "unknown"
)

// ListUpstreams is the operation that lists targets with their health.
var ListUpstreams = &Op[ProjectPath, List[UpstreamTargetHealth]]{Operation{
	ID: "list-upstreams", Method: http.MethodGet, Path: project + "/upstreams", Permission: ReadProjects,
	Summary: "List a project's targets and their health", Command: "upstreams list PROJECT",
	Doc: "Lists the targets of all environments. Each gateway checks targets independently. A target is unhealthy if " +
		"at least one gateway has stopped sending it calls. Gateways report changes within a second. A gateway that " +
		"hasn't reported for 30 seconds is ignored.",
}}
