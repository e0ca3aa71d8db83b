package projects

import (
	"fmt"
	"slices"

	"postern/core/contract"
	rules "postern/service/projects"
	"postern/views/ui"
)

// accessTexts are the texts of warnings about an access policy by their code. Those of the API name its members, a page
// names what the form shows. The first %s is the version, the second the fallback owner.
var accessTexts = map[string]string{
	rules.WarnPassthrough: "Version %[1]s forwards every call, with or without a key. To require keys, choose " +
		"Authenticate.",
	rules.WarnOwnerFallback: "Version %[1]s forwards calls without a key on behalf of %[2]s. To refuse them, choose " +
		"No fallback.",
	rules.WarnKeyInQuery: "Version %[1]s accepts keys in the query. URLs, including the keys in them, end up in " +
		"proxy logs and browser histories. If your callers can send a header, use one instead.",
	rules.WarnLoginUnused: "Version %[1]s doesn't accept the tokens of users who sign in. To accept them, allow JWT.",
	rules.WarnLoginNotNeeded: "Version %[1]s also forwards calls from users who haven't signed in. To refuse them, " +
		"choose Authenticate.",
}

// accessNotices returns warnings about access policies of the project with links to them.
func accessNotices(p rules.Project, list []contract.Warning) (out []ui.Notice) {
	for _, one := range list {
		n := ui.Notice{Tone: ui.Warn, Text: one.Detail}
		i := slices.IndexFunc(p.Versions, func(v rules.Version) bool { return v.ID == one.About })
		if text, ok := accessTexts[one.Code]; ok && i >= 0 {
			n.Text = fmt.Sprintf(text, p.Versions[i].Name, p.FallbackOwner)
			n.Link = ui.Link{URL: accessAction(p, p.Versions[i]), Text: "Change access"}
		}
		out = append(out, n)
	}
	return out
}
