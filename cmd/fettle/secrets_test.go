package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/fettleops/fettle/planner/llm/llmtest"
)

// A secret of the test has a core that no escaping changes, in the midst of what
// it does. Where the core shows, in whatever surroundings, the secret leaked.
func planted(core string) string { return "p/" + core + `+"é &` + core[:3] }

// cores of the secrets, by where they come from.
var cores = map[string]string{
	"--var":                   "vAr7Kq2LmX9tGd",
	"FETTLE_VAR_":             "iNh4Zp8WcR3yJs",
	"env() of a variable":     "eNv6Tb1QnF5uHk",
	"a provider's password":   "pRm3Dx7VgS2wMa",
	"a planner's key":         "kEy9Bf4HtC6zNo",
	"the address of a notify": "hOk5Ye8PjU1rLi",
	"what looks like a key":   "lOo8Zq1RnD4vEs",
	"a pattern of the model":  "pAt6Uj0XcB3fIw",
}

// vault is a model that has every one of the secrets, in a world that gives all
// of them back wherever it can.
const vault = `
variable "given" { sensitive = true }
variable "inherited" { sensitive = true }
variable "taken" {
  sensitive = true
  default   = env("SECRETS_TAKEN")
}
provider "prometheus" {
  address  = "%[1]s/prometheus"
  user     = "sre"
  password = env("SECRETS_PASSWORD")
}
model { redact = ["corp-[A-Za-z0-9]+"] }
# The old password: lOo8Zq1RnD4vEs, and corp-pAt6Uj0XcB3fIw.
type "door" { objects = ["front"] }
fluent "open" {
  params = { d = door }
  observe "exec" {
    command = ["test", "-e", "open-${d}"]
    value   = "exit_code == 0"
  }
}
fluent "told" {
  observe "exec" {
    command = ["test", "-e", "told"]
    value   = "exit_code == 0"
  }
}
fluent "odd" {
  observe "exec" {
    command = ["sh", "say"]
    env     = { TOKEN = var.taken }
    value   = "body.odd"
  }
}
fluent "busy" {
  observe "prometheus" {
    query = "busy"
    value = "value > 0"
  }
}
fluent "listed" {
  observe "http" {
    url     = "%[1]s/listed?key=${urlencode(var.taken)}"
    headers = { Authorization = "Bearer ${var.taken}" }
    value   = "body.listed"
  }
}
action "unlock" {
  params       = { d = door }
  precondition = ["!open(d)"]
  effect { add = ["open(d)"] }
  timeout = "10s"
  run "exec" {
    command = ["sh", "unlock", d]
    env     = { TOKEN = var.given }
  }
}
action "tell" {
  effect { add = ["told"] }
  precondition = ["open('front')"]
  timeout      = "10s"
  run "http" {
    url     = "%[1]s/tell"
    method  = "POST"
    headers = { Authorization = "Bearer ${var.inherited}" }
    body    = jsonencode({ token = var.inherited })
  }
}
goal "entry" {
  doc       = "Every door is open."
  condition = ["all(door, open(#))", "told"]
}
state "shut" {}
planner "openai" "main" {
  model    = "m"
  base_url = "%[2]s"
  api_key  = env("SECRETS_KEY")
  notes    = "The word is ${var.given}."
}
planner "openai" "refused" {
  model    = "m"
  base_url = "%[1]s"
  api_key  = env("SECRETS_KEY")
}
notify "http" "pager" {
  url = "%[1]s/hook/${env("SECRETS_HOOK")}"
  on  = ["succeeded", "escalated", "failed", "in_doubt"]
}
policy {
  mode                 = "auto"
  max_rounds           = 5
  max_attempts         = 4
  max_actions          = 9
  max_calls            = 40
  max_cost             = 1
  max_tokens           = 1000
  deadline             = "5m"
  max_repeats          = 5
  same_failure_retries = 5
  no_evidence_rounds   = 5
  max_errors           = 9
  retention            = "1ms"
}
`

// says prints its secret in every way that it can think of.
const says = `
printf '{"token": "%s"\n' "$TOKEN"
printf '%s' "$TOKEN" | base64
printf 'sre:%s' "$TOKEN" | base64 -w0
printf 'error: bad token %s\n' "$TOKEN" >&2
printf 'x%s' "$TOKEN" | base64 >&2
echo 'password=lOo8Zq1RnD4vEs corp-pAt6Uj0XcB3fIw' >&2
echo '"headers": {"Authorization": "Bearer lOo8Zq1RnD4vEs"}, "url": "http://u:lOo8Zq1RnD4vEs@h/corp-pAt6Uj0XcB3fIw"}'
`

// unlocks does so at the second time, and notes what every process of the
// machine was called with.
const unlocks = `
for p in /proc/[0-9]*; do
  printf '%s\t' "${p#/proc/}"
  tr '\0\n' '  ' < $p/cmdline
  echo
done >> ../processes 2> /dev/null
. ./say
if [ ! -e tried ]; then
  touch tried
  exit 1
fi
touch open-$1
`

// echo is a server that gives back all that it is sent, and keeps what notifiers
// tell.
func (v *vaulted) echo() *httptest.Server {
	var told atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		auth := r.Header.Get("Authorization")
		back := fmt.Sprintf("%s %s\n%s\n%s\n%q\n%s", r.Method, r.URL, auth, body, auth, base64.StdEncoding.EncodeToString([]byte(auth+string(body))))
		switch {
		case r.URL.Path == "/tell" && told.Add(1) == 1:
			http.Redirect(w, r, "/moved?key="+url.QueryEscape(strings.TrimPrefix(auth, "Bearer ")), http.StatusTemporaryRedirect)
			return
		case r.URL.Path == "/tell" && told.Load() == 2:
			w.WriteHeader(http.StatusInternalServerError)
		case r.URL.Path == "/tell":
			if err := os.WriteFile(filepath.Join(v.folder, "told"), nil, 0o600); err != nil {
				v.Error(err)
			}
		case strings.HasPrefix(r.URL.Path, "/hook/"):
			v.mu.Lock()
			v.paged = append(v.paged, body...)
			v.mu.Unlock()
		default:
			w.WriteHeader(http.StatusForbidden)
		}
		io.WriteString(w, back) //nolint:errcheck // Whoever asked went away.
	}))
	v.Cleanup(server.Close)
	return server
}

// vaulted is the model in a folder of its own, with whatever fettle wrote of it.
type vaulted struct {
	*testing.T
	dir, folder string // of everything; of the model, below it
	written     map[string][]byte
	ran         map[int]bool    // processes that were given a secret by the test
	model       *llmtest.Server // of language
	mu          sync.Mutex
	paged       []byte // what was told to the notify block
}

func newVault(t *testing.T) *vaulted {
	t.Helper()
	dir := t.TempDir()
	v := &vaulted{T: t, dir: dir, folder: filepath.Join(dir, "m"), written: map[string][]byte{}, ran: map[int]bool{}}
	must(t, os.Mkdir(v.folder, 0o700))
	wrong, err := json.Marshal(map[string]any{"steps": []any{map[string]any{"action": "unlock", "args": []string{planted(cores["--var"])}}}, "no_plan": nil})
	must(t, err)
	plan := `{"steps": [{"action": "unlock", "args": ["front"]}, {"action": "tell", "args": []}], "no_plan": null}`
	var script []llmtest.Play // As many attempts as a round has, of which one is right in whatever state.
	for range 20 {
		script = append(script, llmtest.Raw("<html>the key "+planted(cores["a planner's key"])+" is not known</html>"),
			llmtest.Text(string(wrong)), llmtest.Text(plan), llmtest.Text(`{"steps": [{"action": "tell", "args": []}], "no_plan": null}`))
	}
	v.model = llmtest.Start(t, script...)
	for name, text := range map[string]string{"vault.fettle.hcl": fmt.Sprintf(vault, v.echo().URL, v.model.URL), "say": says, "unlock": unlocks} {
		must(t, os.WriteFile(filepath.Join(v.folder, name), []byte(text), 0o600))
	}
	return v
}

// command is fettle with every secret, in the model's folder.
func (v *vaulted) command(args ...string) *exec.Cmd {
	cmd := fettle(v.T, append(args, "--var", "given="+planted(cores["--var"]))...)
	cmd.Dir = v.folder
	cmd.Env = append(cmd.Env, "FETTLE_VAR_inherited="+planted(cores["FETTLE_VAR_"]), "SECRETS_TAKEN="+planted(cores["env() of a variable"]),
		"SECRETS_PASSWORD="+planted(cores["a provider's password"]), "SECRETS_KEY="+planted(cores["a planner's key"]),
		"SECRETS_HOOK="+url.PathEscape(planted(cores["the address of a notify"])))
	return cmd
}

// run keeps what a command prints, which has to contain a text.
func (v *vaulted) run(want string, args ...string) {
	v.Helper()
	cmd := v.command(args...)
	out, _ := cmd.CombinedOutput()
	v.ran[cmd.Process.Pid] = true
	name := "fettle " + strings.Join(args, " ")
	v.written[name] = slices.Concat(out, bytes.Join(bodies(out), nil))
	if !bytes.Contains(out, []byte(want)) {
		v.Errorf("%s says nothing of %q:\n%s", name, want, out)
	}
}

// measured is a run whose metrics are read after it, before it ends.
func (v *vaulted) measured() {
	v.Helper()
	cmd := v.command("run", "--approve", "-o", "jsonl", "--metrics", "127.0.0.1:0", "--metrics-linger", "5m")
	out, err := cmd.StdoutPipe()
	must(v.T, err)
	errs, err := cmd.StderrPipe()
	must(v.T, err)
	must(v.T, cmd.Start())
	v.Cleanup(func() { _ = cmd.Process.Kill() }) // It is gone, if all went well.
	v.ran[cmd.Process.Pid] = true
	lines := bufio.NewReader(errs)
	first, address := "", ""
	for address == "" {
		line, err := lines.ReadString('\n')
		must(v.T, err)
		first, address = first+line, regexp.MustCompile(`http://\S+/metrics`).FindString(line)
	}
	events := bufio.NewReader(out)
	var said []byte
	for !bytes.Contains(said, []byte(`"run_ended"`)) {
		line, err := events.ReadBytes('\n')
		must(v.T, err)
		said = append(said, line...)
	}
	res, err := http.Get(address)
	must(v.T, err)
	defer res.Body.Close()
	v.written["metrics"], err = io.ReadAll(res.Body)
	must(v.T, err)
	must(v.T, cmd.Process.Signal(os.Interrupt))
	rest, _ := io.ReadAll(lines)
	more, _ := io.ReadAll(events)
	_ = cmd.Wait() // How it ends is for others to test.
	v.written["run -o jsonl"] = slices.Concat(said, more, []byte(first), rest)
}

// files takes in all that was written below the folder but the model.
func (v *vaulted) files() {
	v.Helper()
	own := map[string]bool{"vault.fettle.hcl": true, "say": true, "unlock": true, "processes": true}
	must(v.T, filepath.WalkDir(v.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || own[d.Name()] {
			return err
		}
		raw, err := os.ReadFile(path)
		v.written[path] = raw
		for i, body := range bodies(raw) {
			v.written[path+" body "+strconv.Itoa(i)] = body
		}
		return err
	}))
}

// told takes in what others were told: the language model, and the notifier.
func (v *vaulted) told() {
	v.Helper()
	var prompts []byte
	for _, r := range v.model.Seen() {
		raw, err := json.Marshal(r.Body)
		must(v.T, err)
		prompts = append(prompts, raw...)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.written["prompts"], v.written["what notifiers were told"] = prompts, v.paged
}

// bodies are the outputs and models in an archived or exported run, which are
// written in base64, some of them compressed.
func bodies(raw []byte) [][]byte {
	var out [][]byte
	for line := range bytes.Lines(raw) {
		var l struct{ Blob *struct{ Body []byte } }
		if json.Unmarshal(line, &l) != nil || l.Blob == nil {
			continue
		}
		out = append(out, l.Blob.Body)
		if zr, err := gzip.NewReader(bytes.NewReader(l.Blob.Body)); err == nil {
			text, _ := io.ReadAll(zr) // Of a part, what there is.
			out = append(out, text)
		}
	}
	return out
}

// sought are the core of a secret, and what base64 makes of it wherever in a
// text it stands.
func sought(core string) []string {
	out := []string{core}
	for before := range 3 {
		coded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + core))
		out = append(out, coded[(8*before+5)/6:len(coded)-1])
	}
	return out
}

// leaks tells of every secret in what was written.
func (v *vaulted) leaks() {
	v.Helper()
	for from, core := range cores {
		for _, form := range sought(core) {
			for where, raw := range v.written {
				if i := bytes.Index(raw, []byte(form)); i >= 0 {
					v.Errorf("%s is in %s: …%q…", from, where, raw[max(0, i-120):min(len(raw), i+len(form)+20)])
				}
			}
		}
	}
}

// processes tells of every secret that a process was called with.
func (v *vaulted) processes() {
	v.Helper()
	raw, err := os.ReadFile(filepath.Join(v.dir, "processes"))
	must(v.T, err)
	if !bytes.Contains(raw, []byte("sh unlock front")) {
		v.Errorf("the processes are not there:\n%s", raw)
	}
	for line := range bytes.Lines(raw) {
		pid, called, _ := strings.Cut(string(line), "\t")
		n, err := strconv.Atoi(pid)
		must(v.T, err)
		for from, core := range cores {
			if strings.Contains(called, core) && !v.ran[n] {
				v.Errorf("%s is on the command line of process %d: %s", from, n, called)
			}
		}
	}
}

// TestSecretsAreNowhere plants secrets in every place from which fettle takes
// them, has the world give them back in many forms, and looks for them in all
// that fettle ever wrote.
func TestSecretsAreNowhere(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	v.run("(sensitive)", "check", "--world")
	v.run("(sensitive)", "observe")
	v.run("(sensitive)", "observe", "-o", "json")
	v.run("The word is (sensitive)", "plan", "--state", "shut", "--show-prompt")
	v.run("(sensitive)", "plan", "--state", "shut", "--record", "../tape")
	v.run("(sensitive)", "plan", "--state", "shut", "--planner", "refused")
	v.run("Succeeded", "run", "--approve")
	for _, format := range []string{"text", "json", "jsonl", "markdown"} {
		v.run("unlock", "show", "last", "-o", format)
	}
	v.run("succeeded", "runs")
	must(t, os.Remove(filepath.Join(v.folder, "open-front")))
	must(t, os.Remove(filepath.Join(v.folder, "told")))
	must(t, os.Remove(filepath.Join(v.folder, "tried")))
	v.measured() // The first run is archived now.
	v.run("unlock", "show", "last")
	v.run("unlock", "audit")
	v.run("unlock", "audit", "-o", "json")
	v.run("", "replay", "last")
	v.run("", "lessons")
	v.run("", "lessons", "-o", "json")
	v.run("", "leases", "--audit")
	v.run("", "intents")
	v.files()
	v.told()
	archived := 0
	for path := range v.written {
		if strings.Contains(path, "/archive/") && strings.HasSuffix(path, ".jsonl") {
			archived++
		}
	}
	if archived != 1 {
		t.Errorf("%d archived runs", archived)
	}
	for _, where := range []string{"metrics", "what notifiers were told", "prompts"} {
		if len(v.written[where]) == 0 {
			t.Errorf("%s: nothing", where)
		}
	}
	v.leaks()
	v.processes()
}

// TestTheSearchForSecretsFinds: what is sought is found in whatever form, or
// that it is nowhere would say nothing.
func TestTheSearchForSecretsFinds(t *testing.T) {
	for from, core := range cores {
		secret := planted(core)
		quoted, err := json.Marshal(secret)
		must(t, err)
		texts := []string{secret, string(quoted), url.QueryEscape(secret), url.PathEscape(secret), strconv.Quote(secret), "…" + core + "…"}
		for _, before := range []string{"", "a", "sre:", "{\"token\": \""} {
			for _, after := range []string{"", "\n", "\"}", "!!"} {
				texts = append(texts, base64.StdEncoding.EncodeToString([]byte(before+secret+after)), base64.URLEncoding.EncodeToString([]byte(before+secret+after)))
			}
		}
		for _, text := range texts {
			found := false
			for _, form := range sought(core) {
				found = found || strings.Contains(text, form)
			}
			if !found {
				t.Errorf("%s is not found in %s", from, text)
			}
		}
	}
}
