package world

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	prom "github.com/prometheus/common/model"
)

// intervals returns the longest scrape interval of each job; none where the
// server does not tell, as those that only look like a Prometheus.
func (s *promServer) intervals(ctx context.Context) map[string]time.Duration {
	client, err := s.api()
	if err != nil {
		return nil
	}
	limit, cancel := context.WithTimeout(ctx, max(s.timeout, defaultAskTime))
	defer cancel()
	at := client.URL("/api/v1/targets", nil)
	at.RawQuery = "state=active"
	code, body, err := s.send(limit, http.MethodGet, at.String(), "")
	if err != nil || code != http.StatusOK {
		return nil
	}
	return readIntervals(body)
}

// maxInterval is the longest scrape interval that is believed.
const maxInterval = 365 * 24 * time.Hour

// readIntervals reads what the server tells of its targets. What cannot be read
// is left out.
func readIntervals(body []byte) map[string]time.Duration {
	var told struct {
		Data struct {
			ActiveTargets []struct {
				Labels         map[string]string `json:"labels"`
				ScrapeInterval string            `json:"scrapeInterval"`
			} `json:"activeTargets"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &told) != nil {
		return nil
	}
	out := map[string]time.Duration{}
	for _, t := range told.Data.ActiveTargets {
		every, err := prom.ParseDuration(t.ScrapeInterval)
		if job := t.Labels["job"]; err == nil && job != "" && time.Duration(every) <= maxInterval {
			out[job] = max(out[job], time.Duration(every))
		}
	}
	return out
}

// maxNames bounds how many words of a query are taken for names of metrics.
const maxNames = 50

// jobs returns the jobs that the query's series come from: those that its
// answer's labels tell, and where an aggregation took them away, those of the
// metrics that it names. Which of its words are metrics, the server knows.
func (q *promQuery) jobs(ctx context.Context, a *seriesAnswer) []string {
	var out []string
	told := true
	look := func(labels map[string]any) {
		job, ok := labels["job"].(string)
		if told = told && ok; ok && !slices.Contains(out, job) {
			out = append(out, job)
		}
	}
	for _, s := range a.samples {
		look(s.labels)
	}
	for _, t := range a.times {
		look(t.labels)
	}
	names := words(q.query)
	if told || len(names) == 0 || len(names) > maxNames {
		return out
	}
	limit, cancel := context.WithTimeout(ctx, q.timeout)
	defer cancel()
	in, err := q.server.instant(limit, fmt.Sprintf(`group by (job) ({__name__=~%q})`, strings.Join(names, "|")))
	if err != nil {
		return out
	}
	for _, s := range in.vector {
		if job, _ := s.Labels["job"].(string); job != "" && !slices.Contains(out, job) {
			out = append(out, job)
		}
	}
	return out
}

// words returns what in a query can be the name of a metric: not what stands in
// quotes, nor what is called like a function.
func words(query string) []string {
	var out []string
	for i := 0; i < len(query); {
		switch c := query[i]; {
		case c == '"' || c == '\'' || c == '`':
			i = afterQuote(query, i)
		case isWord(c):
			end := i
			for end < len(query) && isWord(query[end]) {
				end++
			}
			word := query[i:end]
			i = end
			called := strings.HasPrefix(strings.TrimLeft(query[end:], " \t\n"), "(")
			if !called && (word[0] < '0' || word[0] > '9') && !slices.Contains(out, word) {
				out = append(out, word)
			}
		default:
			i++
		}
	}
	return out
}

func isWord(c byte) bool {
	return c == '_' || c == ':' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// afterQuote returns where the text goes on behind what is quoted at i.
func afterQuote(s string, i int) int {
	quote := s[i]
	for i++; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote != '`':
			i++
		case s[i] == quote:
			return i + 1
		}
	}
	return len(s)
}
