package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/lease"
)

// Lessons keeps lessons and what people decided on them, in the scope of the
// runs and beside the journal. It only ever adds: neither a lesson nor a decision
// is edited or deleted, and a lesson that no longer counts is superseded. No
// retention applies to them: the archive moves runs, and the events that a lesson
// refers to are then read in the run's file. They are few, since a lesson is
// stored once for a goal, a failure key and a definition, whatever became of it.
//
// They reach nothing but the prompts of language models, through [ApprovedLessons]. Validator and
// policy do not know them.
type Lessons struct {
	Client *clientv3.Client
	Keys   lease.Keys
}

func (s Lessons) prefix() string          { return string(s.Keys) + "lesson/" }
func (s Lessons) lessons() string         { return s.prefix() + "n/" }
func (s Lessons) decisions() string       { return s.prefix() + "d/" }
func (s Lessons) lesson(n int64) string   { return fmt.Sprintf("%s%012d", s.lessons(), n) }
func (s Lessons) decision(n int64) string { return fmt.Sprintf("%s%012d", s.decisions(), n) }
func (s Lessons) subject(l Lesson) string { return s.prefix() + "of/" + digest(l.subject()) }
func (s Lessons) absent(k string) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(k), "=", 0)
}

// subject is what one lesson may be about.
func (l Lesson) subject() string {
	return strings.Join([]string{l.Goal, string(l.Key), l.Definition}, "\x00")
}

// errContended says that others keep writing, which nobody does for long.
var errContended = errors.New("others write lessons at the same time; try again")

// maxTries bounds how often a transaction is tried that others came before.
const maxTries = 32

// Propose stores lessons, those about what no lesson is stored about, and
// returns these with their numbers.
func (s Lessons) Propose(ctx context.Context, lessons []Lesson) ([]Lesson, error) {
	var out []Lesson
	for _, l := range lessons {
		added, err := s.add(ctx, &l)
		if err != nil {
			return out, fmt.Errorf("store a lesson: %w", err)
		}
		if added {
			out = append(out, l)
		}
	}
	return out, nil
}

// add gives a lesson the next number. False: there is one about that already.
func (s Lessons) add(ctx context.Context, l *Lesson) (bool, error) {
	for range maxTries {
		subject, last := clientv3.OpGet(s.subject(*l), clientv3.WithCountOnly()), clientv3.OpGet(s.lessons(), clientv3.WithLastKey()...)
		resp, err := s.txn(ctx, nil, subject, last)
		if err != nil {
			return false, err
		}
		if resp.Responses[0].GetResponseRange().Count > 0 {
			return false, nil
		}
		l.Number = 1
		for _, kv := range resp.Responses[1].GetResponseRange().Kvs {
			newest, err := decodeKV[Lesson](kv)
			if err != nil {
				return false, err
			}
			l.Number = newest.Number + 1
		}
		raw, err := json.Marshal(l)
		if err != nil {
			return false, err
		}
		key, of := s.lesson(l.Number), s.subject(*l)
		// One about the same thing that came in between has taken this number.
		resp, err = s.txn(ctx, []clientv3.Cmp{s.absent(key)}, clientv3.OpPut(key, string(raw)), clientv3.OpPut(of, fmt.Sprint(l.Number)))
		if err != nil || resp.Succeeded {
			return err == nil, err
		}
	}
	return false, errContended
}

// stored is everything that is stored, as of one revision.
type stored struct {
	lessons   []Lesson
	decisions []LessonDecision
}

func (s Lessons) load(ctx context.Context) (stored, error) {
	var out stored
	resp, err := s.txn(ctx, nil, clientv3.OpGet(s.lessons(), clientv3.WithPrefix()), clientv3.OpGet(s.decisions(), clientv3.WithPrefix()))
	if err != nil {
		return out, fmt.Errorf("read the lessons: %w", err)
	}
	for _, kv := range resp.Responses[0].GetResponseRange().Kvs {
		l, err := decodeKV[Lesson](kv)
		if err != nil {
			return out, err
		}
		out.lessons = append(out.lessons, l)
	}
	for _, kv := range resp.Responses[1].GetResponseRange().Kvs {
		d, err := decodeKV[LessonDecision](kv)
		if err != nil {
			return out, err
		}
		out.decisions = append(out.decisions, d)
	}
	return out, nil
}

func (s Lessons) txn(ctx context.Context, when []clientv3.Cmp, then ...clientv3.Op) (*clientv3.TxnResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, beliefTimeout)
	defer cancel()
	return s.Client.Txn(ctx).If(when...).Then(then...).Commit()
}

func decodeKV[T any](kv *mvccpb.KeyValue) (T, error) {
	var v T
	if err := json.Unmarshal(kv.Value, &v); err != nil {
		return v, fmt.Errorf("lesson record %s cannot be read: %w", kv.Key, err)
	}
	return v, nil
}
