package exports

import (
	"postern/bundle"
	"postern/platform/fault"
	"postern/platform/secrets"
)

// Options are a customer's choices. An empty Keys means hashes, or none without consumers.
type Options struct {
	Format    string
	Keys      string
	Consumers bool
	Secrets   bool
	Recipient string // age public key that the secrets are encrypted to; "": none
	// Password is the account's password. An export with secrets requires it. It isn't stored.
	Password secrets.Secret
}

func (o Options) normalized() (Options, error) {
	var wrong []fault.Field
	switch bundle.Format(o.Format) {
	case bundle.FormatData, bundle.FormatGateway:
	default:
		wrong = append(wrong, fault.Field{
			Pointer: "/format",
			Code:    "invalid_format",
			Detail:  "Use data, or gateway for a zip that runs on Kong.",
		})
	}
	switch keys := bundle.KeysOption(o.Keys); keys {
	case "":
		o.Keys = string(bundle.DefaultKeys(o.Consumers))
	case bundle.KeysHashes, bundle.KeysMint, bundle.KeysNone:
		if !o.Consumers && keys != bundle.KeysNone {
			wrong = append(wrong, bundle.ErrKeysWithoutConsumers.Fields...)
		}
	default:
		wrong = append(wrong, fault.Field{Pointer: "/keys", Code: "invalid_keys", Detail: "Use hashes, mint or none."})
	}
	wrong = append(wrong, o.checkRecipient()...)
	return o, fault.InvalidFields(wrong)
}
