package awsfile

import (
	"cmp"
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
	x.readServers()
	x.Name = cmp.Or(x.Title, x.ID, "api")
	f.readSchemes(x)
	f.readExtensions(x)
	for _, path := range root.Get("paths").Members {
		for _, member := range path.Value.Members {
			if slices.Contains(methods, member.Name) {
				f.readOperation(x, path, member)
			}
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
			base = server.Get("variables", "basePath", "default").Text
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

func isExecuteAPI(host string) bool { return executeAPI.MatchString(host) }

// readServers reads the API's ID and its custom domain names.
func (x *Export) readServers() {
	add := func(host, base string) {
		if found := executeAPI.FindStringSubmatch(host); found != nil {
			x.ID = found[1]
			return
		}
		if _, err := url.Parse("https://" + host); host == "" || err != nil || strings.ContainsAny(host, "{}") {
			return
		}
		base = strings.Trim(base, "/")
		if base != "" {
			base = "/" + base
		}
		x.Hosts = append(x.Hosts, Host{Name: strings.ToLower(host), Prefix: base})
	}
	add(x.root.Get("host").Text, x.root.Get("basePath").Text)
	for _, server := range x.root.Get("servers").Items {
		_, base, _ := strings.Cut(strings.TrimPrefix(server.Get("url").Text, "https://"), "/")
		add(hostOf(server), strings.ReplaceAll(base, "{basePath}", server.Get("variables", "basePath", "default").Text))
	}
}

// readSchemes reads authorizers and key schemes.
func (f *Files) readSchemes(x *Export) {
	for _, path := range []string{"securityDefinitions", "components/securitySchemes"} {
		for _, scheme := range x.root.Get(strings.Split(path, "/")...).Members {
			v := scheme.Value
			kind := KindAuthorizer
			if v.Get("type").Text == "apiKey" && !v.Get(prefix+"authtype").IsSet() &&
				!v.Get(prefix+"authorizer").IsSet() && strings.EqualFold(v.Get("name").Text, "x-api-key") {
				kind = KindKeyScheme
			} else {
				x.HasAuthorizers = true
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
			x.Endpoint = f.add(KindEndpoint, "endpoint", at, m.Value)
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

func (f *Files) readOperation(x *Export, path, member configfile.Member) {
	v := member.Value
	method := strings.ToUpper(member.Name)
	if strings.HasSuffix(member.Name, "any-method") {
		method = "ANY"
	}
	o := &Operation{
		Entity: f.add(KindOperation, method+" "+path.Name,
			x.pointer+"/paths/"+Escape(path.Name)+"/"+Escape(member.Name), v),
		Method: method, Path: path.Name, Integration: x.resolved(v.Get(prefix + "integration")),
		Auth:      cmp.Or(v.Get(prefix+"auth", "type").Text, x.root.Get(prefix+"auth", "type").Text),
		Validator: cmp.Or(v.Get(prefix+"request-validator").Text, x.Validator),
	}
	security := v.Get("security")
	if !security.IsSet() {
		security = x.root.Get("security")
	}
	for _, requirement := range security.Items {
		for _, one := range requirement.Members {
			o.Security = append(o.Security, one.Name)
		}
	}
	x.Operations = append(x.Operations, o)
}

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
