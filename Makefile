# Every verb of the project. CI calls these and nothing else (.ci/run).

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# The folder list is the function list: a new folder under functions/ needs no change here.
FUNCTIONS := $(notdir $(patsubst %/main.go,%,$(wildcard functions/*/main.go)))

# The functions that embed texts, with the weights of the model next to their programs.
EMBEDDING := $(notdir $(patsubst %/main.go,%,$(shell grep -l EmbedderOnAWS functions/*/main.go)))

# Added to every `go test`, for example TESTFLAGS='-race -run TestContract'.
TESTFLAGS ?=
# How long each fuzz target runs.
FUZZTIME ?= 30s
# Which Go benchmarks run after the table of `make bench`; none when it is empty.
BENCH ?=
# The address and the data folder of `make run`.
ADDR ?= 127.0.0.1:8080
DATA ?= ./data
# The processor architecture of the functions: arm64 or amd64.
ARCH ?= arm64

# Node, if make node had to install it. The CDK looks for it on the PATH.
export PATH := $(CURDIR)/.cache/node/bin:$(PATH)

# Not under the race detector: the stack's tests do one thing at a time, and the CDK would take minutes to build.
TEST_INFRA = go test $(filter-out -race,$(TESTFLAGS)) ./infra
# Nor these, which drive other processes (the built functions, a browser, emulators, the SDKs) or run WebAssembly.
DRIVERS := ./dashboard/... ./functions/... ./scripts/... ./sdk/... ./testkit/... ./shared/extract/...

# These take minutes with the race detector, and do one thing after the other, so they run without it.
LONG_WITH_RACE := TestOperationsStayBelowTheirCeilings|TestAMoveChangesNothing|FuzzNobodyReadsWhatTheyMayNot|TestHostileTextsStayInProportion|TestNothingHiddenCanBeInferred|TestRequestsOfTenMegabytes

LINT := go tool -modfile=tools/go.mod golangci-lint

.PHONY: help
help: ## list the verbs
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## (.*)/  \1\t\2/' | expand -t 14

.PHONY: run
run: bin/docent weights ## build the program and serve on 127.0.0.1:8080, data in ./data
	bin/docent serve --data $(DATA) --addr $(ADDR)

.PHONY: test
# shared/app comes first, because it takes longest.
test: moto scimtester mcpclient webhooks samlp oidcprovider node weights dashboard-modules sdk-tools clients ## run every test
	go test $(TESTFLAGS) $(if $(filter -race,$(TESTFLAGS)),-skip '^($(LONG_WITH_RACE))$$') ./shared/app $$(comm -23 <(go list ./... | sort) <(go list ./infra $(DRIVERS) | sort))
	$(if $(filter -race,$(TESTFLAGS)),go test $(filter-out -race,$(TESTFLAGS)) -run '^(TestAChangeHappensWithItsEventOrNotAtAll|TestEveryCallMayFail|TestReadersWhileAChangeFails|$(LONG_WITH_RACE))$$' ./shared/app ./shared/connect/confluence ./shared/connect/jira ./shared/httpapi ./shared/rst)
	go test $(filter-out -race,$(TESTFLAGS)) $(DRIVERS) ./infra

.PHONY: race
race: ## run every test, under the race detector where the tested code runs in the test's process
	$(MAKE) test TESTFLAGS='-race $(TESTFLAGS)'

.PHONY: check
check: format vet lint tidy openapi-check contract dashboard-check kernels-check paths vuln template ## format, vet, lint, tidy modules, openapi.yaml sound, it, the dashboard and the assembly up to date, no path of this machine, known vulnerabilities, the AWS stack

.PHONY: format
format:
	@bad=$$(gofmt -l .); test -z "$$bad" || { echo "gofmt would change:" $$bad; exit 1; }

.PHONY: vet
vet:
	go vet ./...

.PHONY: lint
lint: ## run golangci-lint alone (built once, from tools/go.mod)
	$(LINT) run

.PHONY: vuln
vuln: ## report known vulnerabilities that the code can reach (VULNDB=file:///folder: in a copy of the database)
	scripts/vuln

.PHONY: tidy
tidy:
	go mod tidy -diff

.PHONY: openapi
openapi: ## write openapi.yaml from the code
	@mkdir -p bin
	go run ./cmd/docent openapi > bin/openapi.yaml
	mv bin/openapi.yaml openapi.yaml
	go run ./scripts/reference > bin/reference.json
	mv bin/reference.json dashboard/dist/reference.json

.PHONY: openapi-check
openapi-check:
	@go run ./cmd/docent openapi | diff -u openapi.yaml - || { echo "openapi.yaml differs from the code: run make openapi"; exit 1; }
	@go run ./scripts/reference | cmp - dashboard/dist/reference.json || { echo "the dashboard's API reference differs from the code: run make openapi"; exit 1; }

# The linters of openapi.yaml.
CONTRACT := .cache/contract/node_modules

$(CONTRACT)/.package-lock.json: scripts/contract/package.json scripts/contract/package-lock.json | node
	mkdir -p .cache/contract
	cp scripts/contract/package.json scripts/contract/package-lock.json .cache/contract/
	cd .cache/contract && npm ci --no-audit --no-fund --loglevel=error
	touch $@

.PHONY: contract
contract: $(CONTRACT)/.package-lock.json ## lint openapi.yaml with Redocly and Spectral
	REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true $(CONTRACT)/.bin/redocly lint openapi.yaml --config scripts/contract/redocly.yaml \
		--format=github-actions --max-problems=1000 2>/dev/null | { ! grep .; }
	$(CONTRACT)/.bin/spectral lint openapi.yaml --ruleset scripts/contract/spectral.yaml --fail-severity=warn --quiet

# The commit whose contract is compared.
BASE ?= HEAD~1
OASDIFF := github.com/oasdiff/oasdiff@v1.35.0

.PHONY: breaking
breaking: ## list what changed in openapi.yaml since BASE=commit that would break a client
	@mkdir -p bin
	git show $(BASE):openapi.yaml > bin/base.yaml
	go run $(OASDIFF) breaking bin/base.yaml openapi.yaml --fail-on ERR

MODULES := .cache/dashboard/node_modules

# The packages that the dashboard is bundled with, and those that check it.
$(MODULES)/.package-lock.json: dashboard/package.json dashboard/package-lock.json | node
	mkdir -p .cache/dashboard
	cp dashboard/package.json dashboard/package-lock.json .cache/dashboard/
	cd .cache/dashboard && npm ci --no-audit --no-fund --loglevel=error
	touch $@

.PHONY: dashboard-modules
dashboard-modules: $(MODULES)/.package-lock.json ## install the npm packages of the dashboard under .cache/

.PHONY: dashboard
dashboard: dashboard-modules ## write the list of providers, and bundle dashboard/src into dashboard/dist; both are committed
	@mkdir -p bin
	go run ./scripts/providers > bin/providers.json
	mv bin/providers.json dashboard/src/providers.json
	go run ./scripts/dashboard

.PHONY: dashboard-check
dashboard-check: dashboard-modules
	@go run ./scripts/providers | cmp - dashboard/src/providers.json || { echo "the dashboard's list of providers differs from the code: run make dashboard"; exit 1; }
	$(MODULES)/.bin/tsc -p dashboard
	@rm -rf .cache/dashboard/dist
	@go run ./scripts/dashboard -to .cache/dashboard/dist
	@diff -r -x reference.json .cache/dashboard/dist dashboard/dist || { echo "dashboard/dist differs from dashboard/src: run make dashboard"; exit 1; }

.PHONY: kernels-check
kernels-check:
	scripts/kernels

# Where make screenshots writes, a folder that exists.
SCREENSHOTS ?= $(CURDIR)/docs

.PHONY: screenshots
screenshots: dashboard-modules ## write a picture of every page of the dashboard to docs/, at both widths and in both themes (needs Chromium)
	DOCENT_SCREENSHOTS=$(SCREENSHOTS) go test -count=1 -run '^TestEveryPage$$' ./dashboard

# Paths of a developer's machine do not belong in the project. CI machines are excluded: no one
# writes their paths by hand, and a checkout in a folder such as /src would match other text.
.PHONY: paths
paths:
ifneq ($(CI),true)
	@for p in $(filter-out / /tmp/,$(dir $(CURDIR)) $(HOME:/=)/); do \
		if git grep -nIF -e "$$p" -- .; then echo "the lines above name a path of this machine"; exit 1; fi; \
	done
endif

.PHONY: template
template: moto node ## check the rules of the AWS stack: assertions, cdk-nag, cfn-lint
	$(TEST_INFRA)

.PHONY: build
build: bin/docent $(FUNCTIONS:%=dist/%/bootstrap) $(EMBEDDING:%=dist/%/model) ## build bin/docent and one bootstrap per function under dist/, for ARCH (arm64)

.PHONY: FORCE
FORCE:

# Without symbols and debug information, which are a quarter of the program; stack traces do not need them.
bin/docent: FORCE
	go build -trimpath -ldflags '-s -w' -o $@ ./cmd/docent

# -trimpath and -buildvcs=false: the same source gives the same bytes, so a deploy changes only what changed.
# lambda.norpc omits 2 MB of a start-up mode that Amazon Linux 2023 does not use; nethttpomithttp2 omits
# a third of a megabyte of HTTP/2: Lambda and AWS's services all support HTTP/1.1.
# Builds for this machine keep HTTP/2, to share compiled packages with the tests.
dist/%/bootstrap: FORCE
	GOOS=linux GOARCH=$(ARCH) CGO_ENABLED=0 go build -trimpath -buildvcs=false \
		-tags lambda.norpc,nethttpomithttp2 -ldflags '-s -w' -o $@ ./functions/$*

# Without the weights, deploy the stack with -c embeddingProvider=none; it then searches by words alone.
dist/%/model: weights
	@bin/docent model fetch --to $@ || true

# The values of the stack, for example CONTEXT='-c stage=beta -c alarmsEmail=ops@example.com'; infra/README.md lists them.
CONTEXT ?=

.PHONY: node
node: ## install Node under .cache/ if this machine has none that the CDK supports
	scripts/node/install

.PHONY: synth
synth: build node ## write the AWS stack as a CloudFormation template to infra/cdk.out
	go run ./infra -o infra/cdk.out $(if $(LAST),-last $(LAST)) -c architecture=$(ARCH:amd64=x86_64) $(CONTEXT)

CDK := .cache/cdk/node_modules/.bin/cdk

# Not below infra/, and without its templates: go and gofmt would treat them as files of the project.
$(CDK): infra/package.json infra/package-lock.json | node
	mkdir -p .cache/cdk
	cp $^ .cache/cdk/
	cd .cache/cdk && npm ci --no-audit --no-fund --loglevel=error
	rm -rf .cache/cdk/node_modules/aws-cdk/lib/init-templates
	touch $@

# Checks the account first, before the long build, and reads the values of the last deployment, which are kept.
.PHONY: deploy
deploy: ## deploy the AWS stack to the account and region of the environment (CONTEXT as for synth; the last deployment's values are kept)
	@mkdir -p bin
	go run ./scripts/deploy -remember bin/deployed.json $(CONTEXT)
	$(MAKE) synth $(CDK) LAST=bin/deployed.json
	go run ./scripts/deploy

# The moment to restore, such as 2026-11-23T05:00:00Z.
AT ?=

.PHONY: restore
restore: ## restore all tables of the AWS stack to the moment AT=2026-11-23T05:00:00Z, and take them into use (CONTEXT with name and stage)
	@test -n "$(AT)" || { echo "name the moment: make restore AT=2026-11-23T05:00:00Z"; exit 1; }
	go run ./scripts/deploy -restore $(AT) $(CONTEXT)
	$(MAKE) deploy CONTEXT="$(CONTEXT) -c restored=$(subst :,,$(subst -,,$(AT)))"

.PHONY: bootstrap
bootstrap: $(CDK) ## prepare the account and region of the environment for the CDK, once (ARGS='--custom-permissions-boundary NAME')
	$(CDK) bootstrap --no-notices $(ARGS)

# The name of a deployed stack.
STACK ?= docent

.PHONY: destroy
destroy: ## remove the AWS stack STACK (docent); refuses while its data is retained
	go run ./scripts/deploy -destroy $(STACK)

# The program, and the functions for this machine's processor: for a local AWS. LocalStack's containers run Linux.
HOST := .cache/host
HOST_OS ?=

# One set of flags for all, so that the program and the functions share compiled packages.
.PHONY: host
host:
	rm -rf $(HOST)/dist
	CGO_ENABLED=0 GOOS=$(HOST_OS) go build -trimpath -buildvcs=false -tags lambda.norpc -ldflags '-s -w' -o $(HOST)/functions/ ./functions/...
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -tags lambda.norpc -ldflags '-s -w' -o $(HOST)/ ./cmd/docent
	for name in $(FUNCTIONS); do mkdir -p $(HOST)/dist/$$name; ln $(HOST)/functions/$$name $(HOST)/dist/$$name/bootstrap; done
	for name in $(EMBEDDING); do $(HOST)/docent model fetch --to $(HOST)/dist/$$name/model || true; done

# The stack with these functions.
E2E := .cache/e2e

.PHONY: e2e
e2e: host node ## play the request scripts against docent serve and the stack on a local AWS without containers; then the collectors (with ARGS='-scripts answers' only these)
	scripts/venv ministack
	go run ./infra -o $(E2E)/cdk.out -c dist=$(HOST)/dist -c architecture=$(if $(filter amd64,$(shell go env GOARCH)),x86_64,arm64)
	go run ./scripts/e2e -docent $(HOST)/docent -assembly $(E2E)/cdk.out $(ARGS)
	$(if $(ARGS),,$(MAKE) collectors)

.PHONY: localstack-deploy
localstack-deploy: node $(CDK) ## deploy to the LocalStack of localstack/compose.yaml; prints the URL, a key and a first request
	$(MAKE) host HOST_OS=linux
	localstack/deploy

.PHONY: localstack
localstack: host node $(CDK) ## start LocalStack without containers, run localstack/deploy against it, and check every resource
	scripts/venv localstack
	go run ./scripts/localstack

.PHONY: load
load: bin/docent ## put load on docent serve on this machine for a minute and report (ARGS='-for 20s -rate 100')
	go -C scripts/load run . -docent $(CURDIR)/bin/docent $(ARGS)

.PHONY: simulate
simulate: ## run the handlers and workers on simulated AWS in virtual time, and draw what many teams see (up to half an hour; ARGS='-run TestFullRounds')
	go test ./scripts/simulate -count=1 -v -timeout 60m -run '^TestFull' $(ARGS) -full

.PHONY: attack
attack: bin/docent ## attack docent serve for a minute and print its peak memory and the delay of a quiet team (ARGS='-only reader -for 20s')
	go run ./scripts/attack -docent bin/docent $(ARGS)

.PHONY: chaos
chaos: bin/docent moto ## kill docent serve, fill or slow its disk and pause it under load for 3 minutes, and check that nothing acknowledged is lost (ARGS='-for 1h'; ARGS='-engine aws': on AWS that refuses, delays and cuts its calls)
	go run ./scripts/chaos -docent bin/docent $(ARGS)

CLOCK_JUMPS ?= 1000

.PHONY: clock
clock: ## let the clock of a working process jump by an hour CLOCK_JUMPS times (1000, some minutes), and check that nothing is lost or doubled
	go test -count=1 -timeout 60m -run '^TestTheClockMayJump$$' -v ./shared/app -clock-jumps $(CLOCK_JUMPS)

.PHONY: cost
cost: ## print what AWS charges per month for a given load, from the counted cost of each operation
	go run ./scripts/cost $(ARGS)

.PHONY: bench
bench: ## print what everything costs as one table; BENCH=regexp runs Go benchmarks as well, BENCH_FULL=1 a million documents
	go run ./scripts/bench
ifneq ($(BENCH),)
	go test -run '^$$' -bench '$(BENCH)' -benchmem ./...
endif

# -mod=mod: its go.mod follows the one of the product.
.PHONY: bench-search
bench-search: ## measure search and answers on the labelled sets in the folder DOCENT_EVAL by words, by meaning and by both, compared with FTS5 and Bleve, time them over up to 150,000 passages, and draw it all (ARGS=-http: over HTTP too; -passages=0: not timed)
	go -C scripts/benchsearch run -mod=mod . -picture $(CURDIR)/shared/search/measured.svg $(ARGS)

.PHONY: bench-sets
bench-sets: ## fetch nine more labelled sets for bench-search from public repositories into the folder DOCENT_EVAL
	scripts/benchsearch/fetchsets.py $(DOCENT_EVAL)

# DOCENT_COLLECTOR_WRITES is how many writes each of its eight writers makes (150). The first run builds for minutes.
.PHONY: collectors
collectors: ## run the recipes for SIEM collectors in Elastic's CEL evaluator and in Bento against docent serve, killing all of them repeatedly
	scripts/venv collectors
	go -C scripts/collectors vet ./...
	go -C scripts/collectors test -count=1 -v ./...

# Without optimisations, which would take longer than its run.
GORELEASER := go run -gcflags='all=-N -l' github.com/goreleaser/goreleaser/v2@v2.16.0

# The container image needs Docker.
SKIP_IMAGE = $(if $(or $(filter true,$(DOCENT_SKIP_IMAGE)),$(if $(shell docker info >/dev/null 2>&1 && echo yes),,none)),$(comma)docker)
comma := ,

.PHONY: release-snapshot
release-snapshot: ## build a release of the current commit for all platforms in bin/release; packaging/README.md explains it
	$(GORELEASER) release --snapshot --clean --skip=publish$(SKIP_IMAGE)

.PHONY: release-check
release-check: ## build the release for this machine alone, and install, run and remove its Debian package on a bare Debian, and run its image (Linux, root, debootstrap, docker or podman)
	@mkdir -p bin
	sed -E "s/^( *goos: )\[.*/\1[$$(go env GOOS)]/; s/^( *goarch: )\[.*/\1[$$(go env GOARCH)]/" .goreleaser.yaml >bin/goreleaser.yaml
	$(GORELEASER) release --config bin/goreleaser.yaml --snapshot --clean --skip=publish,docker
	packaging/check
	packaging/image-check
	packaging/install-check

.PHONY: module-path
module-path: ## give the Go module of this checkout the address of another repository (MODULE=github.com/acme/docent), so that go install takes it from there
	packaging/module-path $(MODULE)

.PHONY: release
release: ## build the release of the tag of the current commit and publish it as a draft
	$(GORELEASER) release --clean$(if $(SKIP_IMAGE), --skip=docker)

# Without cgo, as the release is built.
.PHONY: cross
cross: ## compile the program for each other system that the release is for, without optimisations, which takes half the time
	for os in $(filter-out $(shell go env GOOS),linux darwin windows freebsd); do CGO_ENABLED=0 GOOS=$$os go build -gcflags='all=-N -l' -o /dev/null ./cmd/docent; done

# The version of the release, such as v0.2.
VERSION ?=

.PHONY: fixture
fixture: moto node ## keep what the release VERSION stores (shared/storedtest) and deploys (infra) as fixtures, before it is tagged
	@test -n "$(VERSION)" || { echo "name the release: make fixture VERSION=v0.2"; exit 1; }
	go test -count=1 -timeout 20m -run '^TestWriteFixture$$' ./shared/app -fixture $(VERSION) -commit "$$(git rev-parse HEAD)"
	go test -count=1 -timeout 20m -run '^TestReleasedStacksCanBeUpdated$$' ./infra -released $(VERSION)

.PHONY: rollback
rollback: moto ## open what the current code stores with the code of the newest release (needs the git history)
	DOCENT_TEST_ROLLBACK=1 go test -count=1 -timeout 20m -run '^TestRollBack$$' -v ./shared/app

MOVE_RECORDS ?= 100000

.PHONY: move
move: moto ## move MOVE_RECORDS mixed records from a folder to moto and back, and compare every reply
	go test -count=1 -timeout 90m -run '^TestAMoveChangesNothing$$' -v ./shared/app -move-records $(MOVE_RECORDS)

.PHONY: schemathesis
schemathesis: bin/docent ## run Schemathesis against docent serve with each kind of key, for some minutes (ARGS='-kinds scim')
	scripts/venv schemathesis
	go run ./scripts/schemathesis $(ARGS)

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (30s)
	@{ grep -rEo '^func Fuzz[A-Za-z0-9_]+' --include='*_test.go' . || true; } | sed -E 's/:func / /' | sort | \
	while read -r file name; do \
		echo "== $$(dirname $$file) $$name"; \
		go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$(dirname $$file)" </dev/null; \
	done

.PHONY: moto
moto: ## install the AWS protocol server of the tests under .cache/
	scripts/venv moto

.PHONY: scimtester
scimtester: ## install the SCIM checker of the tests under .cache/
	scripts/venv scimtester

SAMLP := .cache/samlp/node_modules

$(SAMLP)/.package-lock.json: testkit/samlp/package.json testkit/samlp/package-lock.json | node
	mkdir -p .cache/samlp
	cp testkit/samlp/package.json testkit/samlp/package-lock.json .cache/samlp/
	cd .cache/samlp && npm ci --no-audit --no-fund --loglevel=error
	touch $@

.PHONY: samlp
samlp: $(SAMLP)/.package-lock.json ## install the SAML identity provider of the tests under .cache/

WEBHOOKS := .cache/webhooks-npm/node_modules

$(WEBHOOKS)/.package-lock.json: testkit/webhooks/package.json testkit/webhooks/package-lock.json | node
	mkdir -p .cache/webhooks-npm
	cp testkit/webhooks/package.json testkit/webhooks/package-lock.json .cache/webhooks-npm/
	cd .cache/webhooks-npm && npm ci --no-audit --no-fund --loglevel=error
	touch $@

.PHONY: webhooks
webhooks: $(WEBHOOKS)/.package-lock.json ## install the libraries that verify deliveries in the tests under .cache/
	scripts/venv webhooks

OIDCPROVIDER := .cache/oidcprovider/node_modules

$(OIDCPROVIDER)/.package-lock.json: testkit/oidcprovider/package.json testkit/oidcprovider/package-lock.json | node
	mkdir -p .cache/oidcprovider
	cp testkit/oidcprovider/package.json testkit/oidcprovider/package-lock.json .cache/oidcprovider/
	cd .cache/oidcprovider && npm ci --no-audit --no-fund --loglevel=error
	touch $@

.PHONY: oidcprovider
oidcprovider: $(OIDCPROVIDER)/.package-lock.json ## install the OpenID Connect provider of the tests under .cache/

.PHONY: mcpclient
mcpclient: ## install the Python client of the tests' tools for agents under .cache/
	scripts/venv mcpclient

SDK_MODULES := .cache/sdk-typescript/node_modules

$(SDK_MODULES)/.package-lock.json: sdk/typescript/package.json sdk/typescript/package-lock.json | node
	mkdir -p .cache/sdk-typescript
	cp sdk/typescript/package.json sdk/typescript/package-lock.json .cache/sdk-typescript/
	cd .cache/sdk-typescript && npm ci --no-audit --no-fund --loglevel=error
	touch $@

.PHONY: sdk-tools
sdk-tools: $(SDK_MODULES)/.package-lock.json ## install the generators of the SDKs, and what their tests need, under .cache/
	scripts/venv sdk

.PHONY: sdk
sdk: sdk-tools ## write the Python and the TypeScript SDK to dist/sdk, generated from openapi.yaml and ready to publish
	scripts/sdk/generate dist/sdk

CLIENTS := .cache/clients-node/node_modules

$(CLIENTS)/.package-lock.json: testkit/clients/package.json testkit/clients/package-lock.json | node
	mkdir -p .cache/clients-node
	cp testkit/clients/package.json testkit/clients/package-lock.json .cache/clients-node/
	cd .cache/clients-node && npm ci --no-audit --no-fund --loglevel=error
	touch $@

.PHONY: clients
clients: $(CLIENTS)/.package-lock.json ## install other people's libraries under .cache/, which call docent serve in tests
	scripts/venv clients

.PHONY: sdk-test
sdk-test: sdk-tools clients ## test the SDKs, and programs with other libraries, against docent serve
	go test -count=1 -v ./sdk

# Without them search goes by words alone, so a machine without network still builds, serves and tests.
.PHONY: weights
weights: bin/docent ## download the weights of the embedding model into the user's cache, once
	@bin/docent model fetch || true

.PHONY: clean
clean: ## remove what the verbs built (not ./data)
	rm -rf bin dist .cache
