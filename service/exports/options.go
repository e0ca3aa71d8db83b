package exports

import (
	"postern/bundle"
	"postern/platform/fault"
	"postern/platform/secrets"
)

// Options are a customer's choices. Keys "" means hashes.
type Options struct {
	Format    string
	Keys      string
	Consumers bool
	Secrets   bool
	Recipient string // public key of age that the secrets are encrypted to; "": none
	// Password is the account's. An export with secrets needs it; it is not stored.
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
	switch bundle.KeysOption(o.Keys) {
	case "":
		o.Keys = string(bundle.KeysHashes)
	case bundle.KeysHashes, bundle.KeysMint, bundle.KeysNone:
	default:
		wrong = append(wrong, fault.Field{Pointer: "/keys", Code: "invalid_keys", Detail: "Use hashes, mint or none."})
	}
	if !o.Consumers {
		switch bundle.KeysOption(o.Keys) {
		case bundle.KeysMint:
			wrong = append(wrong, fault.Field{
				Pointer: "/keys",
				Code:    "keys_without_consumers",
				Detail:  "New keys need the consumers that own them. Use none, or include consumers.",
			})
		case bundle.KeysHashes:
			o.Keys = string(bundle.KeysNone)
		}
	}
	wrong = append(wrong, o.checkRecipient()...)
	return o, fault.InvalidFields(wrong)
}
