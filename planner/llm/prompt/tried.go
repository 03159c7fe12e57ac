package prompt

import (
	"fmt"
	"strings"

	"github.com/fettleops/fettle/model"
)

const (
	maxDigests = 12 // plans tried before
	maxDigest  = 12 // steps of one of them
)

// digests writes the plans tried before the last, each once.
func (r *renderer) digests() string {
	type digest struct {
		at          []string
		plan, wrong string
	}
	var all []*digest
	known := map[string]*digest{}
	for i := range r.tried {
		a := &r.tried[i]
		d := &digest{plan: digestOf(a.Steps), wrong: a.Critique}
		if key := planText(a.Steps); known[key] != nil && len(a.Steps) > 0 {
			d = known[key]
		} else {
			known[key] = d
			all = append(all, d)
		}
		d.at = append(d.at, fmt.Sprint(a.Number))
	}
	var lines []string
	all = all[max(0, len(all)-r.size.digests):]
	for _, d := range all {
		pairs := []string{"attempts", list(d.at), "plan", r.text(d.plan, maxSpeech)}
		if r.Feedback != Binary {
			pairs = append(pairs, "wrong", r.text(d.wrong, maxText))
		}
		lines = append(lines, object(pairs...))
	}
	return data("tried", lines)
}

// rejections writes the plans that people rejected, with what they want: the
// last of them where there are too many.
func (r *renderer) rejections() string {
	var lines []string
	for _, rej := range r.Rejected[max(0, len(r.Rejected)-maxDigests):] {
		pairs := []string{"plan", r.text(digestOf(rej.Steps), maxSpeech)}
		if rej.Step > 0 {
			pairs = append(pairs, "step", fmt.Sprint(rej.Step))
		}
		lines = append(lines, object(append(pairs, "rejected_by", r.text(rej.By, maxName), "wanted", r.text(rej.Feedback, maxSpeech))...))
	}
	return data("rejected", lines)
}

func planText(steps []model.Step) string {
	var b strings.Builder
	for i, st := range steps {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(model.Clip(st.String()))
	}
	return b.String()
}

// digestOf writes the first steps of a plan, and how many there are more.
func digestOf(steps []model.Step) string {
	if len(steps) == 0 {
		return "no steps"
	}
	s := planText(steps[:min(len(steps), maxDigest)])
	if n := len(steps) - maxDigest; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}
