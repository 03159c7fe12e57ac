package world

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
)

// instant asks for a query's value as it is now. A proxy that takes no POST is
// asked by GET.
func (s *promServer) instant(ctx context.Context, query string) (*instantAnswer, error) {
	client, err := s.api()
	if err != nil {
		return nil, err
	}
	at := client.URL("/api/v1/query", nil)
	form := at.Query()
	form.Set("query", query)
	code, body, err := s.send(ctx, http.MethodPost, at.String(), form.Encode())
	if err == nil && slices.Contains([]int{http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotImplemented}, code) {
		at.RawQuery = form.Encode()
		code, body, err = s.send(ctx, http.MethodGet, at.String(), "")
	}
	if err != nil {
		return nil, err
	}
	return readInstant(code, body)
}

// send sends one request and returns the status and the body of the answer.
func (s *promServer) send(ctx context.Context, method, url, form string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(form))
	if err != nil {
		return 0, nil, err
	}
	if form != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header["Idempotency-Key"] = nil // A question may be asked again; the header itself is not sent.
	}
	resp, body, err := s.client.Do(ctx, req)
	if err != nil {
		return 0, nil, err
	}
	return resp.StatusCode, body, nil
}

// promReply is what the API puts around an answer.
type promReply struct {
	Status    string       `json:"status"`
	ErrorType v1.ErrorType `json:"errorType"`
	Error     string       `json:"error"`
	Warnings  []string     `json:"warnings"`
	Infos     []string     `json:"infos"`
	Data      *promData    `json:"data"`
}

// promData is the value of a query, of whatever type.
type promData struct {
	Type   string          `json:"resultType"`
	Result json.RawMessage `json:"result"`
}

// readInstant reads an answer to an instant query. What is not the whole of
// what Prometheus answers is an error, a [*v1.Error]: nothing is taken for a
// zero or for an empty answer because it is not there.
func readInstant(code int, body []byte) (*instantAnswer, error) {
	var r promReply
	err := json.Unmarshal(body, &r)
	ok, told := code/100 == 2, code == http.StatusBadRequest || code == http.StatusUnprocessableEntity
	switch {
	case !ok && (!told || err != nil):
		return nil, refusal(code, body)
	case err != nil:
		return nil, badAnswer("%s", jsonTrouble(err))
	case ok && r.Status == "error", !ok && r.Status != "success":
		return nil, &v1.Error{Type: cmp.Or(r.ErrorType, v1.ErrClient), Msg: cmp.Or(r.Error, fmt.Sprintf("client error: %d", code))}
	case !ok:
		return nil, badAnswer("a success with the status %d", code)
	case r.Status != "success":
		return nil, badAnswer("it says neither success nor error")
	case r.Data == nil:
		return nil, badAnswer("it has no data")
	}
	in, err := r.Data.read()
	if err != nil {
		return nil, err
	}
	in.remarks(r.Warnings, r.Infos)
	return in, nil
}

// refusal is an answer by its status alone.
func refusal(code int, body []byte) error {
	e := &v1.Error{Type: v1.ErrBadResponse, Msg: fmt.Sprintf("bad response code %d", code), Detail: string(body)}
	switch code / 100 {
	case 4:
		e.Type, e.Msg = v1.ErrClient, fmt.Sprintf("client error: %d", code)
	case 5:
		e.Type, e.Msg = v1.ErrServer, fmt.Sprintf("server error: %d", code)
	}
	return e
}

// badAnswer says why something is no answer of a Prometheus.
func badAnswer(format string, args ...any) error {
	return &v1.Error{Type: v1.ErrBadResponse, Msg: fmt.Sprintf(format, args...)}
}

// jsonTrouble says what is wrong with JSON without the names of our types.
func jsonTrouble(err error) string {
	var kind *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &kind):
		return err.Error()
	case kind.Field == "":
		return "a JSON " + kind.Value
	}
	return fmt.Sprintf("its %s is a JSON %s", kind.Field, kind.Value)
}

// oldInfo is how a Prometheus before version 3 begins what is only an info: it
// has no place of its own for them.
const oldInfo = "PromQL info: "

// remarks keeps the warnings and infos of an answer.
func (in *instantAnswer) remarks(warnings, infos []string) {
	for _, w := range warnings {
		if text, info := strings.CutPrefix(w, oldInfo); info {
			infos = append(infos, text)
			continue
		}
		in.partial = cmp.Or(strings.TrimSpace(w), "a warning without a text")
		in.notes = append(in.notes, "warning: "+in.partial)
	}
	for _, i := range infos {
		in.notes = append(in.notes, "info: "+i)
	}
}
