package ascode

import (
	"net/url"

	"postern/core/contract"
)

const (
	keysRoute     = "/projects/:project/keys"
	keyTypesRoute = "/projects/:project/key-types"
)

var keyPages = map[string]Page{
	keysRoute: reads("list-keys", "keys list {project}", Text("keys_owner", "owner", "--owner"),
		Text("keys_state", "state", "--state"), Text("keys_tenant", "tenant", "--tenant"),
		Text("keys_type", "key_type", "--type"), Text("keys_environment", "environment", "--env"),
		Text("keys_text", "q", "--search"), sorted("keys_sort", "keys_dir", "-created", "owner", "-last_used")),
	keysRoute + "/:key":          reads("get-key", "keys list {project}"),
	keysRoute + "/:key/secret":   reads("get-key", "keys list {project}"),
	keyTypesRoute:                shows(contract.ListKeyTypes),
	keyTypesRoute + "/:key_type": shows(contract.GetKeyType),
}

var keyForms = map[string][]Call{
	keysRoute: does("create-key", "keys create {project}", Text("owner", "owner", "--owner").Need(),
		Text("key_type", "key_type", "--type"), Text("environment", "environment", "--env"),
		Text("tenant", "tenant", "--tenant"), Text("product", "product", "--product"),
		Text("description", "description", "--description"), Day("expires_on", "expires_at", "--expires"),
		keyLimits(false), PerLine("allowed", "allowed_cidrs", "--cidr")),
	keysRoute + "/change": {
		{When: is("do", "revoke"), Operation: "revoke-key", Command: "keys revoke {key} --yes", Note: eachKey},
		{When: is("do", "unfreeze"), Operation: "unfreeze-key", Command: "keys unfreeze {key}", Note: eachKey},
		{Operation: "freeze-key", Command: "keys freeze {key}", Note: eachKey},
	},
	keysRoute + "/:key": does("update-key", "keys update {key}",
		Text("description", "description", "--description").Keep(), Day("expires_on", "expires_at", "--expires").Keep(),
		keyLimits(true), anywhere),
	keysRoute + "/:key/freeze":   does("freeze-key", "keys freeze {key}"),
	keysRoute + "/:key/unfreeze": does("unfreeze-key", "keys unfreeze {key}"),
	keysRoute + "/:key/revoke":   does("revoke-key", "keys revoke {key} --yes"),
	keysRoute + "/:key/rotate": does("rotate-key", "keys rotate {key}",
		Number("grace_seconds", "grace_seconds", "--grace", 1, "s")),

	keyTypesRoute: carriesOut(contract.CreateKeyType,
		append(fieldsOf(contract.CreateKeyType, "name", "scopes", "limits"), lifetime(false))...),
	keyTypesRoute + "/:key_type": carriesOut(contract.UpdateKeyType,
		append(fieldsOf(contract.UpdateKeyType, "scopes", "limits"), lifetime(true))...),
	keyTypesRoute + "/:key_type/delete": submits(contract.DeleteKeyType),
}

const eachKey = "Once for each of the keys that are ticked."

// keyLimits are a key's own limits, none, or those of its type.
func keyLimits(stored bool) Field {
	return Func("limits_of", "limits", func(form url.Values) (any, [][]string) {
		of := form.Get("limits_of")
		own := Limits("limits_", "limits", "--limit", "", "--no-limits").Keep()
		calls, flags := own.value(form)
		none := len(flags) == 1 && flags[0][0] == "--no-limits"
		switch {
		case of == "own", of == "" && !none:
			return calls, flags
		case of == "none":
			return &Object{}, [][]string{{"--no-limits"}}
		case stored:
			return null{}, [][]string{{"--type-limits"}}
		}
		return nil, nil
	})
}

// anywhere are the addresses of a key that exists.
var anywhere = Func("allowed", "allowed_cidrs", func(form url.Values) (any, [][]string) {
	if ranges, flags := PerLine("allowed", "allowed_cidrs", "--cidr").value(form); ranges != nil {
		return ranges, flags
	}
	return []string{}, [][]string{{"--anywhere"}}
})

// lifetime is a number of days.
func lifetime(stored bool) Field {
	return Func("expires_in", "expires_in", func(form url.Values) (any, [][]string) {
		seconds, flags := Number("expires_in", "expires_in", "--expires-in", 24*60*60, "d").value(form)
		if seconds == nil && stored {
			return null{}, [][]string{{"--expires-in", "never"}}
		}
		return seconds, flags
	})
}
