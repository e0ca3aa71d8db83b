package keyfile

import (
	"fmt"
	"slices"
	"strings"
)

// The fields that a column can be read into. Fields of sources, which no mapping names, begin with "_".
const (
	fieldOwner       = "owner"
	fieldKey         = "key"
	fieldSHA256      = "sha256"
	fieldCredential  = "credential_id"
	fieldName        = "name"
	fieldState       = "state"
	fieldEnabled     = "enabled"  // false: frozen
	fieldDisabled    = "disabled" // true or a time: frozen
	fieldRevoked     = "revoked"  // true or a time: revoked
	fieldKeyType     = "key_type"
	fieldScopes      = "scopes"
	fieldTenant      = "tenant"
	fieldProduct     = "product"
	fieldEnvironment = "environment"
	fieldCreated     = "created_at"
	fieldExpires     = "expires_at"
	fieldDescription = "description"
	fieldMetadata    = "metadata"
	fieldLimits      = "limits"
	fieldCIDRs       = "allowed_cidrs"
	fieldConsumer    = "consumer"
	consumerID       = "consumer.id"
	consumerUsername = "consumer.username"
	consumerCustomID = "consumer.custom_id"

	metadataPrefix = "metadata."
)

// Fields returns the names of the fields that a mapping can have, in the order of the documentation.
func Fields() []string {
	return []string{
		fieldOwner, fieldKey, fieldSHA256, fieldCredential, fieldName, fieldState, fieldEnabled, fieldDisabled,
		fieldRevoked, fieldKeyType, fieldScopes, fieldTenant, fieldProduct, fieldEnvironment, fieldCreated,
		fieldExpires, fieldDescription, fieldMetadata, fieldLimits, fieldCIDRs, consumerID, consumerUsername,
		consumerCustomID,
	}
}

// nativeFields are the columns that are named as a field, and those that a CSV file has for members of consumer.
var nativeFields = func() map[string]string {
	named := map[string]string{
		fieldConsumer: fieldConsumer, "consumer_id": consumerID, "consumer_username": consumerUsername,
		"consumer_custom_id": consumerCustomID,
	}
	for _, f := range Fields() {
		if f != fieldEnabled && f != fieldDisabled && f != fieldRevoked {
			named[f] = f
		}
	}
	return named
}()

// takesSeveral reports whether several columns may have the field.
func takesSeveral(field string) bool {
	return field == fieldKey || field == fieldSHA256 || field == Ignored || field == fieldRevoked ||
		field == fieldDisabled || strings.HasPrefix(field, "_")
}

// checkMap returns the mapping with names of columns in lower case.
func checkMap(mapping map[string]string) (map[string]string, error) {
	checked := make(map[string]string, len(mapping))
	for column, field := range mapping {
		known := field == Ignored || slices.Contains(Fields(), field) ||
			len(field) > len(metadataPrefix) && strings.HasPrefix(field, metadataPrefix)
		if !known {
			return nil, &Error{Code: CodeInvalid, Mapping: true, Detail: fmt.Sprintf("%q isn't a field that a column "+
				"can be mapped to. Use one of %s, metadata.NAME, or - to leave the column out.", field,
				strings.Join(Fields(), ", "))}
		}
		checked[strings.ToLower(strings.TrimSpace(column))] = field
	}
	return checked, nil
}

// likely are the fields that columns of other systems and tables probably have, by their names without separators.
var likely = map[string]string{
	"apikey": fieldKey, "secret": fieldKey, "token": fieldKey, "value": fieldKey, "apitoken": fieldKey,
	"accesskey": fieldKey, "accesstoken": fieldKey, "consumerkey": fieldKey, "primarykey": fieldKey,
	"secondarykey": fieldKey, "plaintext": fieldKey, "keyvalue": fieldKey, "secretkey": fieldKey, "clientkey": fieldKey,
	"credential": fieldKey, "xapikey": fieldKey, "subscriptionkey": fieldKey,
	"hash": fieldSHA256, "keyhash": fieldSHA256, "hashedkey": fieldSHA256, "tokenhash": fieldSHA256,
	"apikeyhash": fieldSHA256, "sha256hash": fieldSHA256, "digest": fieldSHA256, "hashedtoken": fieldSHA256,
	"secrethash": fieldSHA256, "keysha256": fieldSHA256, "checksum": fieldSHA256,
	"user": fieldOwner, "userid": fieldOwner, "username": fieldOwner, "email": fieldOwner, "account": fieldOwner,
	"accountid": fieldOwner, "customer": fieldOwner, "customerid": fieldOwner, "client": fieldOwner,
	"clientid": fieldOwner, "app": fieldOwner, "appname": fieldOwner, "application": fieldOwner, "ownerid": fieldOwner,
	"externalid": fieldOwner, "developer": fieldOwner, "developerid": fieldOwner, "consumername": fieldOwner,
	"org": fieldOwner, "orgid": fieldOwner, "organization": fieldOwner, "organizationid": fieldOwner,
	"company": fieldOwner, "team": fieldOwner, "teamid": fieldOwner, "createdby": fieldOwner, "owneremail": fieldOwner,
	"id": fieldCredential, "keyid": fieldCredential, "uuid": fieldCredential, "sid": fieldCredential,
	"title": fieldName, "alias": fieldName, "displayname": fieldName, "keyname": fieldName,
	"status": fieldState, "keystate": fieldState,
	"active": fieldEnabled, "isactive": fieldEnabled, "isenabled": fieldEnabled, "enabled": fieldEnabled,
	"isdisabled": fieldDisabled, "blocked": fieldDisabled, "suspended": fieldDisabled, "disabledat": fieldDisabled,
	"disabled": fieldDisabled, "isblocked": fieldDisabled, "inactive": fieldDisabled, "isinactive": fieldDisabled,
	"isrevoked": fieldRevoked, "revokedat": fieldRevoked, "deletedat": fieldRevoked, "deleted": fieldRevoked,
	"isdeleted": fieldRevoked, "revoked": fieldRevoked,
	"expires": fieldExpires, "expiry": fieldExpires, "expiration": fieldExpires, "expireson": fieldExpires,
	"validuntil": fieldExpires, "expirationdate": fieldExpires, "expirydate": fieldExpires, "expiredat": fieldExpires,
	"expiresat": fieldExpires, "validto": fieldExpires, "notafter": fieldExpires,
	"created": fieldCreated, "createddate": fieldCreated, "createdat": fieldCreated, "createdon": fieldCreated,
	"issuedat": fieldCreated, "insertedat": fieldCreated, "creationdate": fieldCreated,
	"comment": fieldDescription, "note": fieldDescription, "notes": fieldDescription, "label": fieldDescription,
	"scope": fieldScopes, "permissions": fieldScopes, "keytype": fieldKeyType, "type": fieldKeyType,
	"ipwhitelist": fieldCIDRs, "ipallowlist": fieldCIDRs, "allowedips": fieldCIDRs, "allowedcidrs": fieldCIDRs,
	"env": fieldEnvironment, "meta": fieldMetadata, "credentialid": fieldCredential,
	"updatedat": Ignored, "lastusedat": Ignored, "lastused": Ignored, "usagecount": Ignored, "updated": Ignored,
	"password": Ignored, "consumersecret": Ignored, "clientsecret": Ignored, "salt": Ignored,
}

// propose returns the mapping that a column may need.
func propose(column string) Proposal {
	name := column[strings.LastIndexByte(column, '.')+1:]
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune("_- /.", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
	if field, ok := likely[name]; ok {
		return Proposal{Column: column, Field: field}
	}
	return Proposal{Column: column, Field: Ignored}
}

// flag returns the proposal as a flag of the command line.
func (p Proposal) flag() string {
	column := p.Column
	if strings.ContainsAny(column, " ()[]/") {
		return `--map "` + column + "=" + p.Field + `"`
	}
	return "--map " + column + "=" + p.Field
}
