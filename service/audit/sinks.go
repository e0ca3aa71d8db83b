package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"postern/platform/secrets"
)

// FileSink appends lines to a file. Other programs, such as logrotate, may move the file away between two deliveries.
type FileSink string

// Deliver implements Sink. The lines are on the disk when it returns.
func (f FileSink) Deliver(_ context.Context, lines []byte) error {
	file, err := os.OpenFile(string(f), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o640) //nolint:gosec // a group reads it
	if err != nil {
		return err
	}
	// A line that a full disk or a crash has cut off is ended; it is delivered again.
	if info, err := file.Stat(); err == nil && info.Size() > 0 {
		var end [1]byte
		if _, err := file.ReadAt(end[:], info.Size()-1); err == nil && end[0] != '\n' {
			lines = append([]byte{'\n'}, lines...)
		}
	}
	_, err = file.Write(lines)
	return errors.Join(err, file.Sync(), file.Close())
}

// webhookWithin bounds one delivery.
const webhookWithin = 10 * time.Second

// WebhookSink posts lines as application/x-ndjson to a URL that the operator configured.
type WebhookSink struct {
	URL   string
	Token secrets.Secret // sent as a bearer token; "" for none
}

// Deliver implements Sink. Only a 2xx status confirms the lines. Redirects aren't followed.
func (w WebhookSink) Deliver(ctx context.Context, lines []byte) error {
	ctx, stop := context.WithTimeout(ctx, webhookWithin)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(lines))
	if err != nil {
		return errors.New("the URL isn't valid") // it may have a secret
	}
	r.Header.Set("Content-Type", "application/x-ndjson")
	if token := w.Token.Reveal(); token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("post to %s: %w", r.URL.Host, errors.Unwrap(err)) // without the path, which may have a secret
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // so that the connection is used again
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("%s returned %s", r.URL.Host, answer.Status)
	}
	return nil
}
