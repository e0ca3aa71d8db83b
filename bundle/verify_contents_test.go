package bundle_test

import (
	"strings"
	"testing"
)

// Each case changes one file and updates the sums, as an attacker would.
func TestVerifyContents(t *testing.T) {
	cases := map[string]change{
		"item of a key gone": {
			report,
			"line 1 of " + rows + " has no item",
			report,
			`"id":"key:key_01"`,
			`"id":"key:key_99"`,
		},
		"item of grace gone": {
			report,
			"has no item",
			report,
			`"key_rotation_grace:key_08"`,
			`"key_rotation_grace:key_99"`,
		},
		"item of a version": {
			report,
			"item version:ver_2 is missing",
			report,
			`"version:ver_2"`,
			`"version:ver_9"`,
		},
		"item of a route": {
			report,
			"item route:env_1:path_form is missing",
			report,
			`"route:env_1:path_form"`,
			`"route:env_1:other"`,
		},
		"item of a limit": {
			report,
			"item rate_limits:prj_0000000000sample:ip:month is missing",
			report,
			`"rate_limits:prj_0000000000sample:ip:month"`,
			`"rate_limits:x"`,
		},
		"item of a type": {
			report,
			"item rate_limits:kty_4:month is missing",
			report,
			`"rate_limits:kty_4:month"`,
			`"rate_limits:x"`,
		},
		"item of a key's":  {report, "has no item", report, `"rate_limits:key_19:year"`, `"rate_limits:x"`},
		"item of no limit": {report, "has no item", report, `"rate_limits:key_22:none"`, `"rate_limits:x"`},
		"item of a range":  {report, "has no item", report, `"key_ip_ranges:key_20:::1/128"`, `"key_ip_ranges:x"`},
		"item of a rule": {
			report,
			"item ip_rules:ver_5:deny:127.0.0.2/32 is missing",
			report,
			`"ip_rules:ver_5:deny:127.0.0.2/32"`,
			`"ip_rules:x"`,
		},
		"item of the product": {report, "item product:prd_1 is missing", report, `"product:prd_1"`, `"product:x"`},
		"item of an owner": {
			report,
			"item owner_fallback:tnt_2 is missing",
			report,
			`"owner_fallback:tnt_2"`,
			`"owner_fallback:x"`,
		},
		"a window that is none": {project, "shape", project, `"month": 5000`, `"week": 5000`},
		"a limit of nothing":    {project, "shape", project, `"month": 5000`, `"month": 0`},
		"a range that is none":  {rows + ": line 16", "shape", rows, `"203.0.113.0/24"`, `"203.0.113.0/33"`},
		"item of usage": {
			report,
			"usage_analytics:prj_0000000000sample is missing",
			report,
			`"usage_analytics:prj_0000000000sample"`,
			`"usage_analytics:x"`,
		},
		"item twice":    {report, "twice", report, `"version:ver_2"`, `"version:ver_1"`},
		"status":        {report, `has status "great"`, report, `"status":"exact"`, `"status":"great"`},
		"summary":       {report, "does not count", report, `"exact":1`, `"exact":2`},
		"code":          {report, "no proper code", report, `"code":"data.version`, `"code":"kong.version`},
		"unknown field": {report, "shape", report, `"remedy":null`, `"cure":null`},
		"format":        {report, "another format", report, "postern-ledger/1", "postern-ledger/9"},
		"project":       {report, "another format or project", report, `"name":"shop"`, `"name":"chop"`},
		"source elsewhere": {
			"nowhere.json",
			"missing",
			report,
			`"file":"project-config.json"`,
			`"file":"nowhere.json"`,
		},
		"source pointer":  {report, "not there", report, `"/versions/1"`, `"/versions/7"`},
		"source line":     {report, "not there", report, `"pointer":"/20"`, `"pointer":"/21"`},
		"probe":           {report, "not recorded", report, `"probes":[]`, `"probes":["x"]`},
		"config field":    {project, "shape", project, `"display_name"`, `"displayed"`},
		"config document": {project, "follows", project, "\n}\n", "\n}\n{}\n"},
		"key row":         {rows + ": line 1", "shape", rows, `"owner"`, `"boss"`},
		"key row of another": {
			rows,
			"another project",
			rows,
			`"project_id":"prj_0000000000sample"`,
			`"project_id":"prj_2"`,
		},
		"key row without sum": {rows, "no SHA-256", rows, `"sha256":"`, `"sha256":"00`},
		"openapi":             {"openapi/1.0.0.json", "no JSON document", "openapi/1.0.0.json", "{", "["},
		"openapi deep": {
			"openapi/1.0.0.json",
			"nested too deeply",
			"openapi/1.0.0.json",
			`"3.0.3"`,
			strings.Repeat("[", 100) + strings.Repeat("]", 100),
		},
		"generator": {
			"MANIFEST.json", "not the name of a program",
			"MANIFEST.json", `"postern test"`, `"\u001b]0;evil\u0007"`,
		},
		"item on a terminal":   {report, "item ?[2Jx", report, `"id":"version:ver_2"`, `"id":"\u001b[2Jx"`},
		"manifest format":      {"MANIFEST.json", "format", "MANIFEST.json", "postern-bundle/2", "postern-bundle/9"},
		"manifest counts keys": {"MANIFEST.json", "counts 26 keys", "MANIFEST.json", `"keys": 25`, `"keys": 26`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := unpacked(t)
			e.refusesChange(t, c)
		})
	}
}
