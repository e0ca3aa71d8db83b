package keyfile

import (
	"math"

	"postern/core/contract"
)

// UsagePlan are the limits of a usage plan of AWS API Gateway, which count the calls of each key.
type UsagePlan struct {
	Rate   float64 // calls a second, at which its token bucket fills; 0 for none
	Quota  int64   // 0 for none
	Period string  // of the quota: DAY, WEEK or MONTH
}

// Limits returns the limits of a key, and whether a weekly quota became a daily one.
func (u UsagePlan) Limits() (limits contract.Limits, weekly bool) {
	limits = contract.Limits{}
	switch {
	case u.Rate >= 1:
		limits["second"] = int64(math.Min(u.Rate, 1e9))
	case u.Rate > 0:
		limits["minute"] = max(1, int64(u.Rate*60))
	}
	switch {
	case u.Quota <= 0:
	case u.Period == "DAY":
		limits["day"] = u.Quota
	case u.Period == "MONTH":
		limits["month"] = u.Quota
	default:
		limits["day"], weekly = max(1, u.Quota/7), true
	}
	return limits, weekly
}
