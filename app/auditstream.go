package app

import "postern/service/audit"

// auditStreams returns the streams of the audit log that are configured.
func (a *App) auditStreams() []*audit.Stream {
	var streams []*audit.Stream
	add := func(name string, sink audit.Sink) {
		streams = append(streams, &audit.Stream{
			DB:       a.state.db,
			Name:     name,
			Sink:     sink,
			Position: a.Config.AuditPosition(name),
			Log:      a.log,
		})
	}
	c := a.Config.AuditStream
	if c.File != "" {
		add("file", audit.FileSink(c.File))
	}
	if c.Webhook != "" {
		add("webhook", audit.WebhookSink{URL: c.Webhook.Reveal(), Token: c.Token})
	}
	return streams
}
