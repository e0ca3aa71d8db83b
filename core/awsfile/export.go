package awsfile

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"postern/core/configfile"
	"postern/core/filelimits"
)

const prefix = "x-amazon-apigateway-"

// The members of a path that are methods.
var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", prefix + "any-method"}

// readExport reads the export of a stage.
func (f *Files) readExport(root configfile.Value, pointer string) error {
	x := &Export{
		Title: root.Get("info", "title").Text, Stage: stageOf(root), Schemes: map[string]*Entity{},
		Validators: map[string]*Entity{}, Validator: root.Get(prefix + "request-validator").Text,
		KeySource: root.Get(prefix + "api-key-source").Text, root: root, pointer: pointer,
	}
	x.Entity = f.add(KindAPI, "", pointer+"/info", root.Get("info"))
	f.readServers(x)
	x.Name = cmp.Or(x.Title, x.ID, "api")
	f.readSchemes(x)
	f.readExtensions(x)
	for _, path := range root.Get("paths").Members {
		if err := f.readPath(x, path); err != nil {
			return err
		}
		if int64(len(x.Operations)) > filelimits.KongRoutes.Most {
			return configfile.Beyond(filelimits.KongRoutes)
		}
	}
	for _, one := range []string{"definitions", "components/schemas"} {
		for _, model := range root.Get(strings.Split(one, "/")...).Members {
			f.add(KindModel, model.Name, pointer+"/"+one+"/"+Escape(model.Name), model.Value)
		}
	}
	if !slices.ContainsFunc(x.Operations, func(o *Operation) bool { return o.Integration.Get("type").IsSet() }) {
		return configfile.Refuse(root.Get("paths").Line, "The export doesn't contain the targets of its operations. "+
			"Export the API again: %s", Command)
	}
	f.Exports = append(f.Exports, x)
	return nil
}

// stageOf returns the stage of an export. HTTP APIs have a stage without a name.
func stageOf(root configfile.Value) string {
	base := root.Get("basePath").Text
	for _, server := range root.Get("servers").Items {
		if base == "" && isExecuteAPI(hostOf(server)) {
			base = baseOf(server)
		}
	}
	return strings.Trim(base, "/")
}

func hostOf(server configfile.Value) string {
	text := server.Get("url").Text
	if _, rest, found := strings.Cut(text, "://"); found {
		text = rest
	}
	host, _, _ := strings.Cut(text, "/")
	return host
}

// baseOf returns the path of a server's URL.
func baseOf(server configfile.Value) string {
	address, host := server.Get("url").Text, hostOf(server)
	_, base, _ := strings.Cut(address[strings.Index(address, host)+len(host):], "/")
	return strings.ReplaceAll(base, "{basePath}", server.Get("variables", "basePath", "default").Text)
}

func isExecuteAPI(host string) bool { return executeAPI.MatchString(host) }

// idOf returns the ID of an API, "" if the export has custom domain names only.
func idOf(root configfile.Value) string {
	hosts := []string{root.Get("host").Text}
	for _, server := range root.Get("servers").Items {
		hosts = append(hosts, hostOf(server))
	}
	for _, host := range hosts {
		if found := executeAPI.FindStringSubmatch(host); found != nil {
			return found[1]
		}
	}
	return ""
}

// readServers reads the API's ID, its custom domain names, and the endpoint settings that OpenAPI 3.0 has in a server.
func (f *Files) readServers(x *Export) {
	x.ID = idOf(x.root)
	add := func(host, base string) {
		if strings.Contains(host, "-vpce-") || strings.Contains(host, ".vpce.") {
			x.IsPrivate = true
		}
		if _, err := url.Parse("https://" + host); host == "" || err != nil || strings.ContainsAny(host, "{}") ||
			amazonHost.MatchString(host) {
			return
		}
		base = strings.Trim(base, "/")
		if base != "" {
			base = "/" + base
		}
		if one := (Host{Name: strings.ToLower(host), Prefix: base}); !slices.Contains(x.Hosts, one) {
			x.Hosts = append(x.Hosts, one)
		}
	}
	add(x.root.Get("host").Text, x.root.Get("basePath").Text)
	for i, server := range x.root.Get("servers").Items {
		add(hostOf(server), baseOf(server))
		if v := server.Get(prefix + "endpoint-configuration"); v.IsSet() {
			at := fmt.Sprintf("%s/servers/%d/%sendpoint-configuration", x.pointer, i, prefix)
			x.Endpoints = append(x.Endpoints, f.add(KindEndpoint, "endpoint", at, v))
		}
	}
}

// readSchemes reads authorizers and key schemes.
func (f *Files) readSchemes(x *Export) {
	for _, path := range []string{"securityDefinitions", "components/securitySchemes"} {
		for _, scheme := range x.root.Get(strings.Split(path, "/")...).Members {
			v := x.resolved(scheme.Value)
			kind := KindAuthorizer
			switch {
			case v.Get(prefix + "authtype").IsSet(), v.Get(prefix + "authorizer").IsSet():
				x.HasAuthorizers = true
			case v.Get("type").Text == "apiKey" && v.Get("in").Text == "header" &&
				strings.EqualFold(v.Get("name").Text, "x-api-key"):
				kind = KindKeyScheme
			}
			x.Schemes[scheme.Name] = f.add(kind, scheme.Name, x.pointer+"/"+path+"/"+Escape(scheme.Name), v)
		}
	}
}

// readExtensions reads the extensions of an API that aren't part of an operation.
func (f *Files) readExtensions(x *Export) {
	for _, m := range x.root.Members {
		name, found := strings.CutPrefix(m.Name, prefix)
		at := x.pointer + "/" + Escape(m.Name)
		switch {
		case !found || !m.Value.IsSet() || name == "request-validator" || name == "api-key-source":
		case name == "policy":
			x.Policy = f.add(KindPolicy, "resource policy", at, m.Value)
		case name == "endpoint-configuration":
			x.Endpoints = append(x.Endpoints, f.add(KindEndpoint, "endpoint", at, m.Value))
		case name == "cors":
			x.CORS, x.IsHTTP = f.add(KindCORS, "CORS", at, m.Value), true
		case name == "request-validators":
			for _, one := range m.Value.Members {
				x.Validators[one.Name] = f.add(KindValidator, one.Name, at+"/"+Escape(one.Name), one.Value)
			}
		case name == "gateway-responses":
			for _, one := range m.Value.Members {
				f.add(KindResponse, one.Name, at+"/"+Escape(one.Name), one.Value)
			}
		case name == "importexport-version": // of HTTP APIs, whose exports have everything
			x.IsHTTP, x.HasAuthorizers = true, true
		default:
			f.add(KindSetting, m.Name, at, m.Value)
		}
	}
}

// readPath reads the operations of a path. If its reference leads nowhere, it has one for all methods that has no
// target: calls must not reach the operation of a wider path.
func (f *Files) readPath(x *Export, path configfile.Member) error {
	v := x.resolved(path.Value)
	if v.Get("$ref").IsSet() {
		return f.readOperation(x, path.Name, configfile.Value{},
			configfile.Member{Name: methods[len(methods)-1], Value: v})
	}
	for _, member := range v.Members {
		if slices.Contains(methods, strings.ToLower(member.Name)) {
			if err := f.readOperation(x, path.Name, v, member); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *Files) readOperation(
	x *Export, path string, item configfile.Value, member configfile.Member,
) (err error) {
	v := member.Value
	method := strings.ToUpper(member.Name)
	if strings.HasSuffix(method, "ANY-METHOD") {
		method = "ANY"
	}
	o := &Operation{
		Entity: f.add(KindOperation, method+" "+path, x.pointer+"/paths/"+Escape(path)+"/"+Escape(member.Name), v),
		Method: method, Path: path, Integration: x.resolved(v.Get(prefix + "integration")),
		Auth:      cmp.Or(authOf(v.Get(prefix+"auth")), authOf(x.root.Get(prefix+"auth"))),
		Validator: cmp.Or(v.Get(prefix+"request-validator").Text, x.Validator),
	}
	for _, list := range []configfile.Value{item.Get("parameters"), v.Get("parameters")} {
		for _, one := range list.Items {
			o.Parameters = append(o.Parameters, x.resolved(one))
		}
	}
	security := v.Get("security")
	if !security.IsSet() {
		security = x.root.Get("security")
	}
	o.Unreadable = security.IsSet() && security.Kind != configfile.List
	for _, requirement := range security.Items {
		o.Unreadable = o.Unreadable || requirement.Kind != configfile.Object
		for _, one := range requirement.Members {
			o.Security = append(o.Security, one.Name)
		}
	}
	x.Operations = append(x.Operations, o)
	o.UnfilledTarget, err = o.Integration.CheckFields("this integration", integrationFields)
	return err
}

// authOf returns a type of authentication, unknownAuth if it doesn't have one.
func authOf(v configfile.Value) string {
	if v.IsSet() {
		return cmp.Or(v.Get("type").Text, unknownAuth)
	}
	return ""
}

const unknownAuth = "unknown"

// resolved returns what a reference within the file refers to.
func (x *Export) resolved(v configfile.Value) configfile.Value {
	ref, found := strings.CutPrefix(v.Get("$ref").Text, "#/")
	if !found {
		return v
	}
	path := strings.Split(ref, "/")
	for i := range path {
		path[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(path[i])
	}
	return x.root.Get(path...)
}
