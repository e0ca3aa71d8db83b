.DEFAULT_GOAL := help
.PHONY: help run check test golden fuzz load soak bench generate notices lint conformance build clean

help: ## Show this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | \
		while IFS='|' read -r name text; do printf '  make %-12s %s\n' "$$name" "$$text"; done

run: ## Start Postern on SQLite in ./data
	go run ./cmd/postern serve

check: ## Check what you changed, on SQLite: format, vet, lint, tests
	tools/check

test: ## Install what the tests need if it is missing, and run all tests: CASES=cases.txt
	CASES=$(CASES) tools/test

golden: ## Rewrite the golden files; look at the diff before you commit it
	tools/golden

fuzz: ## Fuzz every parser with 100,000 inputs, 30 s to 3 min each
	tools/fuzz

load: ## Compare how fast a healthy project answers with and without attacks on others
	tools/setup load
	go run ./tools/load

soak: ## Run replicas under load and faults and check every answer: DURATION=10m SHARE=0.7
	tools/setup
	go run ./tools/soak -duration $(or $(DURATION),10m) -share $(or $(SHARE),0.7)

bench: ## Measure the gateway side by side with nginx, and print the table
	tools/setup bench
	go run ./tools/bench
	go run ./tools/bench -access-log -only "key, identity, limits and usage"

generate: ## Generate the committed Go code of the templ pages, and the assets
	tools/setup generate
	tools/generate

notices: ## Write docs/THIRD_PARTY_NOTICES after a change of dependencies
	go run ./tools/notices

lint: ## Run golangci-lint (its first build takes minutes), and check words, OpenAPI, modules, notices and size
	go run ./tools/words
	for file in $$(git ls-files '*go.mod'); do \
		(cd "$$(dirname "$$file")" && go mod tidy -diff) || { echo "lint: $$file: run go mod tidy" >&2; exit 1; }; done
	tools/setup generate
	REDOCLY_TELEMETRY=off node_modules/.bin/redocly lint --config tools/lint/redocly.yaml \
		handlers/api/testdata/openapi.json.golden
	go build -modfile=tools/lint/go.mod -o bin/ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	bin/golangci-lint run
	go run ./tools/notices -check
	tools/build --check
	tools/lint/installed

conformance: ## Compare the gateway with a real Kong 3.9: POSTERN_KONG=tools/kong-docker
	@test -n "$$POSTERN_KONG" || { \
		echo "conformance: set POSTERN_KONG to a launcher of Kong 3.9, such as tools/kong-docker" >&2; exit 1; }
	go test -count=1 -v -tags conformance -run Conformance ./...

build: ## Build bin/postern
	tools/build

clean: ## Remove what the targets above have created; ./data stays
	rm -rf bin node_modules testkit/idp/node_modules testkit/verifiers/node_modules
