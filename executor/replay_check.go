package executor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fettleops/fettle/world/redaction"
)

// check is one decision that is derived again. Its first difference counts.
type check struct {
	r    *replayer
	what string
	over bool
}

// decision begins the check of a decision. The first word tells what is counted.
func (r *replayer) decision(sort, format string, args ...any) *check {
	r.out.Decisions++
	r.out.By[sort]++
	return &check{r: r, what: fmt.Sprintf(format, args...)}
}

// taken counts what is taken as recorded.
func (r *replayer) taken(what string) { r.out.Taken[what]++ }

// same holds a part of the decision against what was derived. A field that is
// not there at all, because an older version did not record it, is no difference.
func (c *check) same(part string, recorded, derived any) {
	if c.over {
		return
	}
	a, b := told(recorded), told(derived)
	if a == b || redacted(a, b) {
		return
	}
	if required[part] && !c.r.has(part) {
		c.r.taken("fields that an older version did not record")
		return
	}
	c.over = true
	c.r.out.Differs = append(c.r.out.Differs, Difference{
		Seq: c.r.now.Seq, Kind: c.r.now.Kind, Decision: c.what, Part: part, Recorded: a, Derived: b,
	})
}

// required are the fields that this version always writes.
var required = map[string]bool{
	"mode": true, "max_rounds": true, "round": true, "of": true, "reasons": true, "attempt": true, "next": true, "cost": true,
	"plan_hash": true, "tried_key": true, "resources": true, "facts": true, "unknown": true, "objects": true, "steps": true,
	"rounds": true, "actions": true, "cost_usd": true,
	"progress.round": true, "progress.attempts": true, "progress.calls": true, "progress.tokens": true, "progress.cost": true,
	"progress.actions": true, "progress.errors": true, "progress.repeats": true, "progress.planners": true,
	"progress.same_failure": true, "progress.rounds_no_evidence": true, "progress.started": true,
}

// has tells whether a field is in the event that is looked at.
func (r *replayer) has(path string) bool {
	raw := r.now.Data
	for more := true; more; {
		var name string
		name, path, more = strings.Cut(path, ".")
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil {
			return false
		}
		var ok bool
		if raw, ok = fields[name]; !ok {
			return false
		}
	}
	return true
}

// sensitive stands in the journal for secrets that were taken out of it, and
// [redaction.Mark] for what looked like one.
const sensitive = "(sensitive)"

// redacted tells whether the first text is the second with secrets taken out.
func redacted(a, b string) bool {
	a, b = strings.ReplaceAll(a, redaction.Mark, sensitive), strings.ReplaceAll(b, redaction.Mark, sensitive)
	parts := strings.Split(a, sensitive)
	for i, part := range parts {
		at := strings.Index(b, part)
		if at < 0 || i == 0 && at > 0 {
			return false
		}
		b = b[at+len(part):]
	}
	return len(parts) > 1 && (b == "" || parts[len(parts)-1] == "")
}

// follows holds the order of events to what must come before.
func (c *check) follows(ok bool, needs string) {
	if !ok && !c.r.Other {
		c.same("order", c.r.now.Kind, needs)
	}
}

// told writes a value for people, the same for equal values.
func told(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []string:
		if len(v) == 0 {
			return "none"
		}
		return strings.Join(v, "; ")
	case nil:
		return "null"
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	if s, err := unquoted(buf.Bytes()); err == nil {
		return s
	}
	return strings.TrimSpace(buf.String())
}

func unquoted(raw []byte) (string, error) {
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}
