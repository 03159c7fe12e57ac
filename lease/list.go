package lease

import "context"

// AllHolders lists what is held in the scope, marks in doubt apart (see Intents), in the order of the keys.
func (l *Locker) AllHolders(ctx context.Context) ([]Holder, error) {
	var out []Holder
	all := prefixed(string(l.keys) + "k/")
	for {
		kvs, more, err := l.page(ctx, all)
		if err != nil {
			return nil, err
		}
		for _, kv := range kvs {
			if k, ok := l.keys.parse(string(kv.Key)); ok && !k.mark {
				out = append(out, holder(k, kv))
			}
		}
		if !more {
			return out, nil
		}
		all.from = string(kvs[len(kvs)-1].Key) + "\x00"
	}
}
