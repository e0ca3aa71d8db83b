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
	keysRoute: shows(contract.ListKeys, Text("keys_owner", "owner", "--owner"),
		Text("keys_state", "state", "--state"), Text("keys_tenant", "tenant", "--tenant"),
		Text("keys_type", "key_type", "--key-type"), Text("keys_environment", "environment", "--environment"),
		Text("keys_text", "q", "--search"), sorted("keys_sort", "keys_dir", "-created", "owner", "-last_used")),
	keysRoute + "/import":        shows(contract.ListKeyTypes),
	keysRoute + "/:key":          shows(contract.GetKey),
	keysRoute + "/:key/secret":   shows(contract.GetKey),
	keyTypesRoute:                shows(contract.ListKeyTypes),
	keyTypesRoute + "/:key_type": shows(contract.GetKeyType),
}

var keyForms = map[string][]Call{
	keysRoute: carriesOut(contract.CreateKey, allFields(contract.CreateKey, keyLimits(false), keyMetadata(false))...),
	keysRoute + "/change": {
		{When: is("do", "revoke"), Operation: "revoke-key", Command: "keys revoke {key} --yes", Note: eachKey},
		{When: is("do", "unfreeze"), Operation: "unfreeze-key", Command: "keys unfreeze {key}", Note: eachKey},
		{Operation: "freeze-key", Command: "keys freeze {key}", Note: eachKey},
	},
	keysRoute + "/import":         keyImport(),
	keysRoute + "/import/preview": keyImport(Fixed("dry_run", true, "--dry-run")),
	keysRoute + "/check":          carriesOut(contract.CheckKey, Secret("secret", "key", "").Need()),
	keysRoute + "/:key": carriesOut(contract.UpdateKey,
		allFields(contract.UpdateKey, keyLimits(true), keyMetadata(true))...),
	keysRoute + "/:key/freeze":   submits(contract.FreezeKey),
	keysRoute + "/:key/unfreeze": submits(contract.UnfreezeKey),
	keysRoute + "/:key/revoke":   does("revoke-key", "keys revoke {key} --yes"),
	keysRoute + "/:key/rotate": carriesOut(contract.RotateKey,
		Number("grace_seconds", "grace_seconds", "--grace", 1, "s")),

	keyTypesRoute: carriesOut(contract.CreateKeyType, allFields(contract.CreateKeyType, lifetime(false))...),
	keyTypesRoute + "/:key_type": carriesOut(contract.UpdateKeyType,
		allFields(contract.UpdateKeyType, lifetime(true))...),
	keyTypesRoute + "/:key_type/delete": submits(contract.DeleteKeyType),
}

// keyMetadata is an object of JSON. An empty field removes what is stored, and text that isn't an object is left out.
func keyMetadata(stored bool) Field {
	return Func("metadata", "metadata", func(form url.Values) (any, [][]string) {
		metadata := contract.ParseMetadata(form.Get("metadata"))
		if !metadata.Valid() || metadata == "" && !stored {
			return nil, nil
		}
		text, err := metadata.MarshalJSON()
		if err != nil {
			return nil, nil
		}
		return metadata, [][]string{{"--metadata", string(text)}}
	})
}

const eachKey = "Run this once for each selected key."

// keyImport is the import of a file with the fields of its form, and more of them.
func keyImport(more ...Field) []Call {
	mapping := Func("map", "map", func(form url.Values) (any, [][]string) {
		lines, flags := PerLine("map", "map", "--map").value(form)
		texts, ok := lines.([]string)
		if !ok {
			return nil, nil
		}
		return repeated(texts), flags
	})
	return []Call{{
		Operation: contract.ImportKeys.ID, Command: "keys import {project} FILE",
		Query: append([]Field{
			Text("key_type", "key_type", "--key-type"), mapping, Bool("update", "update", "--update"),
			Bool("allow_weak", "allow_weak", "--allow-weak"),
		}, more...),
		Body: func(url.Values) any { return Raw("@FILE") },
	}}
}

// keyLimits are a key's own limits, none, or those of its type.
func keyLimits(stored bool) Field {
	return Func("limits_of", "limits", func(form url.Values) (any, [][]string) {
		own, flags := limitsField("limits", "--limits").Keep().value(form)
		none := flags[0][1] == "none"
		switch of := form.Get("limits_of"); {
		case of == "own", of == "" && !none:
			return own, flags
		case of == "none":
			return &Object{}, [][]string{{"--limits", "none"}}
		case stored:
			return null{}, [][]string{{"--limits", "type"}}
		}
		return nil, nil
	}).With(windowsOf("limits_")...)
}

// lifetime is a number of days.
func lifetime(stored bool) Field {
	return Func("expires_in", "expires_in", func(form url.Values) (any, [][]string) {
		seconds, flags := Number("expires_in", "expires_in", "--expires", 24*60*60, "d").value(form)
		if seconds == nil && stored {
			return null{}, [][]string{{"--expires", "never"}}
		}
		return seconds, flags
	})
}
