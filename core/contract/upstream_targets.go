package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// UpstreamTargets are several targets of an environment, and how calls are spread over them.
type UpstreamTargets struct {
	Targets []UpstreamTarget `json:"targets,omitempty" flag:"weighted-target" doc:"Several targets, instead of target. The targets can differ only in host and port. At most 32" help:"One of several targets, as URL or URL=WEIGHT. The targets can differ only in host and port. At most 32"`
	Balance *UpstreamBalance `json:"balance,omitempty" flag:"balance" doc:"How calls are spread across targets: round_robin, least_connections, or a hash: {\"hash\": \"key\"}, with key, owner, ip or {\"header\": NAME}. Defaults to round_robin" help:"How calls are spread across targets: round_robin, least_connections, hash=key, hash=owner, hash=ip or hash=header:NAME. Defaults to round_robin"`
}

// UpstreamTarget is one of several targets.
type UpstreamTarget struct {
	URL    string `json:"url" doc:"http or https URL that calls are forwarded to"`
	Weight *int   `json:"weight,omitempty" doc:"Share of the calls, relative to the weights of the other targets: 0 to 65,535. A target with weight 0 gets no new calls. Defaults to 1"`
}

// Limits on the targets of an environment.
const (
	MostUpstreamTargets = 32
	MostTargetWeight    = 65_535
)

// WeightOrDefault returns the weight.
func (t UpstreamTarget) WeightOrDefault() int {
	if t.Weight == nil {
		return 1
	}
	return *t.Weight
}

// String returns the form that flags and lines of forms use: URL, or URL=WEIGHT if the weight isn't 1.
func (t UpstreamTarget) String() string {
	if weight := t.WeightOrDefault(); weight != 1 {
		return fmt.Sprintf("%s=%d", t.URL, weight)
	}
	return t.URL
}

// SetText parses the form that String returns.
func (t *UpstreamTarget) SetText(text string) error {
	*t = UpstreamTarget{URL: text}
	if at := strings.LastIndexByte(text, '='); at >= 0 {
		weight, err := strconv.Atoi(text[at+1:])
		if err != nil {
			return errors.New("URL or URL=WEIGHT, such as https://api.example.com=2")
		}
		t.URL, t.Weight = text[:at], &weight
	}
	return nil
}

// UpstreamBalance says how calls are spread over targets: one of the constants, or HashHeader with a name. In JSON it
// is a method such as "round_robin", {"hash": "key"}, "owner" or "ip", or {"hash": {"header": NAME}}.
type UpstreamBalance string

// The ways to spread calls. Those whose names begin with Hash send calls with the same value to the same target.
const (
	BalanceRoundRobin       UpstreamBalance = "round_robin"
	BalanceLeastConnections UpstreamBalance = "least_connections"

	HashKey    UpstreamBalance = "hash=key"
	HashOwner  UpstreamBalance = "hash=owner"
	HashIP     UpstreamBalance = "hash=ip"
	HashHeader UpstreamBalance = "hash=header:"
)

const hashPrefix = "hash="

// Header returns the name of the header that calls are spread by, and false if that is something else.
func (b UpstreamBalance) Header() (string, bool) {
	return strings.CutPrefix(string(b), string(HashHeader))
}

// Hashes reports whether calls with the same value go to the same target.
func (b UpstreamBalance) Hashes() bool { return strings.HasPrefix(string(b), hashPrefix) }

type hashedBy[By any] struct {
	Hash By `json:"hash"`
}

type headerName struct {
	Header string `json:"header"`
}

// MarshalJSON implements json.Marshaler.
func (b UpstreamBalance) MarshalJSON() ([]byte, error) {
	if name, ok := b.Header(); ok {
		return json.Marshal(hashedBy[headerName]{headerName{name}})
	}
	if by, ok := strings.CutPrefix(string(b), hashPrefix); ok {
		return json.Marshal(hashedBy[string]{by})
	}
	return json.Marshal(string(b))
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *UpstreamBalance) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, (*string)(b)) == nil {
		return nil
	}
	var text hashedBy[string]
	if json.Unmarshal(raw, &text) == nil {
		*b = UpstreamBalance(hashPrefix + text.Hash)
		return nil
	}
	var header hashedBy[headerName]
	err := json.Unmarshal(raw, &header)
	*b = HashHeader + UpstreamBalance(header.Hash.Header)
	return err
}

func (t UpstreamTargets) stated() UpstreamTargets {
	if t.Balance == nil {
		t.Balance = new(BalanceRoundRobin)
	}
	for i, one := range t.Targets {
		if one.Weight == nil {
			t.Targets = append([]UpstreamTarget{}, t.Targets...)
			t.Targets[i].Weight = new(1)
		}
	}
	return t
}

func (t UpstreamTargets) over(was UpstreamTargets) UpstreamTargets {
	if t.Targets != nil {
		was.Targets = t.Targets
	}
	if t.Balance != nil {
		was.Balance = t.Balance
	}
	return was
}

// TargetsOr returns the targets, or just target if the environment doesn't have several.
func (t UpstreamTargets) TargetsOr(target string) []UpstreamTarget {
	if len(t.Targets) == 0 {
		return []UpstreamTarget{{URL: target}}
	}
	return t.Targets
}
