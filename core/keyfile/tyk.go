package keyfile

import (
	"strconv"
	"strings"
)

// tyk reads sessions of Tyk: as its Redis has them under apikey-<hash>, or as its API answers them.
func tyk() *dialect {
	return &dialect{source: Tyk, finish: finishTyk, fields: fieldsOf(map[string][]string{
		"_key":     {"key", "key_hash", "keyhash", "hash", "key_id"},
		"_session": {"value", "data", "session"},
		fieldOwner: {fieldOwner},
		// The members of a session [user/session.go: SessionState], which finishTyk reads.
		"_member": {
			"access_rights", "alias", "allowance", "apply_policies", "apply_policy_id", "basic_auth_data",
			"certificate", "data_expires", "date_created", "enable_detail_recording", "enable_detailed_recording",
			"enable_http_signature_validation", "expires", "hmac_enabled", "hmac_string", "id_extractor_deadline",
			"is_inactive", "jwt_data", "last_check", "last_updated", "max_query_depth", "meta_data", "monitor",
			"mtls_static_certificate_bindings", "oauth_client_id", "oauth_keys", "org_id", "per", "post_expiry_action",
			"post_expiry_grace_period", "quota_max", "quota_remaining", "quota_renewal_rate", "quota_renews", "rate",
			"rsa_certificate_id", "session_lifetime", "smoothing", "tags", "throttle_interval", "throttle_retry_limit",
		},
	})}
}

func finishTyk(d *draft, e row) {
	session := e.value
	if c, ok := d.extra["_session"]; ok {
		if session, ok = d.objectOf(c); !ok {
			return
		}
	}
	d.tykKey()
	d.tykCredential(session)
	d.tykTimes(session)
	d.tykLimits(session)
	if session.member("is_inactive").text == "true" {
		d.frozen = true
	}
	d.row.Name = strings.TrimSpace(session.member("alias").text)
	first(&d.row.Owner, d.row.Name)
	if d.row.Owner == "" && len(d.hashes) > 0 {
		d.row.Owner = "tyk-" + strings.ToLower(d.hashes[0].value.text[:min(12, len(d.hashes[0].value.text))])
	}
	if data := session.member("meta_data"); data.kind == object {
		d.meta = append(d.meta, data.members...)
	}
	for code, names := range map[string][]string{
		noteAccess: {"access_rights"}, notePolicies: {"apply_policies", "apply_policy_id"},
		noteSession: {"tags", "post_expiry_action", "smoothing", "max_query_depth"},
	} {
		for _, name := range names {
			if v := session.member(name); len(v.members) > 0 || len(v.list) > 0 || v.kind == text && v.text != "" {
				d.note(code)
			}
		}
	}
}

// tykKey takes the hash of a key, or the key if Tyk doesn't hash.
func (d *draft) tykKey() {
	c, ok := d.extra["_key"]
	if !ok {
		return
	}
	c.value.text = strings.TrimPrefix(c.value.text, "apikey-")
	s := c.value.text
	switch {
	case c.value.kind != text || !isHex(s) || len(s) == 56: // 56: an organization of 24 and a key of 32
		d.keys = append(d.keys, c)
	case len(s) == 8 || len(s) == 16 || len(s) == 32:
		d.refuse(c, CodeHash, "This is a murmur"+strconv.Itoa(len(s)*4)+" hash, Tyk's default, which can't be looked "+
			"up. Only keys with hash_key_function sha256 can be imported by hash. "+renew)
	default:
		d.hashes = append(d.hashes, c)
	}
}

// tykCredential refuses sessions of other credentials than keys.
func (d *draft) tykCredential(session value) {
	const bindings = "mtls_static_certificate_bindings"
	is := func(v value) bool { return v.kind != absent && v.text != "" && v.text != "false" || len(v.list) > 0 }
	for _, other := range []struct {
		member value
		name   string
		what   string
	}{
		{session.member("basic_auth_data").member("password"), "basic_auth_data", "a user name and password"},
		{session.member("hmac_enabled"), "hmac_enabled", "an HMAC signature"},
		{session.member("hmac_string"), "hmac_string", "an HMAC signature"},
		{session.member("jwt_data").member("secret"), "jwt_data", "a JWT"},
		{session.member("oauth_client_id"), "oauth_client_id", "an OAuth token"},
		{session.member("enable_http_signature_validation"), "enable_http_signature_validation", "an HTTP signature"},
		{session.member("certificate"), "certificate", "a client certificate"},
		{session.member(bindings), bindings, "a client certificate"},
	} {
		if is(other.member) {
			c := cell{column: column{pointer: "/" + other.name}}
			d.refuse(c, CodeCredential, "The session contains "+other.name+", so its caller authenticates "+
				"with "+other.what+
				", not with an API key. Leave out the session.")
			return
		}
	}
}

func (d *draft) tykTimes(session value) {
	at := func(name string) cell {
		return cell{column: column{pointer: "/" + name}, value: session.member(name)}
	}
	if expires := at("expires"); expires.value.kind != absent {
		if n, ok := whole(expires.value); !ok || n > 0 { // else never [user/session.go: Expires <= 0]
			d.row.ExpiresAt = d.moment(expires)
		}
	}
	if created := at("date_created"); created.value.text != "" && !strings.HasPrefix(created.value.text, "0001-") {
		d.row.CreatedAt = d.moment(created)
	}
}

// tykLimits takes limits whose period is one of our windows. 30 days are a month.
func (d *draft) tykLimits(session value) {
	d.tykLimit(session.member("rate"), session.member("per"))
	if n, ok := whole(session.member("quota_max")); ok && n > 0 {
		d.tykLimit(session.member("quota_max"), session.member("quota_renewal_rate"))
	}
}

func (d *draft) tykLimit(calls, seconds value) {
	windows := map[string]string{"1": "second", "60": "minute", "3600": "hour", "86400": "day", "2592000": "month"}
	n, err := strconv.ParseFloat(calls.text, 64)
	if err != nil || n <= 0 {
		return
	}
	if window := windows[seconds.text]; window == "" || n < 1 ||
		!d.limit(window, value{kind: numeral, text: strconv.FormatInt(int64(min(n, 1e12)), 10)}) {
		d.note(noteRateLimits)
	}
}
