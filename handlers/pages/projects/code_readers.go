package projects

import (
	"net/url"
	"strings"

	"postern/core/snapshot"
	"postern/handlers/pages/ascode"
)

// CodeReaders read the fields of versions that have their own syntax.
var CodeReaders = ascode.Readers{
	Rules: func(text string) any {
		list, _, _ := readRuleLines(text, nil)
		out := []*ascode.Object{}
		for _, rule := range list {
			out = append(out, ruleObject(rule))
		}
		return out
	},
	Transforms: func(text string) any {
		changes, _, _ := readTransformLines(text)
		return transformsObject(changes)
	},
	KeyPlaces: func(form url.Values) (any, []string) {
		out, lines := []*ascode.Object{}, []string{}
		for _, place := range keptPlaces(postedKeyPlaces(form)).In {
			one := &ascode.Object{}
			setText(one, "header", place.Header)
			setText(one, "prefix", place.Prefix)
			if place.PrefixOptional {
				one.Set("prefix_optional", true)
			}
			setText(one, "query", place.Query)
			setText(one, "cookie", place.Cookie)
			if place.WebSocketProtocol {
				one.Set("websocket_protocol", true)
			}
			out, lines = append(out, one), append(lines, place.String())
		}
		return out, lines
	},
	Issuers: func(form url.Values) (any, []string) {
		out, lines := []*ascode.Object{}, []string{}
		for _, pair := range kept(postedIssuers(form)) {
			one := &ascode.Object{}
			one.Set("iss", pair.Issuer)
			one.Set("aud", pair.Audience)
			setText(one, "jwks_url", pair.JWKSURL)
			setText(one, "tenant", pair.Tenant)
			out, lines = append(out, one), append(lines, pair.Line())
		}
		return out, lines
	},
	Endpoint: func(form url.Values) (*ascode.Object, string) {
		typed := postedIntrospection(form)
		out := &ascode.Object{}
		out.Set("endpoint", typed.Endpoint)
		setText(out, "method", string(typed.Method))
		setText(out, "client_id", typed.ClientID)
		if form.Get("introspection_secret") != "" {
			out.Set("client_secret", ascode.Placeholder("introspection_secret"))
		}
		setText(out, "iss", typed.Issuer)
		setText(out, "aud", typed.Audience)
		return out, typed.line()
	},
}

func setText(o *ascode.Object, name, text string) {
	if text != "" {
		o.Set(name, text)
	}
}

func ruleObject(rule snapshot.Rule) *ascode.Object {
	out := &ascode.Object{}
	out.Set("methods", rule.Methods)
	out.Set("path", rule.Path)
	if len(rule.Scopes) > 0 {
		out.Set("scopes", rule.Scopes)
	}
	if len(rule.Groups) > 0 {
		out.Set("groups", rule.Groups)
	}
	setText(out, "role", rule.Role)
	setText(out, "owner", rule.Owner)
	setText(out, "remember", rule.Remember)
	setText(out, "forget", rule.Forget)
	setText(out, "mode", string(rule.Mode))
	return out
}

func transformsObject(changes snapshot.Transforms) *ascode.Object {
	out := &ascode.Object{}
	eachChange(&changes, func(place changePlace) {
		member := strings.ReplaceAll(strings.TrimPrefix(place.pointer, "/"), "/", ".")
		out.Set(member, append([]string{}, *place.list...))
		if place.types != nil {
			out.Set(member+"_types", append([]string{}, *place.types...))
		}
	})
	return out
}
