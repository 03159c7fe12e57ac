package executor

// Discovered is the kind of the event that tells which objects were found.
const Discovered = "discovered"

// Discovery is what is new of the objects of one type, at the start of a round:
// the first time, and whenever it is not as the time before.
type Discovery struct {
	Round   int    `json:"round"` // rounds begun before it
	Type    string `json:"type"`
	Objects int    `json:"objects"` // found now
	// New are those that the run did not know, with the declared ones that were
	// known from the start left out. Further events have what one has no room for.
	New []string `json:"new,omitempty"`
	// Gone are those that the run knows and that were not found: their facts are
	// unknown from now on. The list is bounded; More says how many were left out.
	Gone   []string `json:"gone,omitempty"`
	More   int      `json:"more,omitempty"`
	Source string   `json:"source,omitempty"`
	Note   string   `json:"note,omitempty"`
	Error  string   `json:"error,omitempty"` // why there may be more objects than are known
	MS     float64  `json:"ms"`
	Rest   bool     `json:"rest,omitempty"` // it goes on with the names of the event before
}

func (d *Discovery) gone(name string) {
	if len(d.Gone) < maxListed {
		d.Gone = append(d.Gone, name)
	} else {
		d.More++
	}
}

// tells tells whether there is anything in it that was not so before.
func (d *Discovery) tells(before Discovery) bool {
	if len(d.New) > 0 || d.Error != before.Error || d.More != before.More || len(d.Gone) != len(before.Gone) {
		return true
	}
	for i := range d.Gone {
		if d.Gone[i] != before.Gone[i] {
			return true
		}
	}
	return false
}

// maxNames bounds the names in one event, in bytes.
const maxNames = 64 << 10

// parts splits the event where it has too many names.
func (d Discovery) parts() []Discovery {
	names, size, from := d.New, 0, 0
	var parts []Discovery
	cut := func(to int) {
		part := Discovery{Round: d.Round, Type: d.Type, Objects: d.Objects, Rest: true}
		if from == 0 {
			part = d
		}
		part.New = names[from:to]
		parts = append(parts, part)
		from, size = to, 0
	}
	for i, n := range names {
		if size+len(n) > maxNames {
			cut(i)
		}
		size += len(n)
	}
	cut(len(names))
	return parts
}
