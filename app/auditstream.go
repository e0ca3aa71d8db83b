package app

import (
	"log/slog"

	"postern/models"
	"postern/platform/config"
	"postern/service/audit"
)

// auditStreams returns the streams of the audit log that are configured.
func auditStreams(config config.Config, db *models.DB, log *slog.Logger) []*audit.Stream {
	var streams []*audit.Stream
	add := func(name string, sink audit.Sink) {
		streams = append(streams, &audit.Stream{
			DB:       db,
			Name:     name,
			Sink:     sink,
			Position: config.AuditPosition(name),
			Log:      log,
		})
	}
	c := config.AuditStream
	if c.File != "" {
		add("file", audit.FileSink(c.File))
	}
	if c.Webhook != "" {
		add("webhook", audit.WebhookSink{URL: c.Webhook.Reveal(), Token: c.Token})
	}
	return streams
}
