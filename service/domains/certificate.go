package domains

import (
	"errors"
	"fmt"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/service/access"
)

// certificateOf returns the state of a verified name's certificate. A file comes before ACME,
// as it does in a handshake.
func (s *Service) certificateOf(tx *models.Tx, row models.Domain) (contract.DomainCertificate, error) {
	if row.VerifiedAt == nil {
		return contract.DomainCertificate{State: contract.NoCertificate}, nil
	}
	now := models.Now()
	if s.InFiles != nil {
		if ends, found := s.InFiles(row.Host); found {
			out := contract.DomainCertificate{State: validUntil(ends, now), EndsAt: contract.UTC(&ends)}
			out.Source = contract.OrNull(contract.CertificateFromFiles)
			return out, nil
		}
	}
	if !s.ACME {
		return contract.DomainCertificate{State: contract.NoCertificate}, nil
	}
	rows, err := tx.CertificatesOf([]string{row.Host})
	if err != nil {
		return contract.DomainCertificate{}, fmt.Errorf("domains: certificate of %s: %w", row.Host, err)
	}
	out := contract.DomainCertificate{State: contract.OrderedCertificate}
	out.Source = contract.OrNull(contract.CertificateFromACME)
	if len(rows) == 0 {
		return out, nil
	}
	out.EndsAt, out.Problem = contract.UTC(rows[0].EndsAt), contract.OrNull(rows[0].Problem)
	switch {
	case out.EndsAt != nil:
		out.State = validUntil(*out.EndsAt, now)
	case out.Problem != nil:
		out.State = contract.FailedCertificate
	}
	if out.Problem != nil {
		out.RetryAt = contract.UTC(&rows[0].DueAt)
	}
	return out, nil
}

func validUntil(ends, now time.Time) string {
	if ends.After(now) {
		return contract.ValidCertificate
	}
	return contract.ExpiredCertificate
}

// ReportCertificate writes the audit entry of an attempt to obtain the certificate of a host name by ACME: its outcome,
// and why it failed. It writes nothing for a name that is no longer verified, because no team owns it.
func ReportCertificate(tx *models.Tx, host, what, problem string) error {
	row, err := tx.VerifiedDomain(host)
	if errors.Is(err, models.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("domains: find %s: %w", host, err)
	}
	owner, err := tx.ProjectByID(row.ProjectID)
	if err != nil {
		return fmt.Errorf("domains: project of %s: %w", host, err)
	}
	detail := map[string]string{"change": what, "host": host, "name": owner.Name}
	if problem != "" {
		detail["problem"] = problem
	}
	err = access.Record(tx, access.System(), access.Entry{
		Action:  access.DomainReport,
		Object:  row.ID,
		Project: owner.ID,
		Team:    owner.TeamID,
		Detail:  detail,
	})
	if err != nil {
		return fmt.Errorf("domains: audit %s: %w", host, err)
	}
	return nil
}
