package contract

// Warning is about a setting that is allowed but may have surprising effects. It doesn't stop the change: responses
// list it along with the result.
type Warning struct {
	Code   string `json:"code" doc:"Stable code, such as passthrough or no_redirect_uri"`
	Detail string `json:"detail" doc:"Effect of the setting, and how to change it"`
	About  string `json:"-"` // ID of the object that it is about, for a page to link to; "" for none
}
