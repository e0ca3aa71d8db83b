package models_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"postern/models"
	"postern/platform/fault"
)

// scriptedServer accepts connections to PostgreSQL, answers each start with the
// messages, and nothing after them. It returns its URL.
func scriptedServer(t *testing.T, answer ...pgproto3.BackendMessage) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				server := pgproto3.NewBackend(c, c)
				if _, err := server.ReceiveStartupMessage(); err != nil {
					return
				}
				for _, message := range answer {
					server.Send(message)
				}
				_ = server.Flush()
				for err == nil {
					_, err = server.Receive()
				}
			}()
		}
	}()
	return "postgres://postern@" + listener.Addr().String() + "/postern?sslmode=disable"
}

func prepare(t *testing.T, databaseURL string) *models.DB {
	t.Helper()
	db, err := models.Prepare(t.Context(), models.Options{DatabaseURL: databaseURL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestListen_noAnswer(t *testing.T) {
	db := prepare(t, scriptedServer(t, &pgproto3.AuthenticationOk{}, &pgproto3.ReadyForQuery{TxStatus: 'I'}))
	ctx, stop := context.WithCancel(t.Context())
	disconnects := make(chan error, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		db.Listen(ctx, func() { t.Error("something was heard") }, func(err error) {
			select {
			case disconnects <- err:
			default:
			}
		})
	}()
	select {
	case <-disconnects:
	case <-time.After(endWithin):
		t.Error("LISTEN still waits for its answer")
	}
	stop()
	<-ended
}

func TestDB_serverStarting(t *testing.T) {
	db := prepare(t, scriptedServer(t, &pgproto3.ErrorResponse{
		Severity: "FATAL",
		Code:     "57P03",
		Message:  "the database system is starting up",
	}))
	if _, err := db.Read(t.Context()).LastRevision(); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("got %v, want an error that says to try again", err)
	}
}
