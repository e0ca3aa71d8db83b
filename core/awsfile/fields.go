package awsfile

import (
	"strings"

	"postern/core/configfile"
)

// fields lists the fields that the reader uses, so that it can refuse values it can't read.
var fields = map[Kind][]configfile.Field{
	KindCORS: {
		{Path: "allowOrigins", Type: configfile.Texts}, {Path: "allowMethods", Type: configfile.Texts},
		{Path: "allowHeaders", Type: configfile.Texts}, {Path: "exposeHeaders", Type: configfile.Texts},
		{Path: "allowCredentials", Type: configfile.OneBool}, {Path: "maxAge", Type: configfile.OneWhole},
	},
	KindValidator: {
		{Path: "validateRequestBody", Type: configfile.OneBool},
		{Path: "validateRequestParameters", Type: configfile.OneBool},
	},
	KindPlan: { // keys are frozen if the rate or the quota isn't a number
		{Path: "throttle.rateLimit", Type: configfile.OneText},
		{Path: "throttle.burstLimit", Type: configfile.OneText},
		{Path: "quota.limit", Type: configfile.OneText}, {Path: "quota.offset", Type: configfile.OneNumber},
		{Path: "quota.period", Type: configfile.OneText},
	},
	KindKey:   {{Path: "enabled", Type: configfile.OneBool}},
	KindStage: {{Path: "cacheClusterEnabled", Type: configfile.OneBool}},
}

// integrationFields are the fields of the integrations of operations that are read.
var integrationFields = []configfile.Field{
	{Path: "type", Type: configfile.OneText}, {Path: "uri", Type: configfile.OneText},
	{Path: "httpMethod", Type: configfile.OneText}, {Path: "connectionType", Type: configfile.OneText},
	{Path: "timeoutInMillis", Type: configfile.OneWhole},
	{Path: "tlsConfig.insecureSkipVerification", Type: configfile.OneBool},
}

// checkFields returns an error if one of the entities has a value that can't be read, and notes those with placeholders
// that have no value.
func checkFields(entities []*Entity) (err error) {
	for _, e := range entities {
		of := "this " + strings.ReplaceAll(string(e.Kind), "_", " ")
		if e.Kind == KindCORS {
			of = "this CORS configuration"
		}
		if e.Unfilled, err = e.Value.CheckFields(of, fields[e.Kind]); err != nil {
			return err
		}
	}
	return nil
}
