package models

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"postern/migrations"
)

// Options say which database to open, and with which limits: PostgreSQL if DatabaseURL is set, otherwise the SQLite
// file at SQLitePath. Zero values mean the defaults. MaxConns and Deadlines apply to PostgreSQL only.
type Options struct {
	DatabaseURL string
	SQLitePath  string
	MaxConns    int // of all pools together; at least MinConns
	Deadlines   Deadlines
}

// Deadlines bound the waits of a connection to PostgreSQL, except for Queue, which bounds the wait of a change of
// SQLite. PostgreSQL itself also enforces all of them but Feed and Network, so that they apply to a frozen process too.
type Deadlines struct {
	Queue     time.Duration // waiting for a turn to write to SQLite
	Connect   time.Duration // to open a connection
	Statement time.Duration // one statement of a request or job
	Lock      time.Duration // a lock that another transaction holds
	Idle      time.Duration // between two statements of a transaction
	Feed      time.Duration // one statement of the change feed
	Bulk      time.Duration // one statement of an export, of loading everything, or of verifying the audit log
	Network   time.Duration // for sent data to be acknowledged (TCP_USER_TIMEOUT)
}

// Idle is below Lock: a transaction that waits for a frozen process's lock gets it when the server ends that process's
// transaction.
var defaultDeadlines = Deadlines{
	Queue:     5 * time.Second,
	Connect:   3 * time.Second,
	Statement: 10 * time.Second,
	Lock:      3 * time.Second,
	Idle:      2 * time.Second,
	Feed:      2 * time.Second,
	Bulk:      time.Hour,
	Network:   10 * time.Second,
}

func (d Deadlines) orDefaults() Deadlines {
	return Deadlines{
		Queue:     cmp.Or(d.Queue, defaultDeadlines.Queue),
		Connect:   cmp.Or(d.Connect, defaultDeadlines.Connect),
		Statement: cmp.Or(d.Statement, defaultDeadlines.Statement),
		Lock:      cmp.Or(d.Lock, defaultDeadlines.Lock),
		Idle:      cmp.Or(d.Idle, defaultDeadlines.Idle),
		Feed:      cmp.Or(d.Feed, defaultDeadlines.Feed),
		Bulk:      cmp.Or(d.Bulk, defaultDeadlines.Bulk),
		Network:   cmp.Or(d.Network, defaultDeadlines.Network),
	}
}

// The connections are divided between pools, so that slow requests never take the change feed's connection. An
// additional one listens for notices.
const (
	feedConns    = 2
	bulkConns    = 4
	listenConns  = 1
	defaultConns = 27

	// MinConns is the minimum of MaxConns.
	MinConns = 10
)

// answerMargin is how long the client waits for the server to report its own deadline before it considers the
// connection dead. bulkSilence is the same for statements that may run for an hour but return rows during that time.
const (
	answerMargin = 500 * time.Millisecond
	bulkSilence  = time.Minute
)

// server is how to reach one PostgreSQL database, and every connection to it.
type server struct {
	config    *pgx.ConnConfig
	deadlines Deadlines
	most      int // connections of all pools
	wires     *wires
	circuit   circuit
	complete  atomic.Bool // the schema has been up to date: what it lacks later is being restored
}

// limits are the timeouts of a pool's connections.
type limits struct {
	statement, lock, idle time.Duration // 0: without end
	silence               time.Duration // without a byte while an answer is due; 0: without end
	dropsOthers           bool          // silence says that other silent connections are dead too
}

func newServer(o Options) (*server, error) {
	if endsEarly(o.DatabaseURL) {
		return nil, errors.New("the user name or password in the URL has a character that must be escaped: write " +
			"@ as %40, / as %2F, ? as %3F and # as %23")
	}
	config, err := pgx.ParseConfig(o.DatabaseURL)
	if err != nil {
		return nil, hideURL(err)
	}
	deadlines := o.Deadlines.orDefaults()
	config.ConnectTimeout = deadlines.Connect
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "postern"
	}
	return &server{
		config:    config,
		deadlines: deadlines,
		most:      cmp.Or(o.MaxConns, defaultConns),
		wires:     newWires(),
	}, nil
}

// connector is the configuration of connections that are held to the limits.
func (s *server) connector(l limits) *pgx.ConnConfig {
	config := s.config.Copy()
	dialer := &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{
			Enable:   true,
			Idle:     s.deadlines.Network / 2,
			Interval: s.deadlines.Network / 4,
			Count:    2,
		},
		Control: userTimeout(s.deadlines.Network),
	}
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return s.wires.add(conn, l), nil
	}
	lookup := config.LookupFunc
	config.LookupFunc = func(ctx context.Context, host string) ([]string, error) {
		ctx, stop := context.WithTimeout(ctx, s.deadlines.Connect) // the driver's covers the connection alone
		defer stop()
		return lookup(ctx, host)
	}
	return config
}

// pool opens a pool whose connections are held to the limits by client and server.
func (s *server) pool(l limits, most int) *sql.DB {
	c := stdlib.GetConnector(*s.connector(l), stdlib.OptionShouldPing(pingFails),
		stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error { return s.setLimits(ctx, conn, l) }))
	p := sql.OpenDB(breaker{c, &s.circuit, s.wires.heardSince})
	p.SetMaxOpenConns(most)
	p.SetMaxIdleConns(max(1, most/2))
	p.SetConnMaxIdleTime(5 * time.Minute)
	return p
}

// setLimits sets them for the session. As startup parameters a connection pooler
// would refuse them.
func (s *server) setLimits(ctx context.Context, conn *pgx.Conn, l limits) error {
	ctx, stop := context.WithTimeout(ctx, s.deadlines.Connect) // a pooler may have answered alone so far
	defer stop()
	_, err := conn.Exec(ctx, `SELECT set_config('statement_timeout', $1, false), set_config('lock_timeout', $2, false),
		set_config('idle_in_transaction_session_timeout', $3, false), set_config('tcp_user_timeout', $4, false)`,
		milliseconds(l.statement), milliseconds(l.lock), milliseconds(l.idle), milliseconds(s.deadlines.Network))
	if err != nil {
		return errors.Join(fmt.Errorf("set the session's limits: %w", err), conn.Close(ctx))
	}
	return nil
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// pingWithin is how long a connection that was not used for a second has to
// prove that it is alive.
const pingWithin = time.Second

// pingFails pings with its own deadline, which is shorter than the caller's. A ping that fails closes the connection,
// which is then replaced.
func pingFails(ctx context.Context, params stdlib.ShouldPingParams) bool {
	if params.IdleDuration <= time.Second {
		return false
	}
	ctx, stop := context.WithTimeout(ctx, pingWithin)
	defer stop()
	return params.Conn.Ping(ctx) != nil
}

func preparePostgres(o Options) (*DB, error) {
	s, err := newServer(o)
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL: %w", err)
	}
	db := &DB{
		dialect:   migrations.Postgres,
		server:    s,
		turns:     &turns{most: s.deadlines.Lock},
		importing: newQueue(importTurn),
	}
	most := s.most - feedConns - bulkConns - listenConns
	for _, p := range []struct {
		into   **gorm.DB
		limits limits
		most   int
	}{
		{&db.write, s.requestLimits(), most},
		{&db.feed, s.feedLimits(), feedConns},
		{&db.bulk, s.bulkLimits(), bulkConns},
	} {
		if *p.into, err = s.openPool(p.limits, p.most); err != nil {
			return nil, errors.Join(fmt.Errorf("open PostgreSQL: %w", err), db.Close())
		}
	}
	db.read = db.write
	return db, nil
}

func (s *server) openPool(l limits, most int) (*gorm.DB, error) {
	p := s.pool(l, most)
	config := gormConfig()
	config.DisableAutomaticPing = true
	db, err := gorm.Open(postgresDialector{&postgres.Dialector{Config: &postgres.Config{Conn: p}}, s}, config)
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return db, nil
}

func (s *server) requestLimits() limits {
	d := s.deadlines
	return limits{statement: d.Statement, lock: d.Lock, idle: d.Idle, silence: d.Statement + answerMargin}
}

func (s *server) feedLimits() limits {
	d := s.deadlines
	return limits{statement: d.Feed, lock: d.Lock, idle: d.Idle, silence: d.Feed + answerMargin, dropsOthers: true}
}

func (s *server) bulkLimits() limits {
	d := s.deadlines
	return limits{statement: d.Bulk, lock: d.Lock, idle: bulkSilence, silence: bulkSilence}
}

// migrationLimits let a step take as long as it takes, but not wait for a lock for
// long: while a change of a table waits for an export that reads it, everything
// else waits behind the change. Migrate tries again.
func (s *server) migrationLimits() limits { return limits{lock: s.deadlines.Lock} }

// withAt are the parameters of a connection string whose values can have an @.
var withAt = []string{"application_name", "fallback_application_name", "options", "user", "password", "passfile",
	"sslcert", "sslkey", "sslrootcert", "sslpassword"}

// endsEarly reports whether the password of a connection string may end at one of its own characters. The rest would be
// read as the host, the database or the parameters, which errors name.
func endsEarly(databaseURL string) bool {
	_, rest, _ := strings.Cut(databaseURL, "://")
	address, query, _ := strings.Cut(rest, "?")
	user, host, found := strings.Cut(address, "@")
	if found && (strings.ContainsAny(user, "/#") || strings.Contains(host, "@")) {
		return true
	}
	for parameter := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(parameter, "=")
		if strings.Contains(parameter, "@") && !slices.Contains(withAt, name) {
			return true
		}
	}
	return false
}

// hideURL keeps the password of a connection string out of error texts; the
// driver repeats the string when it cannot parse it.
func hideURL(err error) error {
	var parse *url.Error
	if errors.As(err, &parse) {
		return errors.New("it isn't a valid postgres:// URL")
	}
	return err
}
