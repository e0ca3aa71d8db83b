package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"time"

	"github.com/jackc/pgx/v5"

	"postern/tools/procfs"
)

// databaseLoad measures what a PostgreSQL server on this machine does.
type databaseLoad struct {
	conn *pgx.Conn
	main int // process id of the server, whose children serve the connections
}

// loadFigures are what the server did in a stretch of time.
type loadFigures struct{ statements, cpu, connections float64 }

func newDatabaseLoad(ctx context.Context, address string) (*databaseLoad, error) {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return nil, errors.New("connect to PostgreSQL: it does not answer") // the error names the address
	}
	l := &databaseLoad{conn: conn}
	var backend int
	if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&backend); err != nil {
		return nil, err
	}
	if l.main, err = procfs.Parent(backend); err != nil {
		return nil, fmt.Errorf("the PostgreSQL server is not on this machine: %w", err)
	}
	return l, nil
}

func (l *databaseLoad) close() { _ = l.conn.Close(context.Background()) }

// during does something and returns what the server did during this time. Each statement outside of a
// transaction counts as one.
func (l *databaseLoad) during(ctx context.Context, something func() error) (loadFigures, error) {
	began := time.Now()
	before, cpuBefore, err := l.totals(ctx)
	if err != nil {
		return loadFigures{}, err
	}
	if err := something(); err != nil {
		return loadFigures{}, err
	}
	// Backends report what they have done at most once a second (PostgreSQL 15, 28.2.2).
	if err := sleep(ctx, 1100*time.Millisecond); err != nil {
		return loadFigures{}, err
	}
	after, cpuAfter, err := l.totals(ctx)
	if err != nil {
		return loadFigures{}, err
	}
	seconds := time.Since(began).Seconds()
	out := loadFigures{statements: (after - before) / seconds, cpu: 100 * (cpuAfter - cpuBefore) / seconds}
	err = l.conn.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()").
		Scan(&out.connections)
	return out, err
}

// totals are the transactions that ended so far, and the seconds of CPU that the server's
// processes have used.
func (l *databaseLoad) totals(ctx context.Context) (transactions, cpu float64, err error) {
	err = l.conn.QueryRow(ctx, `SELECT xact_commit + xact_rollback FROM pg_stat_database
		WHERE datname = current_database()`).Scan(&transactions)
	if err != nil {
		return 0, 0, err
	}
	children, err := procfs.Children(l.main)
	if err != nil {
		return 0, 0, err
	}
	for _, pid := range children {
		used, err := cpuSeconds([]int{pid})
		if errors.Is(err, os.ErrNotExist) {
			continue // a connection that has just ended
		}
		if err != nil {
			return 0, 0, err
		}
		cpu += used
	}
	return transactions, cpu, nil
}

func (f loadFigures) print(name string) {
	fmt.Printf("%-44s %12.0f %12.1f %12.0f\n", name, f.statements, f.cpu, f.connections)
}

// farAway returns the database's address through a relay that holds every byte back for delay,
// in both directions, as a long way does. The relay ends with ctx.
func farAway(ctx context.Context, address string, delay time.Duration) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", errors.New("-database is not a URL") // not repeated: it has a password
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	context.AfterFunc(ctx, func() { _ = listener.Close() })
	server := u.Host
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := new(net.Dialer).DialContext(ctx, "tcp", server)
			if err != nil {
				_ = near.Close()
				continue
			}
			context.AfterFunc(ctx, func() { _, _ = near.Close(), far.Close() })
			go carryLate(near, far, delay)
			go carryLate(far, near, delay)
		}
	}()
	u.Host = listener.Addr().String()
	return u.String(), nil
}

// carryLate copies what is read, each piece delay after it came, until either side ends.
func carryLate(to io.WriteCloser, from io.Reader, delay time.Duration) {
	type piece struct {
		data []byte
		due  time.Time
	}
	pieces := make(chan piece, 1024)
	go func() {
		defer close(pieces)
		for {
			data := make([]byte, 32<<10)
			n, err := from.Read(data)
			if n > 0 {
				pieces <- piece{data[:n], time.Now().Add(delay)}
			}
			if err != nil {
				return
			}
		}
	}()
	failed := false
	for p := range pieces {
		time.Sleep(time.Until(p.due))
		if !failed {
			_, err := to.Write(p.data)
			failed = err != nil // what comes still has to be taken
		}
	}
	_ = to.Close()
}
