package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

const (
	domainsEvery  = 15 * time.Minute
	domainsWithin = 10 * time.Minute // the next run continues where this one stopped
)

// Domains looks up the TXT records of custom host names again.
type Domains interface {
	Recheck(ctx context.Context) error
}

// DomainJobs checks the records that are due every 15 minutes.
func DomainJobs(domains Domains) Registration {
	return Registration{
		add:      add(&domainWorker{domains: domains}),
		periodic: []*river.PeriodicJob{every(domainsEvery, domainArgs{})},
	}
}

type domainArgs struct{}

// Kind implements river.JobArgs.
func (domainArgs) Kind() string { return "domain_check" }

type domainWorker struct {
	river.WorkerDefaults[domainArgs]
	domains Domains
}

// Work implements river.Worker.
func (w *domainWorker) Work(ctx context.Context, _ *river.Job[domainArgs]) error {
	return w.domains.Recheck(ctx)
}

// Timeout implements river.Worker.
func (w *domainWorker) Timeout(*river.Job[domainArgs]) time.Duration { return domainsWithin }
