package keyfile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"postern/core/contract"
)

// cell is a value of a row with its column.
type cell struct {
	column
	value value
	csv   bool
}

// draft is a row while its cells are read.
type draft struct {
	reader  *Reader
	row     Row
	keys    []cell
	hashes  []cell
	extra   map[string]cell // by field of a source
	frozen  bool
	revoked bool
	expired bool
	meta    []member
	notes   []string
	refused []Refusal
}

func (d *draft) refuse(c cell, code, detail string) {
	d.refused = append(d.refused, Refusal{Row: d.row.Number, Pointer: c.pointer, Code: code, Detail: detail})
}

func (d *draft) invalid(c cell, detail string) { d.refuse(c, CodeInvalid, detail) }

// note says what the row loses, if it is imported.
func (d *draft) note(code string) { d.notes = append(d.notes, code) }

// texts are the fields that are a text.
func (d *draft) texts(field string) *string {
	switch field {
	case fieldOwner:
		return &d.row.Owner
	case fieldCredential:
		return &d.row.CredentialID
	case fieldName:
		return &d.row.Name
	case fieldKeyType:
		return &d.row.KeyType
	case fieldTenant:
		return &d.row.Tenant
	case fieldProduct:
		return &d.row.Product
	case fieldEnvironment:
		return &d.row.Environment
	case fieldDescription:
		return &d.row.Description
	case consumerID:
		return &d.row.Consumer.ID
	case consumerUsername:
		return &d.row.Consumer.Username
	case consumerCustomID:
		return &d.row.Consumer.CustomID
	}
	return nil
}

// set reads a cell.
func (d *draft) set(c cell) {
	if c.value.kind == absent {
		return
	}
	if target := d.texts(c.field); target != nil {
		d.setText(c, target)
		return
	}
	switch c.field {
	case Ignored:
	case fieldKey:
		d.keys = append(d.keys, c)
	case fieldSHA256:
		d.hashes = append(d.hashes, c)
	case fieldState:
		d.setState(c)
	case fieldEnabled, fieldDisabled, fieldRevoked:
		d.setSwitch(c)
	case fieldScopes:
		d.row.Scopes = d.words(c)
	case fieldCIDRs:
		d.row.AllowedCIDRs = d.words(c)
	case fieldCreated:
		d.row.CreatedAt = d.moment(c)
	case fieldExpires:
		d.row.ExpiresAt = d.moment(c)
	case fieldMetadata:
		d.setMetadata(c)
	case fieldLimits:
		d.setLimits(c)
	case fieldConsumer:
		d.setConsumer(c)
	default:
		if name, found := strings.CutPrefix(c.field, metadataPrefix); found {
			d.meta = append(d.meta, member{name, c.value})
			return
		}
		if d.extra == nil {
			d.extra = map[string]cell{}
		}
		d.extra[c.field] = c
	}
}

func (d *draft) setText(c cell, target *string) {
	switch {
	case c.value.kind != text && c.value.kind != numeral:
		d.invalid(c, "Use text.")
	case c.csv && damaged(c.value.text) != "":
		d.invalid(c, damaged(c.value.text))
	case strings.ContainsRune(c.value.text, 0):
		d.invalid(c, "Remove the NUL character.")
	default:
		*target = strings.TrimSpace(c.value.text)
	}
}

// states are the words that systems have for the states of keys.
var states = map[string]string{
	"active": contract.KeyActive, "enabled": contract.KeyActive, "approved": contract.KeyActive,
	"valid": contract.KeyActive, "ok": contract.KeyActive,
	"frozen": contract.KeyFrozen, "disabled": contract.KeyFrozen, "inactive": contract.KeyFrozen,
	"suspended": contract.KeyFrozen, "paused": contract.KeyFrozen, "blocked": contract.KeyFrozen,
	"locked": contract.KeyFrozen, "pending": contract.KeyFrozen, "submitted": contract.KeyFrozen,
	"revoked": contract.KeyRevoked, "deleted": contract.KeyRevoked, "cancelled": contract.KeyRevoked,
	"canceled": contract.KeyRevoked, "rejected": contract.KeyRevoked, "banned": contract.KeyRevoked,
	"expired": contract.KeyExpired,
}

func (d *draft) setState(c cell) {
	switch states[strings.ToLower(strings.TrimSpace(c.value.text))] {
	case contract.KeyActive:
	case contract.KeyFrozen:
		d.frozen = true
	case contract.KeyRevoked:
		d.revoked = true
	case contract.KeyExpired:
		d.expired = true
	default:
		d.invalid(c, "Use active, frozen, revoked or expired, or a word such as enabled, disabled, suspended, "+
			"approved or cancelled.")
	}
}

// setSwitch reads a column that is on or off. One of disabled or revoked is on, too, if it has a time.
func (d *draft) setSwitch(c cell) {
	on, ok := readSwitch(c.value)
	if !ok && c.field != fieldEnabled {
		if m, wrong := readMoment(c.value); wrong == "" {
			on, ok = !m.never, true // also a time to come, when nothing would disable the key here
		}
	}
	switch {
	case !ok:
		d.invalid(c, "Use true or false.")
	case c.field == fieldEnabled:
		d.frozen = d.frozen || !on
	case c.field == fieldDisabled:
		d.frozen = d.frozen || on
	default:
		d.revoked = d.revoked || on
	}
}

func readSwitch(v value) (on, ok bool) {
	switch strings.ToLower(strings.TrimSpace(v.text)) {
	case "true", "1", "yes", "y", "t", "on", "enabled", "active", "\x01":
		return true, true
	case "false", "0", "no", "n", "f", "off", "disabled", "inactive":
		return false, true
	}
	return false, false
}

// words reads a list: of JSON, or a text with commas, spaces or bars between its words.
func (d *draft) words(c cell) []string {
	v := c.value
	if v.kind == text && strings.HasPrefix(strings.TrimSpace(v.text), "[") {
		parsed, err := parse([]byte(v.text))
		if err != nil {
			d.invalid(c, "Use a JSON list, or words separated by spaces.")
			return nil
		}
		v = parsed
	}
	found := []string{}
	switch v.kind {
	case text:
		s := v.text
		if strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}") { // an array of PostgreSQL
			s = strings.ReplaceAll(s[1:len(s)-1], `"`, "")
		}
		separates := func(r rune) bool { return strings.ContainsRune(" ,;|\t\n", r) }
		found = append(found, strings.FieldsFunc(s, separates)...)
	case list:
		for _, element := range v.list {
			if element.kind != text {
				d.invalid(c, "Use a list of strings.")
				return nil
			}
			found = append(found, element.text)
		}
	default:
		d.invalid(c, "Use a list of strings.")
	}
	return found
}

// moment reads a time; the zero time is never.
func (d *draft) moment(c cell) time.Time {
	m, wrong := readMoment(c.value)
	switch {
	case wrong != "":
		d.invalid(c, wrong)
		return time.Time{}
	case m.never:
		return time.Time{}
	}
	if m.loose {
		d.note(noteEarlier)
	}
	if !m.zone {
		d.note(noteUTC)
	}
	return m.at
}

// objectOf reads an object, also one that is a text of JSON.
func (d *draft) objectOf(c cell) (value, bool) {
	v := c.value
	if v.kind == text {
		parsed, err := parse([]byte(v.text))
		if err != nil {
			d.invalid(c, "Use a JSON object.")
			return v, false
		}
		v = parsed
		if v.kind == absent {
			return v, false
		}
	}
	if v.kind != object {
		d.invalid(c, "Use a JSON object.")
		return v, false
	}
	return v, true
}

func (d *draft) setMetadata(c cell) {
	if v, ok := d.objectOf(c); ok {
		d.meta = append(d.meta, v.members...)
	}
}

func (d *draft) setConsumer(c cell) {
	v, ok := d.objectOf(c)
	if !ok {
		return
	}
	for _, m := range v.members {
		target := d.texts(fieldConsumer + "." + strings.ToLower(m.name))
		switch {
		case target == nil:
			d.refuse(c, CodeUnknown, "A consumer can contain only id, username and custom_id.")
		case m.value.kind != absent:
			d.setText(cell{column: c.column, value: m.value, csv: c.csv}, target)
		}
	}
}

// setLimits reads {"minute": 100}, or minute=100,day=5000 in a cell.
func (d *draft) setLimits(c cell) {
	limits := contract.Limits{}
	if s := strings.TrimSpace(c.value.text); c.value.kind == text && !strings.HasPrefix(s, "{") {
		for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == ';' }) {
			window, calls, _ := strings.Cut(part, "=")
			n, err := strconv.ParseInt(calls, 10, 64)
			if err != nil {
				d.invalid(c, "Use calls per window, such as minute=100,day=5000.")
				return
			}
			limits[window] = n
		}
		d.row.Limits = limits
		return
	}
	v, ok := d.objectOf(c)
	if !ok {
		return
	}
	for _, m := range v.members {
		n, err := strconv.ParseInt(m.value.text, 10, 64)
		if err != nil || m.value.kind != numeral {
			d.invalid(c, `Use calls per window, such as {"minute": 100}.`)
			return
		}
		limits[m.name] = n
	}
	d.row.Limits = limits
}

// noOwner tells the user what to do about a key without an owner.
func noOwner(source Source) string {
	switch source {
	case Kong:
		return "The key has no consumer, so it has no owner. Import the responses from Kong's /consumers and " +
			"/key-auths."
	case AWS:
		return "The key has no name, so it has no owner. Add a name, or a column with the owner."
	}
	return "The key has no owner. Add a column or member named owner, or map an existing one with --map COLUMN=owner."
}

// noKey tells the user what to do about a row without a key.
func noKey(source Source) string {
	switch source {
	case AWS:
		return "The row doesn't contain a key's value. Run aws apigateway get-api-keys with --include-values."
	case Unkey:
		return "The row has neither a hash nor a plaintext key. Export the table of keys, or list the keys with the " +
			"option decrypt."
	}
	return "The row has no key. Add the key or its SHA-256."
}

// finish sets what depends on several cells, and returns the rows.
func (d *draft) finish(now time.Time) []Row {
	d.finishState(now)
	d.finishMetadata()
	if d.row.KeyType != "" && d.row.Scopes != nil {
		d.refuse(cell{}, CodeInvalid, "The row has both a key type and scopes. Use only one of the two.")
	}
	if d.row.Owner == "" && len(d.refused) == 0 {
		d.refuse(cell{column: column{pointer: "/" + fieldOwner}}, CodeMissing, noOwner(d.reader.dialect.source))
	}
	rows := append(d.byValue(), d.byHash()...)
	if len(rows) == 0 && len(d.refused) == 0 {
		d.refuse(cell{column: column{pointer: "/" + fieldKey}}, CodeMissing, noKey(d.reader.dialect.source))
	}
	for i := range rows {
		rows[i].Part = i
	}
	return rows
}

func (d *draft) finishState(now time.Time) {
	d.row.State = contract.KeyActive
	if d.frozen {
		d.row.State = contract.KeyFrozen
	}
	if d.revoked {
		d.row.State = contract.KeyRevoked
	}
	if d.expired && (d.row.ExpiresAt.IsZero() || d.row.ExpiresAt.After(now)) {
		d.row.ExpiresAt, d.row.Relative = now, true
	}
}

// finishMetadata sets the metadata of all cells that have some.
func (d *draft) finishMetadata() {
	if len(d.meta) == 0 {
		return
	}
	out := []byte("{")
	var names []string
	for _, m := range d.meta {
		if slices.Contains(names, m.name) {
			d.refuse(cell{}, CodeRepeated, "Two columns are mapped to the same member of the metadata. Leave one out.")
			return
		}
		names = append(names, m.name)
		out = appendMember(out, m)
	}
	if out = append(out, '}'); len(out) > MaxMetadata {
		d.refuse(cell{}, CodeLimit, fmt.Sprintf("The metadata is larger than %d bytes. Remove some of it.",
			MaxMetadata))
		return
	}
	d.row.Metadata = out
}

func appendMember(out []byte, m member) []byte {
	if len(out) > 1 {
		out = append(out, ',')
	}
	out = append(appendText(out, m.name), ':')
	return appendValue(out, m.value)
}

func appendText(out []byte, s string) []byte {
	encoded, _ := json.Marshal(s) // a text can't fail
	return append(out, encoded...)
}

// appendValue adds compact JSON.
func appendValue(out []byte, v value) []byte {
	switch v.kind {
	case absent:
		return append(out, "null"...)
	case text:
		return appendText(out, v.text)
	case list:
		out = append(out, '[')
		for i, element := range v.list {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendValue(out, element)
		}
		return append(out, ']')
	case object:
		inner := []byte("{")
		for _, m := range v.members {
			inner = appendMember(inner, m)
		}
		return append(append(out, inner...), '}')
	}
	return append(out, v.text...)
}
