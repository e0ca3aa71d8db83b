package contract

// Limits are the calls that windows of the clock (UTC) admit, by the window: second, minute, hour, day, month or year.
type Limits map[string]int64
