package keyfile

import (
	"strconv"
	"strings"
	"time"

	"postern/core/filelimits"
)

// kongMaxTTL is the most seconds that Kong takes as the life of a key [kong/constants.lua: DAO_MAX_TTL]. As the seconds
// since 1970 it is a time in 1973.
const kongMaxTTL = 100_000_000

// kong reads keys of Kong's plugin key-auth: answers of the Admin API, files of DB-less Kong and decK as JSON, and rows
// of its table.
func kong() *dialect {
	return &dialect{source: Kong, finish: finishKong, fields: fieldsOf(map[string][]string{
		fieldCredential: {"id"},
		fieldKey:        {"key"},
		"_consumer":     {"consumer", "consumer_id"},
		fieldCreated:    {"created_at"},
		"_ttl":          {"ttl"},
		"_tags":         {"tags"},
		Ignored:         {"ws_id", "cache_key", "updated_at"},
		fieldOwner:      {fieldOwner},
	})}
}

func isConsumer(v value) bool {
	return v.member("key").kind == absent && (v.member("username").kind == text || v.member("custom_id").kind == text)
}

func consumerOf(v value) Consumer {
	return Consumer{ID: v.member("id").text, Username: v.member("username").text, CustomID: v.member("custom_id").text}
}

// kongKeys returns the keys of an object of a Kong file: a key on its own, or those of a consumer.
func (r *Reader) kongKeys(e element) ([]element, error) {
	if !isConsumer(e.value) && e.container != "consumers" {
		return []element{e}, nil
	}
	c := consumerOf(e.value)
	if int64(len(r.consumers)) >= filelimits.KeyConsumers.Most {
		return nil, limitError(e.number, filelimits.KeyConsumers)
	}
	switch {
	case c.ID != "":
		r.consumers[c.ID] = c
	case c.Username == "":
		r.consumers[c.CustomID] = c
	}
	if e.container == "consumers" && c.Username != "" { // files name consumers so, and lists of the Admin API by ID
		r.consumers[c.Username] = c
	}
	var keys []element
	for _, m := range e.value.members {
		switch lower := strings.ToLower(m.name); {
		case lower == "keyauth_credentials":
			for _, key := range m.value.list {
				key.members = append(key.members, member{"consumer", e.value})
				keys = append(keys, element{number: e.number, value: key, container: m.name})
			}
		case lower == "acls" && len(m.value.list) > 0:
			r.note(noteGroups, e.number)
		case len(m.value.list) > 0 && lower != "tags" || len(m.value.members) > 0:
			r.note(noteCredentials, e.number)
		}
	}
	return keys, nil
}

func finishKong(d *draft, e row) {
	reference := d.extra["_consumer"].value
	name := reference.text
	for _, member := range []string{"id", "username", "custom_id"} {
		first(&name, reference.member(member).text)
	}
	c, known := d.reader.consumers[name]
	switch {
	case known:
	case isConsumer(reference): // whole
		c = consumerOf(reference)
	case name != "":
		c = Consumer{ID: name}
		d.note(noteConsumer)
	}
	d.row.Consumer = c
	first(&d.row.Owner, c.Username, c.CustomID, c.ID)
	if d.filled("_tags") {
		d.note(noteTags)
	}
	if ttl, ok := d.extra["_ttl"]; ok {
		d.kongTTL(ttl, e.container)
	}
}

// kongTTL reads when a key ends: the seconds that it has left in answers of the Admin API and decK's files, the seconds
// since 1970 in files of DB-less Kong, and a time in the table.
func (d *draft) kongTTL(c cell, container string) {
	n, err := strconv.ParseFloat(strings.TrimSpace(c.value.text), 64)
	switch {
	case err != nil:
		d.row.ExpiresAt = d.moment(c)
	case n > kongMaxTTL || container != "data":
		d.row.ExpiresAt = time.Unix(int64(min(n, 9e9)), 0).UTC()
		if n <= kongMaxTTL {
			d.note(noteTTLEarlier)
		}
	default:
		d.row.ExpiresAt = d.reader.options.Written.Add(time.Duration(n) * time.Second)
		d.row.Relative = true
		d.note(noteTTLWritten)
	}
}
