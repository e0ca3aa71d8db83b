//go:build conformance

package conformance

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/testkit/sample"
	"postern/testkit/scripted"
)

// standardRequest are the fields of requests that callers send and transforms may change, with two values of each.
var standardRequest = map[string][2]string{
	"Accept":              {"text/plain", "text/html"},
	"Accept-Encoding":     {"gzip", "br"},
	"Accept-Language":     {"en", "de"},
	"Cache-Control":       {"no-cache", "max-age=0"},
	"Content-Language":    {"en", "de"},
	"Content-Range":       {"bytes 0-5/6", "bytes 0-5/7"},
	"Content-Type":        {"text/plain", "text/html"},
	"Date":                {"Tue, 15 Nov 1994 08:12:31 GMT", "Wed, 16 Nov 1994 08:12:31 GMT"},
	"Depth":               {"0", "1"},
	"Destination":         {"/a", "/b"},
	"From":                {"a@example.com", "b@example.com"},
	"If-Match":            {`"a"`, `"b"`},
	"If-Modified-Since":   {"Tue, 15 Nov 1994 08:12:31 GMT", "Wed, 16 Nov 1994 08:12:31 GMT"},
	"If-None-Match":       {`"a"`, `"b"`},
	"If-Range":            {`"a"`, `"b"`},
	"If-Unmodified-Since": {"Tue, 15 Nov 1994 08:12:31 GMT", "Wed, 16 Nov 1994 08:12:31 GMT"},
	"Overwrite":           {"T", "F"},
	"Pragma":              {"no-cache", "x"},
	"Range":               {"bytes=0-5", "bytes=0-6"},
	"Referer":             {"http://a.example/", "http://b.example/"},
	"User-Agent":          {"a", "b"},
	"X-Mine":              {"a", "b"},
}

// refusedTwice are the fields of which nginx refuses a second line.
var refusedTwice = []string{
	"Authorization", "Content-Range", "If-Match", "If-Modified-Since", "If-None-Match", "If-Range",
	"If-Unmodified-Since",
}

// standardShapes are transforms of every standard field by one operation.
func standardShapes() map[string]snapshot.Transforms {
	shape := func(operation func(names []string) snapshot.Changes) snapshot.Transforms {
		names := func(fields map[string][2]string, fixed func(string) bool) []string {
			return slices.DeleteFunc(slices.Sorted(maps.Keys(fields)), fixed)
		}
		return snapshot.Transforms{
			Request:  operation(names(standardRequest, policy.FixedRequestHeader)),
			Response: operation(names(scripted.StandardFields, policy.FixedResponseHeader)),
		}
	}
	each := func(before, after string) func([]string) []string {
		return func(names []string) (out []string) {
			for _, name := range names {
				out = append(out, before+name+after)
			}
			return out
		}
	}
	moved := func(names []string) (out []string) {
		for i, name := range names { // each gets the lines of the next
			out = append(out, "X-From-"+names[(i+1)%len(names)]+":"+name)
		}
		return out
	}
	return map[string]snapshot.Transforms{
		"none":    {},
		"remove":  shape(func(n []string) snapshot.Changes { return snapshot.Changes{Remove: n} }),
		"rename":  shape(func(n []string) snapshot.Changes { return snapshot.Changes{Rename: renames(n)} }),
		"moved":   shape(func(n []string) snapshot.Changes { return snapshot.Changes{Rename: moved(n)} }),
		"replace": shape(func(n []string) snapshot.Changes { return snapshot.Changes{Replace: each("", ":r")(n)} }),
		"add":     shape(func(n []string) snapshot.Changes { return snapshot.Changes{Add: each("", ":n")(n)} }),
		"append":  shape(func(n []string) snapshot.Changes { return snapshot.Changes{Append: each("", ":l")(n)} }),
		"twice": shape(func(n []string) snapshot.Changes {
			return snapshot.Changes{Append: slices.Concat(each("", ":l")(n), each("", ":m")(n))}
		}),
		"query": {Query: snapshot.Changes{Add: []string{"added:1"}}},
		"bodies": {
			RequestBody:  snapshot.Changes{Add: []string{"added:1"}},
			ResponseBody: snapshot.BodyChanges{Changes: snapshot.Changes{Add: []string{"added:1"}}},
		},
	}
}

func renames(names []string) (out []string) {
	for _, name := range names {
		out = append(out, name+":X-New-"+name)
	}
	return out
}

// declaredOf returns the items that declare how a case of standardCases differs. Two lines of fields that nginx reads
// once are one where no transform gives the field another value; of two lines of Accept-Ranges and Content-Range
// transforms find the last. Kong's own transformer of bodies writes headers again.
func declaredOf(shape, name string) []string {
	field, kind, _ := strings.Cut(name, " ")
	script, isAnswer := strings.CutPrefix(name, "answer standard-")
	changes := slices.Contains([]string{"remove", "rename", "replace", "append", "twice"}, shape)
	switch {
	case isAnswer && slices.Contains([]string{"accept-ranges-two", "content-range-two"}, script) && changes:
		return []string{RepeatedFields}
	case isAnswer && shape != "remove" && shape != "replace" && slices.Contains([]string{
		"etag-two", "expires-two", "last-modified-two", "location-two", "refresh-two", "status-two",
	}, script):
		return []string{RepeatedFields}
	case kind == "two lines" && slices.Contains(refusedTwice, field):
		return []string{RefusedTwice}
	case shape == "bodies" && kind == "two lines" && slices.Contains([]string{
		"Content-Type", "Range", "Referer", "User-Agent",
	}, field), shape == "bodies" && name == "User-Agent empty":
		return []string{RequestBodies}
	}
	return nil
}

// standardCases are calls with one line, two lines and an empty line of each field, also of what is renamed to it,
// and with one that Connection names; and answers of these kinds.
func standardCases(shape, k string) []Case {
	var out []Case
	for _, name := range append(slices.Sorted(maps.Keys(standardRequest)), "Authorization") {
		values := standardRequest[name]
		if name == "Authorization" {
			values = [2]string{"Basic YTpi", "Basic Yzpk"}
		}
		line := name + ": " + values[0]
		out = append(out,
			get(name+" two lines", prod+"/x", k, line, strings.ToLower(name)+": "+values[1]),
			get(name+" one line", prod+"/x", k, line), get(name+" empty", prod+"/x", k, name+":"),
			get(name+" named by Connection", prod+"/x", k, line, "Connection: close, "+name),
			get(name+" from one line", prod+"/x", k, "X-From-"+name+": 1"),
			get(name+" from two lines", prod+"/x", k, "X-From-"+name+": 1", "X-From-"+name+": 2"),
			get(name+" from an empty line", prod+"/x", k, "X-From-"+name+":"))
	}
	out = append(out, get("1001 arguments", prod+"/x?"+strings.Repeat("a=1&", 1000)+"b=2", k),
		get("2000 arguments", prod+"/x?"+strings.Repeat("a=1&b=2&", 1000), k))
	scripts := scripted.Standard()
	for _, kind := range slices.Sorted(maps.Keys(scripts)) {
		for _, s := range scripts[kind] {
			out = append(out, get("answer "+s.Name, prod+scripted.Path+s.Name, k))
		}
	}
	for i := range out {
		out[i].Differs = declaredOf(shape, out[i].Name)
		out[i].Values = shape == "bodies" // which Kong writes in another order, as the ledger says
	}
	return out
}

// Every field that may come more than once is changed in the same way by every operation, however it comes.
func TestConformanceStandardFields(t *testing.T) {
	shapes, sent := standardShapes(), 0
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		t.Run(name, func(t *testing.T) {
			up := newUpstream(t)
			project, keys := sample.Fresh(up.url, sample.RequiresKeys())
			project.Versions[0].Transforms = shapes[name]
			folder := exportOf(t, project, keys, bundle.Options{Consumers: true})
			kong, _ := startKong(t, folder, up)
			cases := standardCases(name, key(keys["active"]))
			sent += len(cases)
			run(t, cases, declarations(t, folder), startPosternOf(t, up, project, keys), kong)
		})
	}
	if t.Logf("%d requests", sent); sent < 2000 {
		t.Errorf("only %d requests", sent)
	}
}
