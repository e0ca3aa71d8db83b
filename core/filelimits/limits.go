// Package filelimits has the limits on files that users send, except for OpenAPI documents, whose limits are in
// core/openapi. It owns the table, of which docs/files.md has a copy, and the counting of JSON. It leaves the contents
// of a file to the package that reads it.
//
// The limits are the same for everyone who may send such a file. A file is counted while it is read or before it is
// parsed, so that one beyond a limit costs no more than one within it.
package filelimits

import (
	"fmt"
	"strings"
)

// Limit bounds one property of a file, such as its size.
type Limit struct {
	File   string // of which the limit is; "": the one that the table is about
	Name   string // of the property
	Most   int64
	Amount string // Most, for people
	Reason string

	Says string // the refusal, which follows the place in the file
	Fix  string // what to do then, a sentence
}

// Refusal says that a file exceeds the limit, and what to do. Texts put it after the place in the file.
func (l *Limit) Refusal() string { return l.Says + ". " + l.Fix }

// Sentence is Refusal for a message that has nothing before it.
func (l *Limit) Sentence() string { return strings.ToUpper(l.Says[:1]) + l.Says[1:] + ". " + l.Fix }

// Row returns a limit as a row of a table in Markdown.
func (l *Limit) Row() string {
	if l.File == "" {
		return fmt.Sprintf("| %s | %s | %s |", l.Name, l.Amount, l.Reason)
	}
	return fmt.Sprintf("| %s | %s | %s | %s |", l.File, l.Name, l.Amount, l.Reason)
}

// MaxZip is the largest ZipSize, in bytes.
const MaxZip = 1 << 30

const (
	zip       = "imported zip"
	document  = "JSON document in a zip"
	rows      = "file with rows in a zip"
	body      = "JSON body"
	relations = "relations file"
	keys      = "API key file"
	chain     = "client certificate"
	scim      = "SCIM request"
	gateway   = "file from another gateway"
	kong      = "Kong file"
)

// The limits of zips (docs/import.md).
var (
	ZipSize = &Limit{
		File: zip, Name: "size", Most: MaxZip, Amount: "1 GB",
		Reason: "The zip is kept in a temporary file. A server keeps up to two zips at a time. 1 GB is enough for a " +
			"million keys and a million users.",
		Says: "the zip is larger than 1 GB",
		Fix:  "Export the project without keys or users, and add them with SCIM or the API.",
	}
	ZipEntries = &Limit{
		File: zip, Name: "entries", Most: 100_000, Amount: "100,000",
		Reason: "The list of entries is kept in memory. A million users need 8,000 entries.",
		Says:   "the zip has more than 100,000 entries",
		Fix:    "Import an exported zip without changing it.",
	}
	ZipUnpacked = &Limit{
		File: zip, Name: "unpacked size", Most: 16 << 30, Amount: "16 GB",
		Reason: "Entries are unpacked as a stream several times: for checksums, for documents and for rows.",
		Says:   "the zip unpacks to more than 16 GB",
		Fix:    "Export the project without keys or users, and add them with SCIM or the API.",
	}
	ZipEntryUnpacked = &Limit{
		File: zip, Name: "unpacked size of an entry", Most: 8 << 30, Amount: "8 GB",
		Reason: "An entry is read only up to its declared size.",
		Says:   "the entry unpacks to more than 8 GB",
		Fix:    "Export the project without keys or users, and add them with SCIM or the API.",
	}
	ZipRatio = &Limit{
		File: zip, Name: "unpacked size of an entry of more than 16 MB", Most: 250,
		Amount: "250 times its compressed size",
		Reason: "Exported rows unpack to 10 times their zipped size, and zip bombs to 1,000 times. Two entries can't " +
			"share bytes.",
		Says: "the entry unpacks to more than 250 times its size",
		Fix:  "Import an exported zip without changing it.",
	}
	ZipRows = &Limit{
		File: rows, Name: "rows", Most: 5_000_000, Amount: "5,000,000",
		Reason: "Up to 50 bytes of each row of keys, and of each ledger item, are kept in memory.",
		Says:   "the file has more than 5,000,000 rows",
		Fix:    "Export the project without keys or users, and add them with SCIM or the API.",
	}
	ZipRow = &Limit{
		File: rows, Name: "size of a row", Most: 1 << 20, Amount: "1 MB",
		Reason: "A row is read into memory.",
		Says:   "a row is larger than 1 MB",
		Fix:    "Remove groups, consents or scopes from the object in this row, then export again.",
	}
	ZipDocument = &Limit{
		File: document, Name: "size", Most: 64 << 20, Amount: "64 MB",
		Reason: "A document is read into memory. OpenAPI documents also have [their own limits](openapi.md#limits).",
		Says:   "the document is larger than 64 MB",
		Fix:    "Remove some of the objects in it from the project, then export again.",
	}
	ZipDocuments = &Limit{
		File: document, Name: "total size of all documents", Most: 256 << 20, Amount: "256 MB",
		Reason: "The contents of all documents stay in memory until the project is written.",
		Says:   "the documents up to this one are larger than 256 MB in total",
		Fix:    "Remove OpenAPI documents from versions, export again, and add them to the new project's versions.",
	}
	ZipNesting = &Limit{
		File: document, Name: "levels of nesting", Most: 100, Amount: "100",
		Reason: "Documents are read recursively. Exported documents have 10 levels.",
		Says:   "the document is nested more than 100 levels deep",
		Fix:    "Import an exported zip without changing it.",
	}
	ZipObjects = &Limit{
		File: document, Name: "objects and lists in all documents", Most: 500_000, Amount: "500,000",
		Reason: "Each object or list takes up to 350 bytes of memory. 50 versions with 500 rules each contain " +
			"125,000 of them. OpenAPI documents don't count.",
		Says: "the documents up to this one have more than 500,000 objects and lists",
		Fix:  "Remove some of the objects in it from the project, then export again.",
	}
	ZipConfigObjects = &Limit{
		File: "`project-config.json` in a zip", Name: "objects and lists", Most: 20_000, Amount: "20,000",
		Reason: "A version takes 700 bytes of memory. A project can have at most 50 versions and 1,000 tenants.",
		Says:   "the document has more than 20,000 objects and lists",
		Fix:    "Remove tenants, environments or issuers from the project, then export again.",
	}
	ZipValues = &Limit{
		File: document, Name: "values in all documents", Most: 5_000_000, Amount: "5,000,000",
		Reason: "Strings, numbers, objects and lists each take at least 16 bytes of memory.",
		Says:   "the documents up to this one have more than 5,000,000 values",
		Fix:    "Remove some of the objects in it from the project, then export again.",
	}
)

// The limits on files that the API and pages accept (docs/api.md).
var (
	BodySize = &Limit{
		File: body, Name: "size", Most: 1 << 20, Amount: "1 MB",
		Reason: "The body is kept in memory. `POST /proxy` accepts 6 MB, because its body can contain an OpenAPI " +
			"document. The body of `PUT openapi` can be up to 17 MB. Forms have the same limit of 1 MB.",
		Says: "the body is larger than 1 MB",
		Fix:  "Split it into several requests.",
	}
	BodyValues = &Limit{
		File: body, Name: "values", Most: 50_000, Amount: "50,000",
		Reason: "Each value is checked against the API's schema. 2,000 rules have about 20,000 values.",
		Says:   "the body has more than 50,000 values",
		Fix:    "Split it into several requests.",
	}
	BodyNesting = &Limit{
		File: body, Name: "levels of nesting", Most: 100, Amount: "100",
		Reason: "Bodies are read recursively. The deepest bodies in the API have 8 levels.",
		Says:   "the body is nested more than 100 levels deep",
		Fix:    "Leave out members that the API doesn't describe.",
	}
	BodyMember = &Limit{
		File: body, Name: "size of a member's name", Most: 256, Amount: "256 bytes",
		Reason: "Error messages contain the name.",
		Says:   "a member's name is larger than 256 bytes",
		Fix:    "Leave out members that the API doesn't describe.",
	}
	Relations = &Limit{
		File: relations, Name: "rows in an API request", Most: 10_000, Amount: "10,000",
		Reason: "The rows are added in one transaction. A file uploaded in the dashboard is added in batches of 5,000.",
		Says:   "the request has more than 10,000 relations",
		Fix:    "Send them in several requests.",
	}
	RelationsSize = &Limit{
		File: relations, Name: "size of a file uploaded in the dashboard", Most: 5 << 20, Amount: "5 MB",
		Reason: "The file is streamed while the browser waits.",
		Says:   "the file is larger than 5 MB",
		Fix:    "Split it. Adding the same rows again changes nothing.",
	}
	KeyRows = &Limit{
		File: keys, Name: "rows", Most: 1_000_000, Amount: "1,000,000",
		Reason: "The rows are written in transactions of 1,000.",
		Says:   "the file has more than 1,000,000 keys",
		Fix:    "Split it.",
	}
	KeyRow = &Limit{
		File: keys, Name: "size of a row", Most: 1 << 20, Amount: "1 MB",
		Reason: "A row is read into memory. A key can be up to 4 KB long, and so can its metadata.",
		Says:   "the row is larger than 1 MB",
		Fix:    "Look for a quote or a bracket that is never closed.",
	}
	KeyColumns = &Limit{
		File: keys, Name: "columns, or members in a row", Most: 200, Amount: "200",
		Reason: "Each column is mapped to a field. Tables of keys have up to 40 columns.",
		Says:   "it has more than 200 columns",
		Fix:    "Export only the columns that keys need.",
	}
	KeyNesting = &Limit{
		File: keys, Name: "levels of nesting in JSON", Most: 50, Amount: "50",
		Reason: "Rows are read recursively. Rows from other gateways have up to 6 levels.",
		Says:   "the JSON is nested more than 50 levels deep",
		Fix:    "Export only the members that keys need.",
	}
	KeyValues = &Limit{
		File: keys, Name: "values in a row of JSON", Most: 20_000, Amount: "20,000",
		Reason: "Each value takes up to 150 bytes of memory.",
		Says:   "the row has more than 20,000 values",
		Fix:    "Write one key per row.",
	}
	KeyConsumers = &Limit{
		File: keys, Name: "consumers in separate lists, or AWS keys", Most: 100_000, Amount: "100,000",
		Reason: "These objects are kept in memory, because keys refer to their consumers, and a later AWS key " +
			"replaces an earlier one with the same value.",
		Says: "the file has more than 100,000 consumers or AWS keys",
		Fix:  "Split it.",
	}
	CertificateSize = &Limit{
		File: chain, Name: "size of the chain or of the key", Most: 64 << 10, Amount: "64 KB",
		Reason: "The chain is sent in each TLS handshake.",
		Says:   "is larger than 64 KB",
		Fix:    "Send the certificate and its issuers' certificates, without the root and without text in between.",
	}
	Certificates = &Limit{
		File: chain, Name: "certificates", Most: 10, Amount: "10",
		Reason: "OpenSSL, and therefore nginx, verifies chains of at most 10 certificates.",
		Says:   "has more than 10 certificates",
		Fix:    "Send the certificate and its issuers' certificates, without the root.",
	}
	SCIMOperations = &Limit{
		File: scim, Name: "operations in a PATCH", Most: 1000, Amount: "1,000",
		Reason: "The operations are applied in one transaction. Bulk requests aren't supported.",
		Says:   "the request has more than 1,000 operations",
		Fix:    "Send them in several requests.",
	}
	SCIMFilterTerms = &Limit{
		File: scim, Name: "comparisons in a filter", Most: 10, Amount: "10",
		Reason: "Provisioning systems send at most two comparisons.",
		Says:   "the filter has more than 10 comparisons",
		Fix:    "Send several requests.",
	}
	SCIMFilterNesting = &Limit{
		File: scim, Name: "nested parentheses in a filter", Most: 10, Amount: "10",
		Reason: "Filters are read recursively.",
		Says:   "the parentheses in the filter are nested more than 10 levels deep",
		Fix:    "Use fewer parentheses.",
	}
	SCIMComparisons = &Limit{
		File: scim, Name: "comparisons with a group's members", Most: 1_000_000, Amount: "1,000,000",
		Reason: "A filter in an operation's path is compared with each member. 1,000,000 comparisons take about 0.1 s.",
		Says:   "the filters in the request make more than 1,000,000 comparisons with members",
		Fix:    `Use the IDs of members: members[value eq "usr_…"].`,
	}
)

// The limits of files of other gateways (docs/moving-in.md).
var (
	GatewaySize = &Limit{
		File: gateway, Name: "total size of all files in an import", Most: 20 << 20, Amount: "20 MB",
		Reason: "The files are read into memory. 1,000 routes and 100,000 keys take 10 MB.",
		Says:   "the files are larger than 20 MB in total",
		Fix:    "Split the files by service or API, or import the keys separately.",
	}
	GatewayFiles = &Limit{
		File: gateway, Name: "files in an import", Most: 50, Amount: "50",
		Reason: "Each file is read separately. decK splits a configuration into a few files.",
		Says:   "the import has more than 50 files",
		Fix: "Merge files from the same gateway (for Kong, with deck file merge), or import each gateway " +
			"separately.",
	}
	GatewayValues = &Limit{
		File: gateway, Name: "values in all files in an import", Most: 2_000_000, Amount: "2,000,000",
		Reason: "Each value takes up to 400 bytes of memory. An alias repeats the values that it refers to.",
		Says:   "the import has more than 2,000,000 values",
		Fix:    "Split the files by service or API, and write out aliases that refer to large parts of a file.",
	}
	GatewayAliases = &Limit{
		File: gateway, Name: "growth of a YAML file through aliases", Most: 10, Amount: "10 times",
		Reason: "An alias repeats the values and text that it refers to, so a small file could use up all memory.",
		Says:   "aliases make the file more than 10 times larger",
		Fix:    "Write out aliases that refer to large parts of the file.",
	}
	GatewayNesting = &Limit{
		File: gateway, Name: "levels of nesting", Most: 50, Amount: "50",
		Reason: "Files are read recursively. Kong files have 8 levels, and AWS files have 12.",
		Says:   "the file is nested more than 50 levels deep",
		Fix:    "Check that it is the right file.",
	}
	GatewayText = &Limit{
		File: gateway, Name: "text in a file", Most: 20 << 20, Amount: "20 MB",
		Reason: "An alias repeats the text that it refers to, and a placeholder or stage variable repeats its value.",
		Says:   "the file has more than 20 MB of text, because its aliases or placeholders repeat long texts",
		Fix:    "Shorten these texts.",
	}
	GatewayName = &Limit{
		File: gateway, Name: "bytes in a member's name", Most: 1_000, Amount: "1,000",
		Reason: "The plan repeats the names of members.",
		Says:   "the file has a member whose name is longer than 1,000 bytes",
		Fix:    "Check that it is the right file.",
	}
	KongEntities = &Limit{
		File: kong, Name: "entities", Most: 500_000, Amount: "500,000",
		Reason: "The plan has an item for each entity.",
		Says:   "the file has more than 500,000 entities",
		Fix:    "Import its keys separately.",
	}
	KongUnknown = &Limit{
		File: kong, Name: "unknown top-level members in all files of an import", Most: 100, Amount: "100",
		Reason: "The plan has a title for each of them. Kong has fewer than 100 kinds of entities.",
		Says:   "the import has more than 100 unknown top-level members in its files",
		Fix:    "Check that it is a Kong file, and remove the members that Kong doesn't read.",
	}
	KongRoutes = &Limit{
		File: kong, Name: "routes", Most: 5_000, Amount: "5,000",
		Reason: "Routes are compared with each other.",
		Says:   "the file has more than 5,000 routes",
		Fix:    "Split it by service.",
	}
	KongPlugins = &Limit{
		File: kong, Name: "plugins", Most: 20_000, Amount: "20,000",
		Reason: "For each route, the plan looks up the plugins that apply.",
		Says:   "the file has more than 20,000 plugins",
		Fix:    "Split it by service.",
	}
	KongPluginsOfRoutes = &Limit{
		File: kong, Name: "plugins for all routes", Most: 1_000_000, Amount: "1,000,000",
		Reason: "A plugin counts once for each route that it applies to. A global plugin applies to all routes.",
		Says:   "more than 1,000,000 plugins apply to routes",
		Fix:    "Split the file by service.",
	}
	KongEntityValues = &Limit{
		File: kong, Name: "values in an entity", Most: 5_000, Amount: "5,000",
		Reason: "The plan compares the values with each other. Nested entities don't count.",
		Says:   "has more than 5,000 values",
		Fix:    "Split it, or remove values from it.",
	}
	KongName = &Limit{
		File: kong, Name: "bytes in the name, ID, host, path or hash header of an entity", Most: 500, Amount: "500",
		Reason: "The plan repeats them, for example for each key of a consumer.",
		Says:   "has more than 500 bytes",
		Fix:    "Shorten it.",
	}
	KongRouteText = &Limit{
		File: kong, Name: "text of the plugins, services and upstreams of all routes", Most: 100 << 20,
		Amount: "100 MB",
		Reason: "The plan repeats their values for each route with its own plugins, and once for the other routes of " +
			"each service.",
		Says: "the plugins, services and upstreams of routes have more than 100 MB of text, counted for each route " +
			"with its own plugins",
		Fix: "Shorten the values of plugins that apply to many routes, or split the file by service.",
	}
	KongDefaults = &Limit{
		File: kong, Name: "members that `_info.defaults` and `_plugin_configs` add", Most: 1_000_000,
		Amount: "1,000,000", Reason: "Each member takes memory. Large entities and long texts reach the limit sooner.",
		Says: "_info.defaults and _plugin_configs add too many members",
		Fix:  "Remove members that only repeat Kong's own defaults, or split the file by service.",
	}
	GatewayPlaceholders = &Limit{
		File: gateway, Name: "different placeholders in all files in an import", Most: 1_000, Amount: "1,000",
		Reason: "The plan lists the placeholders, and each one needs a value.",
		Says:   "the import has more than 1,000 different placeholders",
		Fix:    "Replace placeholders in the files before the import.",
	}
	KongDomains = &Limit{
		File: kong, Name: "custom domains", Most: 50_000, Amount: "50,000",
		Reason: "A route without a host needs a custom domain for each host name in the file.",
		Says: "routes without a host match calls to every host name in the file, which would need more than 50,000 " +
			"custom domains",
		Fix: "Split the file by host name.",
	}
)

// All returns the limits in the order of the documentation.
func All() []*Limit {
	return []*Limit{
		ZipSize, ZipEntries, ZipUnpacked, ZipEntryUnpacked, ZipRatio, ZipRows, ZipRow, ZipDocument, ZipDocuments,
		ZipNesting, ZipObjects, ZipConfigObjects, ZipValues,
		BodySize, BodyValues, BodyNesting, BodyMember, Relations, RelationsSize,
		KeyRows, KeyRow, KeyColumns, KeyNesting, KeyValues, KeyConsumers, CertificateSize, Certificates,
		SCIMOperations, SCIMFilterTerms, SCIMFilterNesting, SCIMComparisons,
		GatewaySize, GatewayFiles, GatewayValues, GatewayAliases, GatewayNesting, GatewayText, GatewayName,
		KongEntities, KongUnknown, KongRoutes, KongPlugins, KongPluginsOfRoutes, KongRouteText, KongEntityValues,
		KongName, KongDefaults, GatewayPlaceholders, KongDomains,
	}
}
