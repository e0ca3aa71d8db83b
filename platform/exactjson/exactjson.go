// Package exactjson decodes JSON that identity providers and token issuers wrote: discovery documents, key sets,
// tokens, userinfo and introspection.
//
// It owns how names are read, and leaves to its callers what they mean. The plugin of exported gateways reads the same
// (bundle/kong/plugin/json.lua): testdata/names.txt is tested in both.
package exactjson

import "github.com/go-jose/go-jose/v4/json"

// Unmarshal decodes JSON (RFC 8259). Names are compared byte by byte, and a name that an object repeats is an error at
// any depth, also where out has no place for it: another reader could take the other value. encoding/json ignores case,
// and takes the last. An error may quote the text.
func Unmarshal(text []byte, out any) error {
	var all any // objects that out has no place for are skipped with their names
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	return json.Unmarshal(text, out)
}
