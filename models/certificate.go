package models

import (
	"fmt"
	"time"

	"gorm.io/gorm/clause"

	"postern/platform/secrets"
)

// Certificate is a row of certificates: the ACME certificate of a custom host name.
type Certificate struct {
	Host       string `gorm:"primaryKey"`
	Directory  string // the ACME server of the last attempt
	Chain      string // PEM; "" while there is none
	PrivateKey secrets.Sealed
	EndsAt     *time.Time
	DueAt      time.Time // when it will be obtained, renewed or retried
	Failures   int64     // since the last success
	Problem    string    // why the last attempt failed
	Holder     string    // the replica that is obtaining it, "" for none
	HeldUntil  *time.Time
	Challenge  string // the token that every replica presents during the attempt
	UpdatedAt  time.Time
}

// ACMEAccount is a row of acme_accounts: the installation's account at an ACME server.
type ACMEAccount struct {
	Directory  string `gorm:"primaryKey"`
	PrivateKey secrets.Sealed
	PublicKey  string // PKIX, in PEM
	CreatedAt  time.Time
}

// CertificateMarks returns when each certificate's row was last written, by host name.
func (t *Tx) CertificateMarks() (map[string]time.Time, error) {
	var rows []Certificate
	if err := t.db.Select("host", "updated_at").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("models: list the certificates: %w", err)
	}
	marks := make(map[string]time.Time, len(rows))
	for _, row := range rows {
		marks[row.Host] = row.UpdatedAt
	}
	return marks, nil
}

// CertificatesOf returns the rows of host names.
func (t *Tx) CertificatesOf(hosts []string) ([]Certificate, error) {
	var rows []Certificate
	for from := 0; from < len(hosts); from += batchSize {
		var some []Certificate
		part := hosts[from:min(from+batchSize, len(hosts))]
		if err := t.db.Where("host IN ?", part).Find(&some).Error; err != nil {
			return nil, fmt.Errorf("models: find certificates: %w", err)
		}
		rows = append(rows, some...)
	}
	return rows, nil
}

// HoldCertificate reserves a host name's certificate for holder, the process that obtains it, for the given time. It
// returns false if the certificate isn't due, or if another process holds it. A certificate from another ACME server is
// always due.
func (t *Tx) HoldCertificate(host, directory, holder string, during time.Duration) (bool, error) {
	now, err := t.clock()
	if err != nil {
		return false, err
	}
	first := Certificate{Host: host, Directory: directory, DueAt: now, UpdatedAt: now}
	if err := t.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&first).Error; err != nil {
		return false, fmt.Errorf("models: add the certificate of %s: %w", host, err)
	}
	until := now.Add(during)
	res := t.db.
		Model(&Certificate{}).
		Where("host = ? AND (held_until IS NULL OR held_until < ?)", host, now).
		Where("due_at <= ? OR directory <> ?", now, directory).
		Select("Directory", "Holder", "HeldUntil", "Challenge", "UpdatedAt").
		UpdateColumns(&Certificate{Directory: directory, Holder: holder, HeldUntil: &until, UpdatedAt: now})
	return res.RowsAffected == 1, res.Error
}

// SetCertificateChallenge writes the token of a certificate's challenge. It returns false if holder no longer holds the
// certificate.
func (t *Tx) SetCertificateChallenge(host, holder, token string) (bool, error) {
	now, err := t.clock()
	if err != nil {
		return false, err
	}
	res := t.db.
		Model(&Certificate{}).
		Where("host = ? AND holder = ?", host, holder).
		Select("Challenge", "UpdatedAt").
		UpdateColumns(&Certificate{Challenge: token, UpdatedAt: now})
	return res.RowsAffected == 1, res.Error
}

// HeldCertificate finds the row that holder holds.
func (t *Tx) HeldCertificate(host, holder string) (Certificate, error) {
	var one Certificate
	return one, t.db.Where("host = ? AND holder = ?", host, holder).Take(&one).Error
}

// ReleaseCertificate writes the outcome of an attempt and ends the hold. It changes nothing if the hold expired and
// another process took over.
func (t *Tx) ReleaseCertificate(row Certificate, holder string) error {
	now, err := t.clock()
	if err != nil {
		return err
	}
	row.Holder, row.HeldUntil, row.Challenge, row.UpdatedAt = "", nil, "", now
	return t.db.
		Model(&Certificate{}).
		Where("host = ? AND holder = ?", row.Host, holder).
		Select(
			"Chain", "PrivateKey", "EndsAt", "DueAt", "Failures", "Problem", "Holder", "HeldUntil", "Challenge",
			"UpdatedAt",
		).UpdateColumns(&row).Error
}

// DeleteUnusedCertificates removes the certificates of host names that no project has verified, and returns their
// number.
func (t *Tx) DeleteUnusedCertificates() (int64, error) {
	res := t.db.
		Where("holder = '' AND host NOT IN (SELECT host FROM domains WHERE verified_at IS NOT NULL)").
		Delete(&Certificate{})
	return res.RowsAffected, res.Error
}

// ACMEAccountAt finds the installation's account at an ACME server.
func (t *Tx) ACMEAccountAt(directory string) (ACMEAccount, error) {
	var one ACMEAccount
	return one, t.db.Where("directory = ?", directory).Take(&one).Error
}

// ACMEPublicKey returns the public key of the installation's account at an ACME server.
func (t *Tx) ACMEPublicKey(directory string) (string, error) {
	var one ACMEAccount
	err := t.db.Select("public_key").Where("directory = ?", directory).Take(&one).Error
	return one.PublicKey, err
}

// AddACMEAccount inserts an account. If another replica was first, its account stays.
func (t *Tx) AddACMEAccount(row ACMEAccount) error {
	return t.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error
}
