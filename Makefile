# fettle: build, test and show. Every target does its own set-up.
GO      ?= go
BIN     := bin
LINT    := $(shell $(GO) env GOPATH)/bin/golangci-lint
LINTVER := v2.15.0

# The real Prometheus that tests and demo look through, the curl of a person's
# script, and the Python of a planner in docs/planners.md.
PROMETHEUS := $(or $(shell command -v prometheus),/usr/bin/prometheus)
CURL       := $(or $(shell command -v curl),/usr/bin/curl)
PYTHON3    := $(or $(shell command -v python3),/usr/bin/python3)

# Real inputs with their right answers.
CORPUS ?= $(or $(FETTLE_CORPUS),../shared/corpus)

.PHONY: all build test test-corpus check-llm lint fmt fuzz bench bench-planner examples demo demo-prometheus demo-llm clean

all: build test

build:
	$(GO) build -o $(BIN)/ ./cmd/fettle ./examples/fleet ./examples/fleet/demo

# The tests run real etcd, real processes, real HTTP and a real Prometheus; the
# race detector is on.
test: $(PROMETHEUS) $(CURL) $(PYTHON3)
	$(GO) test -race -timeout 15m ./...
	@test -d "$(CORPUS)" || echo "Not run, for want of $(CORPUS): 233 tasks, 5,215 plans, 975 replies and 515 dialogues of the corpus; FETTLE_CORPUS names its folder."

# All of the real tasks and plans with the verdicts of the field's validator, in
# FETTLE_CORPUS or ../shared/corpus; fails where they are not there.
test-corpus:
	FETTLE_CORPUS_ALL=1 $(GO) test -count=1 -timeout 15m ./model/pddl

# Both SDKs over real sockets against a server that plays every failure of a
# provider: the calls that it saw are those of the journal and those allowed.
check-llm:
	$(GO) test -count=1 -race -run 'CheckLLM|CallsEnd|RequiredPlanner|CritiqueReaches|RecordingPlays|KeysAreNot' ./cmd/fettle
	$(GO) test -count=1 -race ./planner/llm ./planner/llm/program

# Debian's packages, where there are none.
$(PROMETHEUS) $(CURL) $(PYTHON3):
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(notdir $@)

lint: $(LINT)
	$(LINT) run ./...

$(LINT):
	$(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINTVER)

fmt:
	gofmt -w .

# A minute for each fuzz target: whatever reads foreign text must never panic.
FUZZTIME ?= 60s
fuzz:
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
	  done; \
	done

# Ratios measured in one run: validation with many and with few objects, a
# guarded action over three bare puts, start-up over an empty program.
bench:
	$(GO) test -run '^$$' -bench 'Validate|GuardedAction|Startup' -benchtime 2s ./validator ./lease ./cmd/fettle

# What critiques are worth to a simulated language model: the table of
# docs/benchmarks/planner.md.
bench-planner:
	$(GO) test -run '^$$' -bench '^BenchmarkFeedback$$' -benchtime 1x -timeout 60m ./planner/llm/planbench

# Every example is checked, planned and, where it can be, run.
examples: $(PROMETHEUS)
	$(GO) test -run 'Example' ./cmd/fettle ./examples/...

# A broken fleet of real processes is repaired under guard, watched by an
# independent prober; fails unless everything that was promised was seen.
demo: build
	$(BIN)/demo --fettle $(BIN)/fettle --fleet $(BIN)/fleet --model examples/fleet

# The same, but fettle sees the fleet only through a Prometheus that scrapes it.
demo-prometheus: build $(PROMETHEUS)
	$(BIN)/demo --fettle $(BIN)/fettle --fleet $(BIN)/fleet --model examples/fleet/prometheus --prometheus $(PROMETHEUS)

# A recorded plan is rejected, the critique goes back, its repair is carried out.
# The replies are written by hand; no model is called.
demo-llm: build
	FETTLE=$(CURDIR)/$(BIN)/fettle examples/coordinated/demo-llm.sh

clean:
	rm -rf $(BIN)
