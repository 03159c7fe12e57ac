package llmtest

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// Text answers with a text.
func Text(text string) Play {
	return Play{"text", func(x *exchange) { x.reply(text, "", "stop") }}
}

// TextWithoutSchema refuses whoever sends a schema, and answers the others.
func TextWithoutSchema(text string) Play {
	return Play{"no schema", func(x *exchange) {
		if (Request{Body: decode(x.body)}).HasSchema() {
			x.status(http.StatusBadRequest, "response_format / output_config: json_schema is not supported by this model")
			return
		}
		x.reply(text, "", "stop")
	}}
}

// Length answers with a text that was cut at the most tokens.
func Length(text string) Play {
	return Play{"length", func(x *exchange) { x.reply(text, "", "length") }}
}

// LengthBelow is Length for who asks for fewer tokens, and the text for others.
func LengthBelow(tokens int, text string) Play {
	return Play{"length below", func(x *exchange) {
		body := decode(x.body)
		for _, name := range []string{"max_tokens", "max_completion_tokens"} {
			if n, ok := body[name].(float64); ok && int(n) < tokens {
				x.reply(text[:len(text)/2], "", "length")
				return
			}
		}
		x.reply(text, "", "stop")
	}}
}

// NoFinish answers with a text and does not say why it ends.
func NoFinish(text string) Play {
	return Play{"no finish reason", func(x *exchange) { x.reply(text, "", "") }}
}

// Refusal refuses.
func Refusal(why string) Play {
	return Play{"refusal", func(x *exchange) { x.reply("", why, "refusal") }}
}

// Filtered withholds the answer.
func Filtered() Play {
	return Play{"content filter", func(x *exchange) { x.reply("", "", "content_filter") }}
}

// NoChoices answers with no answer in it.
func NoChoices() Play {
	return Play{"no choices", func(x *exchange) {
		x.w.Header().Set("Content-Type", "application/json")
		if x.anthropic {
			_, _ = io.WriteString(x.w, `{"id": "c", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn", "content": [], "usage": {"input_tokens": 100, "output_tokens": 0}}`)
			return
		}
		_, _ = io.WriteString(x.w, `{"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 0, "total_tokens": 100}}`)
	}}
}

// Page answers with a web page and a status.
func Page(code int) Play {
	return Play{"page " + strconv.Itoa(code), func(x *exchange) {
		x.w.Header().Set("Content-Type", "text/html")
		x.w.WriteHeader(code)
		_, _ = io.WriteString(x.w, "<html><head><title>Sign in</title></head><body>Please sign in.</body></html>")
	}}
}

// Other answers with JSON of another sort.
func Other() Play {
	return Play{"other JSON", func(x *exchange) {
		x.w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(x.w, `{"hello": "world"}`)
	}}
}

// Raw answers with a body as it is.
func Raw(body string) Play {
	return Play{"raw", func(x *exchange) {
		x.w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(x.w, body)
	}}
}

// Counting answers with a text and says that it took so many tokens.
func Counting(text string, in, out int) Play {
	return Play{"counting", func(x *exchange) {
		x.in, x.out = in, out
		x.reply(text, "", "stop")
	}}
}

// Status answers with an error; after, where not empty, is Retry-After.
func Status(code int, after string) Play {
	return Play{"status " + strconv.Itoa(code), func(x *exchange) {
		if after != "" {
			x.w.Header().Set("Retry-After", after)
		}
		x.status(code, fmt.Sprintf("the server says %d", code))
	}}
}

// Redirect sends the client elsewhere.
func Redirect(to string) Play {
	return Play{"redirect", func(x *exchange) {
		x.w.Header().Set("Location", to)
		x.w.WriteHeader(http.StatusTemporaryRedirect)
	}}
}

// Hang does not answer before the client goes.
func Hang() Play {
	return Play{"hang", func(x *exchange) {
		select {
		case <-x.r.Context().Done():
		case <-x.gone:
		}
	}}
}

// Reset ends the connection without an answer.
func Reset() Play { return Play{"reset", func(x *exchange) { x.abort() }} }

// Cut ends the connection in the midst of an answer.
func Cut(text string) Play {
	return Play{"cut", func(x *exchange) {
		x.w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(x.w, `{"id": "c", "choices": [{"message": {"content": %q`, text)
		if f, ok := x.w.(http.Flusher); ok {
			f.Flush()
		}
		x.abort()
	}}
}

// Huge answers with more than anybody reads.
func Huge(mebibytes int) Play {
	return Play{"huge", func(x *exchange) {
		x.w.Header().Set("Content-Type", "application/json")
		block := make([]byte, 1<<20)
		for i := range block {
			block[i] = ' '
		}
		for range mebibytes {
			if _, err := x.w.Write(block); err != nil {
				return
			}
		}
	}}
}
