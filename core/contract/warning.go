package contract

// Warning is what is allowed but may surprise.
type Warning struct {
	Code   string `json:"code" doc:"Stable code, for example passthrough or no_redirect_uri"`
	Detail string `json:"detail" doc:"What happens, and how to change it"`
}
