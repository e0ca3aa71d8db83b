package ratelimit

import (
	"errors"
	"sync"

	"github.com/redis/go-redis/v9"
)

// deployment is where Redis counts: the server at the configured address, or the cluster that it belongs to. A cluster
// names itself: the first call for keys of another node is answered with the address of that node (MOVED).
type deployment struct {
	options *redis.Options
	trace   bool
	single  *redis.Client

	mu      sync.Mutex
	cluster *redis.ClusterClient // nil: no node has named another one yet
}

func newDeployment(options *redis.Options, trace bool) *deployment {
	s := &deployment{options: options, trace: trace, single: redis.NewClient(options)}
	if trace {
		s.single.AddHook(newTraceHook(options))
	}
	return s
}

func (s *deployment) client() redis.UniversalClient {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cluster != nil {
		return s.cluster
	}
	return s.single
}

// follow reports whether an error named another node of a cluster. From then on client has the whole cluster: it finds
// the nodes at the configured address and at the one that was named, and follows changes.
func (s *deployment) follow(err error) bool {
	named, moved := redis.IsMovedError(err)
	if !moved {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cluster != nil {
		return true // another call has followed at the same time
	}
	o := s.options
	s.cluster = redis.NewClusterClient(&redis.ClusterOptions{
		Addrs:                 []string{o.Addr, named},
		ClientName:            o.ClientName,
		Protocol:              o.Protocol,
		Username:              o.Username,
		Password:              o.Password,
		TLSConfig:             o.TLSConfig,
		DialTimeout:           o.DialTimeout,
		DialerRetries:         o.DialerRetries,
		ReadTimeout:           o.ReadTimeout,
		WriteTimeout:          o.WriteTimeout,
		ContextTimeoutEnabled: o.ContextTimeoutEnabled,
		PoolFIFO:              o.PoolFIFO,
		PoolSize:              o.PoolSize,
		PoolTimeout:           o.PoolTimeout,
		MinIdleConns:          o.MinIdleConns,
		MaxIdleConns:          o.MaxIdleConns,
		MaxActiveConns:        o.MaxActiveConns,
		ConnMaxIdleTime:       o.ConnMaxIdleTime,
		ConnMaxLifetime:       o.ConnMaxLifetime,
	})
	if s.trace {
		s.cluster.AddHook(newTraceHook(&redis.Options{})) // a command's node is not known before it is sent
	}
	return true
}

func (s *deployment) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cluster == nil {
		return s.single.Close()
	}
	return errors.Join(s.single.Close(), s.cluster.Close())
}
