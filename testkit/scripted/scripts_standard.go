package scripted

import (
	"slices"
	"strings"
)

// StandardFields are the fields of answers, by name, that upstreams send and transforms may change, each with two
// values of it.
var StandardFields = map[string][2]string{
	"Accept-Ranges":       {"bytes", "none"},
	"Age":                 {"1", "2"},
	"Allow":               {"GET", "HEAD"},
	"Cache-Control":       {"no-store", "private"},
	"Content-Disposition": {"inline", "attachment"},
	"Content-Language":    {"en", "de"},
	"Content-Location":    {"/a", "/b"},
	"Content-Range":       {"bytes 0-5/6", "bytes 0-5/7"},
	"ETag":                {`"a"`, `"b"`},
	"Expires":             {"0", "Wed, 21 Oct 2037 07:28:00 GMT"},
	"Last-Modified":       {"Tue, 15 Nov 1994 08:12:31 GMT", "Wed, 16 Nov 1994 08:12:31 GMT"},
	"Link":                {"</a>; rel=next", "</b>; rel=prev"},
	"Location":            {"/a", "http://b.example/"},
	"Pragma":              {"no-cache", "x"},
	"Refresh":             {"1", "2; url=/x"},
	"Status":              {"200 OK", "404 Not Found"},
	"X-Mine":              {"a", "b"},
}

// Standard returns answers with one line, two lines and an empty line of each of the fields, by what is said after
// the name.
func Standard() map[string][]Script {
	out := map[string][]Script{}
	for name, values := range StandardFields {
		script := "standard-" + strings.ToLower(name)
		out["one"] = append(out["one"], with(script+"-one", name+": "+values[0]))
		out["two"] = append(out["two"], with(script+"-two", name+": "+values[0], name+": "+values[1]))
		out["empty"] = append(out["empty"], with(script+"-empty", name+":"))
	}
	for _, scripts := range out {
		sorted(scripts)
	}
	return out
}

func standard() []Script {
	all := Standard()
	return slices.Concat(all["one"], all["two"], all["empty"])
}
