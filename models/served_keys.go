package models

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"postern/migrations"
)

// ServedKey has the parts of a key that a gateway needs for nearly every key, as ScanAllKeys reads it. Each key
// overwrites the slices of the previous one.
type ServedKey struct {
	ID    RawID
	Place []byte // the same for the same KeyPlace
	State []byte
	Owner []byte
	Hash  []byte

	Expires int64 // Unix microseconds; 0: never
	More    bool  // it also has limits, address ranges, a former secret or an identity
}

// KeyPlace has the fields that most keys of a project share.
type KeyPlace struct{ TeamID, ProjectID, TenantID, KeyTypeID, ProductID, Environment string }

// KeyPlace parses Place.
func (k *ServedKey) KeyPlace() KeyPlace {
	f := strings.Split(string(k.Place), unitSeparator)
	return KeyPlace{
		TeamID: f[0], ProjectID: f[1], TenantID: f[2], KeyTypeID: f[3], ProductID: f[4], Environment: f[5],
	}
}

// unitSeparator is in no id, no state and no name of an environment.
const unitSeparator = "\x1f"

// The statements of ScanAllKeys. Drivers convert each column of each row separately. For a million keys with 14
// columns, that takes longer than the rest of the start. So the statements return two columns, whose bytes drivers pass
// on unchanged.
var (
	allKeysSQLite = "SELECT hash, CAST(" + servedFields("coalesce(expires_at, '')") + " AS BLOB) FROM api_keys"

	allKeysPostgres = "SELECT hash, convert_to(" +
		servedFields("coalesce((extract(epoch FROM expires_at) * 1000000)::bigint::text, '')") +
		", 'UTF8') FROM api_keys"
)

func servedFields(expires string) string {
	return strings.Join([]string{
		"team_id", "project_id", "tenant_id", "key_type_id", "coalesce(product_id, '')", "environment", "state",
		expires,
		"CASE WHEN limits IS NULL AND allowed_cidrs = '[]' AND old_hash IS NULL AND metadata = '' AND consumer IS " +
			"NULL AND credential_id IS NULL THEN '' ELSE '1' END",
		"id", "owner", // the last one may have any character
	}, " || '"+unitSeparator+"' || ")
}

// ScanAllKeys calls fn with every key of the installation, in any order.
func (t *Tx) ScanAllKeys(fn func(*ServedKey) error) (err error) {
	statement, readExpiry := allKeysSQLite, textExpiry
	if t.dialect == migrations.Postgres {
		statement, readExpiry = allKeysPostgres, numericExpiry
	}
	rows, err := t.db.Raw(statement).Rows()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var k ServedKey
	var hash, fields sql.RawBytes
	into := []any{&hash, &fields}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := k.parse(hash, fields, readExpiry); err != nil {
			return err
		}
		if err := fn(&k); err != nil {
			return err
		}
	}
	return rows.Err()
}

const placeFields = 6

func (k *ServedKey) parse(hash, fields []byte, readExpiry func([]byte) (int64, error)) (err error) {
	at := 0
	next := func() []byte {
		end := max(0, bytes.IndexByte(fields[at:], unitSeparator[0]))
		field := fields[at : at+end]
		at += end + 1
		return field
	}
	for range placeFields {
		next()
	}
	k.Hash, k.Place, k.State = hash, fields[:at-1], next()
	if k.Expires, err = readExpiry(next()); err != nil {
		return fmt.Errorf("models: find when keys expire: %w", err)
	}
	k.More = len(next()) > 0
	id := next()
	if k.ID, err = parseRawID("key", id); err != nil {
		return err
	}
	k.Owner = fields[at:]
	return nil
}

// textExpiry parses a time as SQLite keeps it.
func textExpiry(text []byte) (int64, error) {
	if len(text) == 0 {
		return 0, nil
	}
	t, err := time.Parse("2006-01-02 15:04:05.999999999-07:00", string(text))
	return t.UnixMicro(), err
}

func numericExpiry(text []byte) (int64, error) {
	if len(text) == 0 {
		return 0, nil
	}
	return strconv.ParseInt(string(text), 10, 64)
}
