package bundle_test

import (
	"strings"
	"testing"
)

// inLedger is a change of the ledger that the error blames on the ledger.
func inLedger(says, old, replacement string) change {
	return change{entry: report, says: says, file: report, old: old, new: replacement}
}

// missingItems rename the item that the ledger must have for something in the bundle.
var missingItems = map[string]change{
	"a key gone": inLedger("has no item for line 1 of "+rows, `"id":"key:key_01"`, `"id":"key:key_99"`),
	"grace gone": inLedger("has no item", `"key_rotation_grace:key_08"`, `"key_rotation_grace:key_99"`),
	"a version":  inLedger("item version:ver_2 is missing", `"version:ver_2"`, `"version:ver_9"`),
	"a route":    inLedger("item route:env_1:path_form is missing", `"route:env_1:path_form"`, `"route:env_1:other"`),
	"a limit": inLedger(
		"item rate_limits:prj_0000000000sample:ip:month is missing",
		`"rate_limits:prj_0000000000sample:ip:month"`,
		`"rate_limits:x"`,
	),
	"a type":   inLedger("item rate_limits:kty_4:month is missing", `"rate_limits:kty_4:month"`, `"rate_limits:x"`),
	"a key's":  inLedger("has no item", `"rate_limits:key_19:year"`, `"rate_limits:x"`),
	"no limit": inLedger("has no item", `"rate_limits:key_22:none"`, `"rate_limits:x"`),
	"a range":  inLedger("has no item", `"key_ip_ranges:key_20:::1/128"`, `"key_ip_ranges:x"`),
	"a rule": inLedger(
		"item ip_rules:ver_5:deny:127.0.0.2/32 is missing",
		`"ip_rules:ver_5:deny:127.0.0.2/32"`,
		`"ip_rules:x"`,
	),
	"the product": inLedger("item product:prd_1 is missing", `"product:prd_1"`, `"product:x"`),
	"an owner":    inLedger("item owner_fallback:tnt_2 is missing", `"owner_fallback:tnt_2"`, `"owner_fallback:x"`),
	"usage": inLedger(
		"usage_analytics:prj_0000000000sample is missing",
		`"usage_analytics:prj_0000000000sample"`,
		`"usage_analytics:x"`,
	),
}

// spoiledLedger are changes of what the ledger states.
var spoiledLedger = map[string]change{
	"item twice":         inLedger("twice", `"version:ver_2"`, `"version:ver_1"`),
	"status":             inLedger(`has status "great"`, `"status":"exact"`, `"status":"great"`),
	"summary":            inLedger("doesn't match its items", `"exact":1`, `"exact":2`),
	"code":               inLedger("doesn't have a valid code", `"code":"data.version`, `"code":"kong.version`),
	"unknown field":      inLedger("expected format", `"remedy":null`, `"cure":null`),
	"format":             inLedger("a different format", "postern-ledger/1", "postern-ledger/9"),
	"project":            inLedger("a different format or project", `"name":"shop"`, `"name":"chop"`),
	"source pointer":     inLedger("doesn't exist", `"/versions/1"`, `"/versions/7"`),
	"source line":        inLedger("doesn't exist", `"pointer":"/20"`, `"pointer":"/21"`),
	"probe":              inLedger("isn't recorded", `"probes":[]`, `"probes":["x"]`),
	"item on a terminal": inLedger("item ?[2Jx", `"id":"version:ver_2"`, `"id":"\u001b[2Jx"`),
}

// spoiledFiles are changes that the error blames on another file than the ledger.
var spoiledFiles = map[string]change{
	"an unknown window":  {project, "isn't a valid limit", project, `"month": 5000`, `"week": 5000`},
	"a limit of nothing": {project, "isn't a valid limit", project, `"month": 5000`, `"month": 0`},
	"an invalid range":   {rows + ": line 16", "isn't an address range", rows, `"203.0.113.0/24"`, `"203.0.113.0/33"`},
	"source elsewhere": {
		entry: "nowhere.json",
		says:  "missing",
		file:  report,
		old:   `"file":"project-config.json"`,
		new:   `"file":"nowhere.json"`,
	},
	"a name twice": {
		project,
		"two fields with the same name",
		project,
		`"name": "shop"`,
		`"name": "chop", "name": "shop"`,
	},
	"a name twice, in two spellings": {
		entry: project,
		says:  "two fields with the same name",
		file:  project,
		old:   `"name": "shop"`,
		new:   `"NAME": "chop", "name": "shop"`,
	},
	"a name twice in a row": {rows, "two fields with the same name", rows, `"owner":"`, `"OWNER":"eve","owner":"`},
	"config field":          {project, "expected format", project, `"display_name"`, `"displayed"`},
	"config document":       {project, "more text after the document", project, "\n}\n", "\n}\n{}\n"},
	"key row":               {rows + ": line 1", "expected format", rows, `"owner"`, `"boss"`},
	"key row of another": {
		entry: rows,
		says:  "another project",
		file:  rows,
		old:   `"project_id":"prj_0000000000sample"`,
		new:   `"project_id":"prj_2"`,
	},
	"key row without sum": {rows, "doesn't have a SHA-256", rows, `"sha256":"`, `"sha256":"00`},
	"openapi":             {"openapi/1.0.0.json", "not a JSON document", "openapi/1.0.0.json", "{", "["},
	"openapi deep": {
		entry: "openapi/1.0.0.json",
		says:  "nested more than 100 levels deep",
		file:  "openapi/1.0.0.json",
		old:   `"3.0.3"`,
		new:   strings.Repeat("[", 100) + strings.Repeat("]", 100),
	},
	"generator": {
		entry: manifest,
		says:  "n't the name of a program",
		file:  manifest,
		old:   `"postern test"`,
		new:   `"\u001b]0;evil\u0007"`,
	},
	"another format": {manifest, "isn't a Postern export", manifest, "postern-bundle/", "other-bundle/"},
	"unknown edition": {
		entry: manifest,
		says: `the zip has edition "2", but this version of Postern reads edition 1: use the version that wrote the ` +
			"zip, or export the project again with this version",
		file: manifest,
		old:  `"postern-bundle/1",`,
		new:  `"postern-bundle/2", "member of edition 2": true,`,
	},
	"edition that is not a number": {manifest, `edition "01"`, manifest, "postern-bundle/1", "postern-bundle/01"},
	"manifest counts keys":         {manifest, "counts 26 keys", manifest, `"keys": 25`, `"keys": 26`},
}

// Each case changes one file and updates the sums, as an attacker would.
func TestVerify_contents(t *testing.T) {
	for _, c := range []struct {
		subject string
		changes map[string]change
	}{
		{"missing item", missingItems},
		{"ledger", spoiledLedger},
		{"other file", spoiledFiles},
	} {
		for name, change := range c.changes {
			t.Run(c.subject+"/"+name, func(t *testing.T) {
				e := unpacked(t)
				e.refusesChange(t, change)
			})
		}
	}
}
