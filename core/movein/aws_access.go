package movein

import (
	"slices"
	"strings"

	"postern/core/awsfile"
	"postern/core/configfile"
)

type placeholder = configfile.Placeholder

// readAccess sets the requirements of an operation's calls. A check of AWS that can't be imported closes the operation.
func (p *awsPlanner) readAccess(o *operation) {
	x := o.api.Export
	closeFor := func(e *awsfile.Entity, code, reason string) {
		o.closed = append(o.closed, reason)
		if e != nil {
			p.use(e)
			p.say(e, code)
		}
	}
	if o.Auth != "" && o.Auth != "NONE" {
		closeFor(nil, "", "callers sign their calls ("+o.Auth+")")
	}
	if o.Unreadable {
		closeFor(nil, "", "its security requirements are invalid")
	}
	for _, name := range o.Security {
		scheme := x.Schemes[name]
		switch {
		case scheme == nil:
			closeFor(nil, "", "its authorizer "+name+" isn't in the export")
		case scheme.Kind == awsfile.KindKeyScheme && x.KeySource != "" && !strings.EqualFold(x.KeySource, "HEADER"):
			closeFor(scheme, "key_scheme.authorizer", "an authorizer provides its keys")
		case scheme.Kind == awsfile.KindKeyScheme:
			o.needs = true
			p.use(scheme)
		default:
			closeFor(scheme, "authorizer", "its authorizer "+name+" can't be imported")
		}
	}
	if x.Policy != nil && !allowsAll(x.Policy.Value) {
		closeFor(x.Policy, "resource_policy.closed", "the API's resource policy can't be imported")
	}
	private := false
	for _, e := range x.Endpoints {
		if isPrivate(e.Value) {
			p.use(e)
			p.say(e, "endpoint.private")
			private = true
		}
	}
	if private || x.IsPrivate {
		closeFor(nil, "", "the API is private, so only VPC endpoints can reach it")
	}
	if e := x.Validators[o.Validator]; e != nil && validates(e.Value, o.Operation) {
		closeFor(e, "validator.closed", "AWS validates its calls ("+o.Validator+")")
	} else if e == nil && o.Validator != "" {
		closeFor(nil, "", "its validator "+o.Validator+" isn't in the export")
	}
	if len(o.Security) == 0 && len(o.closed) == 0 && !x.HasAuthorizers {
		closeFor(nil, "", "it looks public, but the export may have been created without authorizers")
	}
}

// allowsAll reports whether a resource policy allows every call.
func allowsAll(v configfile.Value) bool {
	statements := v.Get("Statement")
	list := statements.Items
	if statements.Kind == configfile.Object {
		list = []configfile.Value{statements}
	}
	allows := false
	for _, one := range list {
		principal := one.Get("Principal")
		everyone := principal.Text == "*" || slices.Contains(principal.Get("AWS").Texts(), "*")
		condition := one.Get("Condition")
		if one.Get("Effect").Text != "Allow" || condition.IsSet() &&
			(condition.Kind != configfile.Object || len(condition.Members) > 0) {
			return false
		}
		action := slices.ContainsFunc(one.Get("Action").Texts(), func(text string) bool {
			return text == "*" || text == "execute-api:*" || text == "execute-api:Invoke"
		})
		resource := slices.ContainsFunc(one.Get("Resource").Texts(), func(text string) bool {
			return text == "*" || text == "execute-api:/*" || text == "execute-api:/*/*" || text == "execute-api:/*/*/*"
		})
		allows = allows || everyone && action && resource
	}
	return allows
}

// isPrivate reports whether only VPC endpoints reach an API. A type that isn't known may be one of them.
func isPrivate(v configfile.Value) bool {
	types := v.Get("types")
	public := !slices.ContainsFunc(types.Texts(), func(text string) bool {
		return !strings.EqualFold(text, "EDGE") && !strings.EqualFold(text, "REGIONAL")
	})
	endpoints := v.Get("vpcEndpointIds")
	isList := types.Kind == configfile.List && len(types.Texts()) == len(types.Items)
	readable := !types.IsSet() || types.Kind == configfile.Text || isList
	return !readable || !public || len(endpoints.Items) > 0 || endpoints.IsSet() && endpoints.Kind != configfile.List
}

// validates reports whether a validator can refuse calls of an operation.
func validates(validator configfile.Value, o *awsfile.Operation) bool {
	body := o.Value.Get("requestBody").IsSet()
	parameters := false
	for _, one := range o.Parameters {
		switch in := one.Get("in").Text; {
		case in == "body":
			body = true
		case in == "": // its reference leads nowhere
			body, parameters = true, true
		case in != "path" && mayBeTrue(one.Get("required")):
			parameters = true
		}
	}
	return mayBeTrue(validator.Get("validateRequestBody")) && body ||
		mayBeTrue(validator.Get("validateRequestParameters")) && parameters
}

// mayBeTrue reports whether a truth value is set and isn't false: it can be a placeholder.
func mayBeTrue(v configfile.Value) bool { return v.IsSet() && v.Bool(true) }

func hasThrottle(v configfile.Value) bool {
	for _, m := range v.Members {
		if m.Name == "throttlingRateLimit" || m.Name == "ThrottlingRateLimit" {
			return m.Value.Float(-1) >= 0
		}
		if hasThrottle(m.Value) {
			return true
		}
	}
	return false
}
