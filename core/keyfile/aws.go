package keyfile

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"postern/core/contract"
	"postern/core/filelimits"
)

// aws reads API keys of AWS API Gateway: the CSV file that AWS imports, and the JSON of get-api-keys, get-usage-plans
// and get-usage-plan-keys.
func aws() *dialect {
	return &dialect{source: AWS, finish: finishAWS, fields: fieldsOf(map[string][]string{
		fieldCredential:  {"id"},
		fieldKey:         {"key", "value"},
		fieldName:        {"name"},
		"_customer":      {"customerid"},
		fieldDescription: {"description"},
		fieldEnabled:     {"enabled"},
		"_plans":         {"usageplanids"},
		fieldCreated:     {"createddate"},
		"_stages":        {"stagekeys"},
		"_tags":          {"tags"},
		Ignored:          {"lastupdateddate"},
		fieldOwner:       {fieldOwner},
	})}
}

func finishAWS(d *draft, _ row) {
	first(&d.row.Owner, d.textOf("_customer"), d.row.Name)
	if d.filled("_stages") {
		d.note(noteStages)
	}
	if d.filled("_tags") {
		d.note(noteTags)
	}
	if d.filled("_plans") {
		d.note(noteUsagePlans)
	}
}

// awsKeys are the keys of a file of AWS, which are known when all of it was read: plans can follow keys, and the last
// row of a repeated key wins.
type awsKeys struct {
	results []result
	last    map[[32]byte]int // position in results of the last row with a key
	plans   map[string]plan
	members map[string][]string // plans by ID of the key
	joined  bool                // the file has keys of plans
}

type plan struct {
	limits contract.Limits
	notes  []string
}

// readAWS reads the whole file.
func (r *Reader) readAWS() error {
	keys := awsKeys{last: map[[32]byte]int{}, plans: map[string]plan{}, members: map[string][]string{}}
	for {
		results, err := r.read(&keys)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		for _, found := range results {
			if len(found.refused) == 0 {
				keys.last[found.row.SHA256] = len(keys.results)
			}
			keys.results = append(keys.results, found)
		}
		if int64(len(keys.results)) > filelimits.KeyConsumers.Most {
			return limitError(keys.results[len(keys.results)-1].row.Number, filelimits.KeyConsumers)
		}
	}
	for i := range keys.results {
		r.finishAWS(&keys, i)
	}
	r.ready = keys.results
	return nil
}

// finishAWS sets the limits of a key, or refuses the key if a later row contains it again.
func (r *Reader) finishAWS(keys *awsKeys, i int) {
	found := &keys.results[i]
	if len(found.refused) > 0 {
		return
	}
	if last := keys.last[found.row.SHA256]; last != i {
		found.refused = []Refusal{{
			Row: found.row.Number, Code: CodeRepeated, Detail: fmt.Sprintf("Row %d has the same key. If several rows "+
				"have the same key, AWS uses the last one, and so does the import.", keys.results[last].row.Number),
		}}
		return
	}
	number := found.row.Number
	plans := keys.members[found.row.CredentialID]
	if keys.joined && len(plans) == 0 && found.row.State == contract.KeyActive {
		found.row.State = contract.KeyFrozen
		r.note(noteNoPlan, number)
	}
	if !keys.joined && len(keys.plans) > 0 {
		r.note(noteUsagePlans, number)
	}
	for _, id := range plans {
		p, known := keys.plans[id]
		if !known {
			r.note(noteUsagePlans, number)
		}
		d := draft{row: found.row}
		for window, calls := range p.limits {
			d.limit(window, value{kind: numeral, text: strconv.FormatInt(calls, 10)})
		}
		found.row.Limits = d.row.Limits
		for _, code := range p.notes {
			r.note(code, number)
		}
	}
}

// take keeps an object of a file of AWS that isn't a key, and reports whether it was one.
func (k *awsKeys) take(v value, planOfDocument string, number int64) (bool, error) {
	id := v.member("id").text
	has := func(name string) bool { return v.member(name).kind != absent }
	switch {
	case has("apiStages") || has("throttle") || has("quota"):
		k.plans[id] = readPlan(v)
	case v.member("type").text == "API_KEY":
		k.joined = true
		plans := planOfDocument
		first(&plans, v.member("usagePlanId").text)
		k.members[id] = append(k.members[id], plans)
	default:
		return false, nil
	}
	if int64(len(k.plans)+len(k.members)) > filelimits.KeyConsumers.Most {
		return true, limitError(number, filelimits.KeyConsumers)
	}
	return true, nil
}

func readPlan(v value) plan {
	throttle, quota := v.member("throttle"), v.member("quota")
	u := UsagePlan{Period: quota.member("period").text}
	var p plan
	if rate, err := strconv.ParseFloat(throttle.member("rateLimit").text, 64); err == nil && rate > 0 {
		u.Rate = rate
		p.notes = append(p.notes, noteThrottle)
	}
	u.Quota, _ = whole(quota.member("limit"))
	var weekly bool
	if p.limits, weekly = u.Limits(); weekly {
		p.notes = append(p.notes, noteWeek)
	}
	if n, ok := whole(quota.member("offset")); ok && n != 0 {
		p.notes = append(p.notes, noteOffset)
	}
	return p
}

// whole returns a whole number.
func whole(v value) (int64, bool) {
	n, err := strconv.ParseFloat(v.text, 64)
	if err != nil || v.kind != numeral || n != math.Trunc(n) || math.Abs(n) >= 1e15 {
		return 0, false
	}
	return int64(n), true
}
