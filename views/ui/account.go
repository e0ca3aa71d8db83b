package ui

// WithArticle is a role in a team with its article, such as: an owner.
func WithArticle(role string) string {
	if role == "owner" {
		return "an owner"
	}
	return "a " + role
}

// accountTabs are the pages of an account; current is the path of the one that is shown.
func accountTabs(current string) []Tab {
	tabs := []Tab{
		{URL: "/account", Text: "Profile"},
		{URL: "/account/password", Text: "Password"},
		{URL: "/account/sessions", Text: "Sessions"},
		{URL: "/account/signins", Text: "Linked sign-ins"},
		{URL: "/settings/tokens", Text: "Access tokens"},
		{URL: "/account/delete", Text: "Delete"},
	}
	for i := range tabs {
		tabs[i].Current = tabs[i].URL == current
	}
	return tabs
}
