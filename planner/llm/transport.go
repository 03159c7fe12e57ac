package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// maxBody bounds what is read of one HTTP answer, in bytes.
const maxBody = 8 << 20

// HTTPClient returns the HTTP client of all providers. Whatever is no JSON with
// a status of success comes back from it as a [CallError], so that no client
// above has to tell an error page from an answer. It follows no redirect: a
// key must not go where nobody sent it.
func HTTPClient() *http.Client {
	base := http.DefaultTransport.(*http.Transport).Clone() // The standard library's own, always of this type.
	base.TLSHandshakeTimeout = 10 * time.Second             // An answer may take as long as its call.
	return &http.Client{
		Transport:     answers{base},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// answers reads every HTTP answer whole.
type answers struct{ next http.RoundTripper }

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := a.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	_ = resp.Body.Close()
	switch {
	case resp.StatusCode >= http.StatusMultipleChoices:
		return nil, HTTPFailure(resp.StatusCode, resp.Header, message(body))
	case err != nil && r.Context().Err() == nil:
		return nil, &CallError{Class: Unreachable, Detail: fmt.Sprintf("the connection broke in the midst of the answer, after %d bytes", len(body)), Err: err}
	case err != nil:
		return nil, err
	case len(body) > maxBody:
		return nil, &CallError{Class: NotAnAnswer, Status: resp.StatusCode, Detail: fmt.Sprintf("it is larger than %d MiB", maxBody>>20)}
	case failure(body) != "":
		return nil, &CallError{Class: NotAnAnswer, Status: resp.StatusCode, Detail: failure(body)}
	case !json.Valid(body):
		return nil, &CallError{Class: NotAnAnswer, Status: resp.StatusCode, Detail: "it is no JSON, but: " + message(body)}
	}
	resp.Header.Set("Content-Type", "application/json") // Not every server says so.
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return resp, nil
}

// failure returns the message of an error that a server answers as a success.
func failure(body []byte) string {
	var doc struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &doc) != nil || len(doc.Error) == 0 || string(doc.Error) == "null" {
		return ""
	}
	return message(body)
}

// message returns what a server says of an error: its message, or the text
// itself.
func message(body []byte) string {
	var doc struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &doc) != nil {
		return line(string(body))
	}
	var inner struct {
		Message string `json:"message"`
	}
	var text string
	switch {
	case json.Unmarshal(doc.Error, &inner) == nil && inner.Message != "":
		return line(inner.Message)
	case json.Unmarshal(doc.Error, &text) == nil && text != "":
		return line(text)
	case doc.Message != "":
		return line(doc.Message)
	case len(doc.Detail) > 0:
		return line(string(doc.Detail))
	}
	return line(string(body))
}

// AsCallError returns what a client's SDK made of a failure as what it was.
func AsCallError(err error) (*CallError, bool) {
	var e *CallError
	ok := errors.As(err, &e)
	return e, ok
}
