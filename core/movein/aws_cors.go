package movein

import (
	"slices"
	"strings"

	"postern/core/configfile"
	"postern/core/contract"
)

// readCORS returns the CORS of an API: of its settings, or of the mocks that answer preflights if all allow the same
// origins.
func (p *awsPlanner) readCORS(a *api) *contract.CORS {
	if a.CORS != nil {
		return p.corsOfSettings(a)
	}
	out := &contract.CORS{Origins: []string{}, Methods: []string{}, Headers: []string{}, ExposedHeaders: []string{}}
	origin := ""
	for _, o := range a.operations {
		if !o.isCORS {
			continue
		}
		headers := preflightHeaders(o.Integration)
		switch own := headers["access-control-allow-origin"]; {
		case own == "" || origin != "" && own != origin:
			return nil
		default:
			origin = own
		}
		out.Methods = withTexts(out.Methods, upperAll(listed(headers["access-control-allow-methods"])))
		out.Headers = withTexts(out.Headers, listed(headers["access-control-allow-headers"]))
		out.Credentials = headers["access-control-allow-credentials"] == "true" && origin != "*"
	}
	if origin != "*" && !plainOrigin.MatchString(origin) {
		return nil
	}
	out.Origins = []string{origin}
	if slices.Contains(out.Headers, "*") {
		out.Headers = []string{}
	}
	if slices.Contains(out.Methods, "*") {
		out.Methods = []string{}
	}
	return out
}

func (p *awsPlanner) corsOfSettings(a *api) *contract.CORS {
	v := a.CORS.Value
	p.use(a.CORS)
	if len(a.CORS.Unfilled) > 0 {
		p.need(v)
		p.say(a.CORS, "cors.unfilled", a.CORS.Unfilled...)
		return nil
	}
	out := &contract.CORS{
		Origins: []string{}, Methods: upperAll(v.Get("allowMethods").Texts()), Headers: listOf(v.Get("allowHeaders")),
		ExposedHeaders: listOf(v.Get("exposeHeaders")), Credentials: v.Get("allowCredentials").Bool(false),
	}
	for _, origin := range v.Get("allowOrigins").Texts() {
		switch {
		case origin == "*":
			out.Origins = []string{"*"}
		case plainOrigin.MatchString(origin) && !slices.Contains(out.Origins, "*"):
			out.Origins = append(out.Origins, origin)
		case !plainOrigin.MatchString(origin):
			p.say(a.CORS, "cors.origins", origin)
		}
	}
	for _, list := range []*[]string{&out.Methods, &out.Headers} {
		if slices.Contains(*list, "*") {
			*list = []string{}
		}
	}
	if slices.Contains(out.ExposedHeaders, "*") {
		out.ExposedHeaders = []string{}
		p.say(a.CORS, "cors.exposed")
	}
	if age := v.Get("maxAge"); age.IsSet() {
		out.MaxAge = new(min(max(age.Int(0), 0), maxCORSAge))
	}
	if slices.Contains(out.Origins, "*") && out.Credentials {
		out.Credentials = false
		p.say(a.CORS, "cors.credentials")
	}
	if len(out.Origins) == 0 {
		p.say(a.CORS, "cors.none")
		return nil
	}
	return out
}

// listed returns the elements of a list in a header.
func listed(text string) (out []string) {
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); one != "" {
			out = append(out, one)
		}
	}
	return out
}

func withTexts(list, more []string) []string {
	for _, one := range more {
		if !slices.ContainsFunc(list, func(own string) bool { return strings.EqualFold(own, one) }) {
			list = append(list, one)
		}
	}
	return list
}

// preflightHeaders returns the CORS headers that the answer of a mock has, by their names in lowercase.
func preflightHeaders(v configfile.Value) map[string]string {
	out := map[string]string{}
	for _, response := range v.Get("responses").Members {
		for _, m := range response.Value.Get("responseParameters").Members {
			name := strings.ToLower(strings.TrimPrefix(m.Name, "method.response.header."))
			if strings.HasPrefix(name, "access-control-") {
				out[name] = strings.Trim(m.Value.Text, "'")
			}
		}
	}
	return out
}
