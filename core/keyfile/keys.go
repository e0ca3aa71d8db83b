package keyfile

import (
	"crypto/sha256"
	"slices"
	"strings"
)

// byValue returns a row for each value of a key.
func (d *draft) byValue() (rows []Row) {
	for _, c := range d.keys {
		switch {
		case c.value.kind != text:
			d.refuse(c, CodeUnusable, "Write the key as a string, because numbers lose digits.")
			continue
		case c.value.text == "":
			d.refuse(c, CodeMissing, "The row has no key. Add the key or its SHA-256.")
			continue
		}
		value := c.value.text
		if code, wrong := checkValue(value, c.csv); wrong != "" {
			d.refuse(c, code, wrong)
			continue
		}
		if d.repeats(value) {
			d.refuse(c, CodeInvalid, "Another column also contains the key, and would be stored and shown. Check the "+
				"mapping of the columns, or leave that column out.")
			continue
		}
		row := d.row
		row.SHA256, row.ByValue, row.Weak = sha256.Sum256([]byte(value)), true, IsWeak(value)
		row.Prefix, row.Last4 = shown(value)
		if !has(rows, row.SHA256) { // both keys of an owner can be the same
			rows = append(rows, row)
		}
	}
	return rows
}

// repeats reports whether a part of the row that isn't hashed has the key. Shorter keys can be a word by chance.
func (d *draft) repeats(key string) bool {
	if len(key) < strongLength {
		return false
	}
	texts := []string{
		d.row.Owner, d.row.CredentialID, d.row.Name, d.row.Description, d.row.KeyType, d.row.Tenant, d.row.Product,
		d.row.Environment, d.row.Consumer.ID, d.row.Consumer.Username, d.row.Consumer.CustomID,
	}
	has := func(text string) bool { return strings.Contains(text, key) }
	return slices.ContainsFunc(texts, has) || slices.ContainsFunc(d.row.Scopes, has) || has(string(d.row.Metadata))
}

// byHash returns a row for each hash, unless the row has the hash's key.
func (d *draft) byHash() (rows []Row) {
	if len(d.hashes) == 0 {
		return nil
	}
	values := d.byValueHashes()
	for _, c := range d.hashes {
		if c.value.kind != text || c.value.text == "" {
			d.refuse(c, CodeMissing, "The row has no hash. Add the key or its SHA-256.")
			continue
		}
		hash, wrong := readHash(c.value.text)
		switch {
		case wrong != "" && c.csv && damaged(c.value.text) != "":
			d.refuse(c, CodeHash, damaged(c.value.text))
		case wrong != "":
			d.refuse(c, CodeHash, wrong)
		case len(values) > 0 && !slices.Contains(values, hash):
			d.refuse(c, CodeHash, "The hash isn't the SHA-256 of the key in this row. Leave out the column with the "+
				"hash.")
		case len(values) == 0 && !has(rows, hash):
			row := d.row
			row.SHA256 = hash
			d.note(noteHashes)
			rows = append(rows, row)
		}
	}
	return rows
}

func (d *draft) byValueHashes() (hashes [][32]byte) {
	for _, c := range d.keys {
		hashes = append(hashes, sha256.Sum256([]byte(c.value.text)))
	}
	return hashes
}

func has(rows []Row, hash [32]byte) bool {
	return slices.ContainsFunc(rows, func(r Row) bool { return r.SHA256 == hash })
}
