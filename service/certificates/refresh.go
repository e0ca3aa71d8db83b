package certificates

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	"postern/models"
	"postern/platform/secrets"
)

// refresh reads the rows that have changed since the last time.
func (s *Service) refresh(ctx context.Context) error {
	before := s.read.Load()
	if before == nil {
		before = &view{}
	}
	tx := s.DB.Read(ctx)
	marks, err := tx.CertificateMarks()
	if err != nil {
		return err
	}
	next := &view{rows: make(map[string]row, len(marks))}
	var changed []string
	for host, mark := range marks {
		if known, ok := before.rows[host]; ok && known.mark.Equal(mark) {
			next.rows[host] = known
			continue
		}
		changed = append(changed, host)
	}
	rows, err := tx.CertificatesOf(changed)
	if err != nil {
		return err
	}
	for _, one := range rows {
		last := before.rows[one.Host]
		read, err := s.parse(tx, one)
		if err != nil {
			read.mark, read.inUse, read.problem = time.Time{}, last.inUse, err.Error() // read again the next time
			if read.problem != last.problem {
				s.Log.Error("could not use a certificate", "host", one.Host, "error", err)
			}
		}
		next.rows[one.Host] = read
	}
	s.read.Store(next)
	return nil
}

// parse opens a row. With an error, the row has no certificate.
func (s *Service) parse(tx *models.Tx, one models.Certificate) (row, error) {
	out := row{mark: one.UpdatedAt, directory: one.Directory, dueAt: one.DueAt}
	if one.HeldUntil != nil {
		out.heldUntil = *one.HeldUntil
	}
	if one.Challenge != "" {
		client, err := s.challenger(tx)
		if err != nil {
			return out, err
		}
		challenge, err := client.TLSALPN01ChallengeCert(one.Challenge, one.Host)
		if err != nil {
			return out, fmt.Errorf("certificates: challenge of %s: %w", one.Host, err)
		}
		out.challenge = &challenge
	}
	if one.Chain == "" {
		return out, nil
	}
	key, err := s.Vault.Open(tx, PrivateKeyPlace(one.Host), one.PrivateKey)
	if err != nil {
		return out, fmt.Errorf("certificates: private key of %s: %w", one.Host, err)
	}
	pair, err := tls.X509KeyPair([]byte(one.Chain), []byte(key.Reveal()))
	if err != nil {
		return out, fmt.Errorf("certificates: certificate of %s: %w", one.Host, err)
	}
	out.inUse = &pair
	return out, nil
}

// PrivateKeyPlace returns the place that the private key of a host name is sealed for.
func PrivateKeyPlace(host string) secrets.Place {
	return secrets.Place{
		Table:   "certificates",
		Row:     host,
		Column:  "private_key",
		Purpose: secrets.ForGateways,
	}
}
