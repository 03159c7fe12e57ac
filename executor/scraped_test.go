package executor

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// scraper samples the yard by itself, as a Prometheus does, and answers queries
// with what it saw last. It speaks Prometheus's API.
type scraper struct {
	*httptest.Server
	yard *yard

	mu     sync.Mutex
	up, ok scrape
	frozen bool
	lag    int // so many rounds yet it does not come to scrape what is ok
}

type scrape struct {
	seen map[string]bool
	at   time.Time
}

// scrapeEvery is much longer than an action of the yard takes.
const scrapeEvery = 80 * time.Millisecond

func newScraper(t testing.TB, y *yard) *scraper {
	s := &scraper{yard: y}
	s.Server = httptest.NewServer(s)
	s.scrape()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(scrapeEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.scrape()
			case <-stop:
				return
			}
		}
	})
	t.Cleanup(func() { close(stop); wg.Wait(); s.Close() })
	return s
}

func (s *scraper) scrape() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.frozen {
		return
	}
	now := time.Now()
	s.yard.mu.Lock()
	defer s.yard.mu.Unlock()
	s.up = scrape{maps.Clone(s.yard.up), now}
	if s.lag--; s.lag < 0 {
		s.ok = scrape{maps.Clone(s.yard.ok), now}
	}
}

func (s *scraper) freeze() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frozen = true
}

// slow makes what is ok lag behind by some rounds.
func (s *scraper) slow(rounds int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lag = rounds
}

// ServeHTTP answers a selector's values and, as it is asked, their times.
func (s *scraper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.up
	if strings.Contains(r.Form.Get("query"), "yard_ok") {
		seen = s.ok
	}
	now := float64(time.Now().UnixMilli()) / 1000
	var result []any
	add := func(service, half string, value float64) {
		result = append(result, map[string]any{
			"metric": map[string]string{"service": service, "__fettle__": half},
			"value":  [2]any{now, strconv.FormatFloat(value, 'f', 3, 64)},
		})
	}
	for name, on := range seen.seen {
		value := 0.0
		if on {
			value = 1
		}
		add(name, "value", value)
		add(name, "time", float64(seen.at.UnixMilli())/1000)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": map[string]any{"resultType": "vector", "result": result}})
}

// scrapedRig observes the yard through a scraper.
func scrapedRig(t testing.TB, s setup, maxAge string) (*rig, *scraper) {
	t.Helper()
	y := newYard(t)
	sc := newScraper(t, y)
	if s.model == "" {
		s.model = fleetModel
	}
	_, rest, _ := strings.Cut(s.model, "invariant")
	body := `
  params = { s = service }
  observe "prometheus" {
    address = "` + sc.URL + `"
    query   = "yard_NAME"
    labels  = { s = "service" }
    value   = "value > 0"
    ` + maxAge + `
  }
}
`
	s.model = "type \"service\" { objects = [\"api\", \"db\"] }\nfluent \"up\" {" + strings.Replace(body, "NAME", "up", 1) +
		"fluent \"ok\" {" + strings.Replace(body, "NAME", "ok", 1) + "invariant" + rest
	s.beside = &rig{yard: y, keys: newRig(t, setup{}).keys}
	return newRig(t, s), sc
}

func TestARunThatSeesTheWorldInSamplesWaitsForThoseItMayUse(t *testing.T) {
	for _, maxAge := range []string{"", `max_age = "0s"`, `max_age = "150ms"`} {
		t.Run(maxAge, func(t *testing.T) {
			r, sc := scrapedRig(t, setup{}, maxAge)
			r.yard.ok["api"] = false
			sc.scrape()
			end := r.run()
			r.ends(end, Succeeded, "")
			r.did("stop(api)", "mend(api)", "start(api)")
			if end.Rounds != 1 {
				t.Errorf("%d rounds: a sample was taken for newer than it is", end.Rounds)
			}
			r.clean()
		})
	}
}

// breaking makes start(api) break a service, which nothing says, and what tells
// of that be sampled later than the rest.
func breaking(r *rig, sc *scraper, service string) {
	once := true
	r.yard.on = func(what string, _ *http.Request) (int, bool) {
		if what == "start(api)" && once {
			once = false
			sc.slow(4)
			r.yard.mu.Lock()
			r.yard.ok[service] = false
			r.yard.mu.Unlock()
		}
		return http.StatusOK, true
	}
}

func TestSuccessIsNotToldOfSamplesFromBeforeTheLastAction(t *testing.T) {
	r, sc := scrapedRig(t, setup{}, "")
	r.yard.ok["api"] = false
	sc.scrape()
	breaking(r, sc, "db")
	r.ends(r.run(), Succeeded, "")
	r.did("stop(api)", "mend(api)", "start(api)", "stop(db)", "mend(db)", "start(db)")
}

func TestAnEffectIsNotConfirmedBySamplesFromBefore(t *testing.T) {
	also := strings.Replace(fleetModel, `effect { add = ["up(s)"] }`, `effect { add = ["up(s)", "ok(s)"] }`, 1)
	r, sc := scrapedRig(t, setup{model: also, settle: "1s"}, "")
	r.yard.ok["api"] = false
	sc.scrape()
	breaking(r, sc, "api")
	r.ends(r.run(), Succeeded, "")
	r.did("stop(api)", "mend(api)", "start(api)", "stop(api)", "mend(api)", "start(api)")
	for _, seen := range all[Finished](r, StepFinished)[2].Seen {
		if seen.Fluent == "ok(api)" && (seen.Verified != "no" || seen.Value != false) {
			t.Errorf("after start(api): %+v", seen)
		}
	}
}

func TestSamplesThatStayTooOldRefuseTheStep(t *testing.T) {
	r, sc := scrapedRig(t, setup{settle: "400ms"}, `max_age = "0s"`)
	r.yard.ok["api"] = false
	sc.scrape()
	r.see = func(kind string, _ journalEvent) {
		if kind == StepAcquired {
			sc.freeze()
		}
	}
	end := r.run()
	if end.Status == Succeeded {
		t.Errorf("ended %+v", end)
	}
	r.did()
	refused := all[Refused](r, StepRefused)
	if len(refused) == 0 || refused[0].Kind != "unknown_value" || len(refused[0].Facts) == 0 || !strings.Contains(refused[0].Facts[0].Error, "too early") {
		t.Errorf("refused %+v", refused)
	}
}

func TestWhatIsInDoubtIsResolvedByLaterSamplesOnly(t *testing.T) {
	for _, effect := range []bool{true, false} {
		r, sc := scrapedRig(t, setup{}, "")
		r.yard.ok["api"] = false
		sc.scrape()
		first := true
		r.yard.on = func(what string, req *http.Request) (int, bool) {
			if what == "mend(api)" && first {
				first = false
				r.revoke()
				<-req.Context().Done()
				return http.StatusOK, effect
			}
			return http.StatusOK, true
		}
		r.ends(r.run(), Succeeded, "")
		r.clean()
		want := map[bool]string{true: "applied", false: "not_applied"}[effect]
		if d := one[Resolved](r, DoubtResolved); d.Outcome != want {
			t.Errorf("resolved %+v, want %s", d, want)
		}
	}
}
