package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"postern/models"
)

const (
	mailQueue    = "mail" // a separate queue, so that a slow mail server delays nothing else
	mailWorkers  = 4
	mailAttempts = 6

	// mailLifetime is how long a mail is waited for. A later one would surprise its reader.
	mailLifetime = time.Hour
)

// Mail sends mail to accounts.
type Mail interface {
	SendRecovery(ctx context.Context, email, remoteAddr string) error
	SendInvitation(ctx context.Context, invitation string) error
	SendConfirmation(ctx context.Context, link string) error
	SendEmailChanged(ctx context.Context, before, after string) error
}

// MailJobs sends queued mail.
func MailJobs(mail Mail) Registration {
	return Registration{
		add: func(workers *river.Workers) error {
			return errors.Join(
				river.AddWorkerSafely(workers, &recoveryMailWorker{mail: mail}),
				river.AddWorkerSafely(workers, &invitationMailWorker{mail: mail}),
				river.AddWorkerSafely(workers, &confirmationMailWorker{mail: mail}),
				river.AddWorkerSafely(workers, &emailChangedMailWorker{mail: mail}),
			)
		},
		queue:      mailQueue,
		maxWorkers: mailWorkers,
	}
}

// EnqueueRecovery implements accounts.MailQueue.
func (q *Queue) EnqueueRecovery(ctx context.Context, tx *models.Tx, email, remoteAddr string) error {
	return q.enqueueMail(ctx, tx, recoveryMailArgs{Email: email, RemoteAddr: remoteAddr})
}

// EnqueueInvitation implements accounts.MailQueue.
func (q *Queue) EnqueueInvitation(ctx context.Context, tx *models.Tx, invitation string) error {
	return q.enqueueMail(ctx, tx, invitationMailArgs{Invitation: invitation})
}

// EnqueueConfirmation implements accounts.MailQueue.
func (q *Queue) EnqueueConfirmation(ctx context.Context, tx *models.Tx, link string) error {
	return q.enqueueMail(ctx, tx, confirmationMailArgs{Link: link})
}

// EnqueueEmailChanged implements accounts.MailQueue.
func (q *Queue) EnqueueEmailChanged(ctx context.Context, tx *models.Tx, before, after string) error {
	return q.enqueueMail(ctx, tx, emailChangedMailArgs{Before: before, After: after})
}

func (q *Queue) enqueueMail(ctx context.Context, tx *models.Tx, args river.JobArgs) error {
	options := &river.InsertOpts{Queue: mailQueue, MaxAttempts: mailAttempts}
	if _, err := q.client.InsertTx(ctx, tx.SQL(), args, options); err != nil {
		return fmt.Errorf("jobs: queue a mail: %w", err)
	}
	return nil
}

// mailRetry returns when to try again: after 5 seconds, and after four times as long each time.
func mailRetry(attempt int) time.Time {
	return time.Now().Add(5 * time.Second << (2 * min(max(attempt-1, 0), 4)))
}

type recoveryMailArgs struct {
	Email      string `json:"email"`
	RemoteAddr string `json:"remote_addr"` // of the request
}

// Kind implements river.JobArgs.
func (recoveryMailArgs) Kind() string { return "recovery_mail" }

type recoveryMailWorker struct {
	river.WorkerDefaults[recoveryMailArgs]
	mail Mail
}

// Work implements river.Worker.
func (w *recoveryMailWorker) Work(ctx context.Context, job *river.Job[recoveryMailArgs]) error {
	if time.Since(job.CreatedAt) > mailLifetime {
		return river.JobCancel(fmt.Errorf("not sent within %s", mailLifetime))
	}
	return w.mail.SendRecovery(ctx, job.Args.Email, job.Args.RemoteAddr)
}

// NextRetry implements river.Worker.
func (w *recoveryMailWorker) NextRetry(job *river.Job[recoveryMailArgs]) time.Time {
	return mailRetry(job.Attempt)
}

type invitationMailArgs struct {
	Invitation string `json:"invitation"`
}

// Kind implements river.JobArgs.
func (invitationMailArgs) Kind() string { return "invitation_mail" }

type invitationMailWorker struct {
	river.WorkerDefaults[invitationMailArgs]
	mail Mail
}

// Work implements river.Worker.
func (w *invitationMailWorker) Work(ctx context.Context, job *river.Job[invitationMailArgs]) error {
	return w.mail.SendInvitation(ctx, job.Args.Invitation)
}

// NextRetry implements river.Worker.
func (w *invitationMailWorker) NextRetry(job *river.Job[invitationMailArgs]) time.Time {
	return mailRetry(job.Attempt)
}

type confirmationMailArgs struct {
	Link string `json:"link"`
}

// Kind implements river.JobArgs.
func (confirmationMailArgs) Kind() string { return "confirmation_mail" }

type confirmationMailWorker struct {
	river.WorkerDefaults[confirmationMailArgs]
	mail Mail
}

// Work implements river.Worker.
func (w *confirmationMailWorker) Work(ctx context.Context, job *river.Job[confirmationMailArgs]) error {
	return w.mail.SendConfirmation(ctx, job.Args.Link)
}

// NextRetry implements river.Worker.
func (w *confirmationMailWorker) NextRetry(job *river.Job[confirmationMailArgs]) time.Time {
	return mailRetry(job.Attempt)
}

type emailChangedMailArgs struct {
	Before string `json:"before"`
	After  string `json:"after"`
}

// Kind implements river.JobArgs.
func (emailChangedMailArgs) Kind() string { return "email_changed_mail" }

type emailChangedMailWorker struct {
	river.WorkerDefaults[emailChangedMailArgs]
	mail Mail
}

// Work implements river.Worker.
func (w *emailChangedMailWorker) Work(ctx context.Context, job *river.Job[emailChangedMailArgs]) error {
	return w.mail.SendEmailChanged(ctx, job.Args.Before, job.Args.After)
}

// NextRetry implements river.Worker.
func (w *emailChangedMailWorker) NextRetry(job *river.Job[emailChangedMailArgs]) time.Time {
	return mailRetry(job.Attempt)
}
