# Every target works from a clean clone with Go and make.

GO       ?= go
FUZZTIME ?= 1m
DEVTOOLS := -modfile=internal/devtools/go.mod
LDFLAGS  ?= -s -w
REF      ?= HEAD~1

.PHONY: build install test race fuzz crash bench bench-compare lint cross docs docs-check demo check clean

build: ## bin/forgeplan, one static file
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/forgeplan ./cmd/forgeplan

install: build ## the same; put bin on your PATH

test: ## all tests; prints what was skipped, fails on a skip that testdata/skips.allowed does not name
	@mkdir -p .tmp
	@cd internal/devtools && $(GO) build -o ../../.tmp/testreport ./testreport
	@$(GO) test -json ./... | .tmp/testreport -summary .tmp/tests.txt testdata/skips.allowed

race: ## the same under the race detector
	$(GO) test -race -short ./...

fuzz: ## each fuzz target for FUZZTIME
	@for pkg in $$($(GO) list ./...); do \
	  targets=$$($(GO) test -list '^Fuzz' $$pkg) || exit 1; \
	  for target in $$(echo "$$targets" | grep '^Fuzz'); do \
	    $(GO) test $$pkg -run NONE -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x || exit 1; \
	  done; \
	done

crash: ## children killed at every fault point, several times over
	$(GO) test ./journal ./internal/atomicfile ./tools -run 'Crash|Kill' -count 5

bench: ## our figures beside the bounds of the same run, as one table
	@$(GO) run ./internal/bench

bench-compare: ## benchstat of REF and the working tree, ten runs each
	@mkdir -p .tmp && rm -rf .tmp/ref && git worktree add -f .tmp/ref $(REF) >/dev/null
	cd .tmp/ref && $(GO) test ./journal ./projection -run NONE -bench . -count 10 > ../old.txt
	$(GO) test ./journal ./projection -run NONE -bench . -count 10 > .tmp/new.txt
	@git worktree remove --force .tmp/ref
	$(GO) tool $(DEVTOOLS) benchstat .tmp/old.txt .tmp/new.txt

lint: ## gofmt, vet, staticcheck
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "gofmt: $$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool $(DEVTOOLS) staticcheck ./...
	@cd internal/devtools && $(GO) vet ./testreport && $(GO) test ./testreport

cross: ## build and vet for the systems that are not tested here
	@for os in darwin windows; do \
	  GOOS=$$os CGO_ENABLED=0 $(GO) build ./... && GOOS=$$os CGO_ENABLED=0 $(GO) vet ./... || exit 1; \
	  echo "$$os: ok"; \
	done

docs: ## docs/tools.md and docs/cli.md out of the registry
	$(GO) run ./cmd/forgeplan docs --dir docs

docs-check: ## the committed pages are the generated ones
	@mkdir -p .tmp/docs && $(GO) run ./cmd/forgeplan docs --dir .tmp/docs
	@diff -u docs/tools.md .tmp/docs/tools.md && diff -u docs/cli.md .tmp/docs/cli.md

demo: ## an agent's server is killed in the middle of its work
	@$(GO) run ./internal/demo

check: lint cross docs-check test demo ## all that a change must pass

clean:
	rm -rf bin .tmp
