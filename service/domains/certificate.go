package domains

import (
	"errors"
	"fmt"
	"time"

	"postern/models"
	"postern/service/access"
)

// CertificateState is the state of a host name's certificate, as it is shown.
type CertificateState string

// The states.
const (
	// NoCertificate: none is for the name, so that the gateway presents its own to callers by TLS.
	NoCertificate CertificateState = "none"
	// OrderedCertificate: the ACME server has not issued the first one yet.
	OrderedCertificate CertificateState = "ordered"
	// ValidCertificate: callers get it.
	ValidCertificate CertificateState = "valid"
	// ExpiredCertificate: callers get it, and refuse it.
	ExpiredCertificate CertificateState = "expired"
	// FailedCertificate: there is none, since the last attempt to obtain it failed.
	FailedCertificate CertificateState = "failed"
)

// The values of Certificate.Source.
const (
	SourceFiles = "files" // of the operator
	SourceACME  = "acme"
)

// Certificate is the certificate of a verified host name.
type Certificate struct {
	State   CertificateState
	Source  string // SourceFiles, SourceACME; "" for none
	EndsAt  *time.Time
	Problem string     // why the last attempt to obtain or renew it failed; "": it did not
	RetryAt *time.Time // when it is tried again, after a failure
}

// certificateOf returns the state of a verified name's certificate. A file comes before ACME,
// as it does in a handshake.
func (s *Service) certificateOf(tx *models.Tx, row models.Domain) (Certificate, error) {
	if row.VerifiedAt == nil {
		return Certificate{State: NoCertificate}, nil
	}
	now := models.Now()
	if s.InFiles != nil {
		if ends, found := s.InFiles(row.Host); found {
			return Certificate{State: validUntil(ends, now), Source: SourceFiles, EndsAt: &ends}, nil
		}
	}
	if !s.ACME {
		return Certificate{State: NoCertificate}, nil
	}
	rows, err := tx.CertificatesOf([]string{row.Host})
	if err != nil {
		return Certificate{}, fmt.Errorf("domains: certificate of %s: %w", row.Host, err)
	}
	out := Certificate{State: OrderedCertificate, Source: SourceACME}
	if len(rows) == 0 {
		return out, nil
	}
	out.EndsAt, out.Problem = rows[0].EndsAt, rows[0].Problem
	switch {
	case out.EndsAt != nil:
		out.State = validUntil(*out.EndsAt, now)
	case out.Problem != "":
		out.State = FailedCertificate
	}
	if out.Problem != "" {
		out.RetryAt = &rows[0].DueAt
	}
	return out, nil
}

func validUntil(ends, now time.Time) CertificateState {
	if ends.After(now) {
		return ValidCertificate
	}
	return ExpiredCertificate
}

// ReportCertificate writes the audit entry of an attempt to obtain the certificate of a host
// name by ACME: what became of it, and why it failed. A name that is no longer verified has
// no team to tell.
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
