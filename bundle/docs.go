package bundle

import _ "embed" // the sections below

// The sections of SCHEMA.md that need more than one line. Verify compares them, so changing them changes the format;
// see Edition.
var (
	//go:embed docs/project-config.json.md
	configDoc string
	//go:embed docs/keys.jsonl.md
	keysDoc string
	//go:embed docs/minted.csv.md
	mintedDoc string
	//go:embed docs/MIGRATION-REPORT.json.md
	reportDoc string
	//go:embed docs/MANIFEST.json.md
	manifestDoc string
	//go:embed docs/openapi.json.md
	openAPIDoc string
	//go:embed docs/clients.json.md
	clientsFileDoc string
	//go:embed docs/signup.json.md
	signupFileDoc string
	//go:embed docs/groups.json.md
	groupsFileDoc string
	//go:embed docs/users.jsonl.md
	usersDoc string
	//go:embed docs/issuers.json.md
	issuersFileDoc string
	//go:embed docs/providers.json.md
	providersFileDoc string
	//go:embed docs/rules.json.md
	rulesFileDoc string
	//go:embed docs/relations.jsonl.md
	relationsDoc string
	//go:embed docs/model.fga.md
	modelDSLDoc string
	//go:embed docs/model.json.md
	modelJSONDoc string
	//go:embed docs/tuples.json.md
	tuplesFileDoc string
	//go:embed docs/store.fga.yaml.md
	storeFileDoc string
	//go:embed docs/load.sh.md
	loadFileDoc string
	//go:embed docs/transforms.json.md
	transformsFileDoc string
	//go:embed docs/refused.json.md
	refusedFileDoc string
	//go:embed docs/scim-users.json.md
	scimUsersDoc string
	//go:embed docs/scim-groups.json.md
	scimGroupsDoc string
	//go:embed docs/scim-bulk.json.md
	scimBulkDoc string
	//go:embed docs/scim-push.sh.md
	scimScriptDoc string
	//go:embed docs/secrets.json.md
	secretsFileDoc string
	//go:embed docs/secrets.json.age.md
	sealedFileDoc string
	//go:embed docs/SHA256SUMS.sig.md
	signatureDoc string
)
