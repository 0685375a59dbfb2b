# Every target is one command. `make demo` and `make test` install what they need.

SWIFT ?= swift
BENCH_POSTS ?= 100000

.PHONY: help demo screenshots examples test check tidy check-docs docs torture fuzz soak histories cost cluster-demo torture-cluster bench-cluster deps build profile lib lib-cluster install-node install swift-package sbom test-c bench bench-report bench-growth bench-kinds patterns clean

help:                       ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

deps:                       ## install the C libraries that are missing
	@Scripts/install-dependencies

build: deps                 ## build the tool, optimised
	$(SWIFT) build -c release --package-path Tools --product quire

demo: $(if $(BUILT),,build) ## a feed fills, a gap opens and closes; build/demo.html shows it
	@mkdir -p build && rm -f build/demo.quire build/demo.quire-lock build/demo.quire-open
	@cd build && quire=$(if $(BUILT),"$(BUILT)/quire","$$($(SWIFT) build -c release --package-path ../Tools --show-bin-path)/quire") && \
	    "$$quire" demo --cache demo.quire && "$$quire" report demo.quire -o demo.html >/dev/null && \
	    echo "The picture of it, for a browser: $$PWD/demo.html"

screenshots: build          ## the pictures of README and Docs, with headless Chromium
	@Tests/Browser/screenshots.sh "$$($(SWIFT) build -c release --package-path Tools --show-bin-path)/quire"

examples: deps              ## seven small programs, each with a server of its own on loopback
	$(SWIFT) build --package-path Examples
	@for name in StackOverflowFeed LimitOffsetFeed MusicStore RepositorySearch NewsStore ReaderTimeline ChatHistory; do \
	    echo "== $$name"; \
	    "$$($(SWIFT) build --package-path Examples --show-bin-path)/$$name" || exit 1; \
	done

test: deps                  ## all tests; ends with "N passed, N failed, N skipped"
	@Scripts/test

check: test cost sbom tidy check-docs  ## tests, cost, the bill of materials, and the rules about the code itself

tidy:                       ## the rules about the code itself
	@Scripts/tidy

check-docs:                 ## every public symbol is documented, every link in the documentation leads somewhere
	@if command -v python3 >/dev/null; then SWIFT="$(SWIFT)" Scripts/check-docs; else echo "check-docs: no python3"; fi
	@SWIFT="$(SWIFT)" Scripts/build-docs

docs: deps                  ## build/docs: a website of the Swift API, with articles
	@SWIFT="$(SWIFT)" Scripts/build-docs

torture: deps               ## crashes, power cuts, failing calls, full disks, damaged files; LONG=1 for a night of it
	@SWIFT="$(SWIFT)" Scripts/torture

fuzz: deps                  ## seven fuzz targets, a minute each; EXECUTIONS=1000000 for a number of inputs, GUIDED=no without coverage, as CI does
	@SWIFT="$(SWIFT)" Scripts/fuzz || [ $$? = 77 ]

soak: deps                  ## many threads under ThreadSanitizer and AddressSanitizer, and five minutes without
	@SWIFT="$(SWIFT)" Scripts/soak

cluster-demo: deps          ## three servers of NATS, three nodes, one feed; a leader and a node are killed, nothing is lost
	@Cluster/install-dependencies
	$(SWIFT) build --package-path Cluster --scratch-path .build --product quire-cluster-demo
	@"$$($(SWIFT) build --package-path Cluster --scratch-path .build --show-bin-path)/quire-cluster-demo"

torture-cluster: deps       ## nodes in Swift, C and Python under killed and cut off servers; 100,000 histories over a log that lies
	@SWIFT="$(SWIFT)" Scripts/torture-cluster

bench-cluster: deps         ## a commit through the log, pages a second, a new node; Redis with WAIT 1 beside it
	@SWIFT="$(SWIFT)" Scripts/bench-cluster

histories: deps             ## 100,000 operations on screens, budgets and views beside other processes; HISTORIES=100 for fewer
	@QUIRE_HISTORIES=$${HISTORIES:-700} QUIRE_OPTIMIZED=1 $(SWIFT) test --disable-xctest --filter ScreenHistoryTests

cost: deps                  ## instructions, allocations, records and bytes written against the baseline
	@if command -v python3 >/dev/null; then SWIFT="$(SWIFT)" Scripts/check-cost; \
	    else echo "cost: no python3"; echo "0 passed, 0 failed, 80 skipped"; fi

profile: deps               ## build/quire.profdata: with QUIRE_PROFILE=build/quire.profdata, lib and install are compiled for speed
	@SWIFT="$(SWIFT)" Scripts/profile

lib: deps                   ## build/libquire.so.0 and build/libquire.a, for programs without Swift
	@SWIFT="$(SWIFT)" Packaging/build-library

lib-cluster: deps           ## build/libquire-cluster.so.0: libquire, and caches that several machines share
	@Cluster/install-dependencies
	@SWIFT="$(SWIFT)" Packaging/build-cluster-library

install-node: deps          ## quire-node under DESTDIR/PREFIX, which `quire node` and `quire cluster` run
	@Cluster/install-dependencies
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" SWIFT="$(SWIFT)" Packaging/install-node

install: lib                ## library and tool under DESTDIR/PREFIX, with what C, CMake, man and shells need
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" Packaging/install-library
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" SWIFT="$(SWIFT)" Packaging/install-tool

swift-package:              ## build/swift-package: the engine, the pager and LMDB's sources as one Swift package
	@Packaging/write-swift-package build/swift-package

sbom: deps                  ## build/quire.cdx.json: what the library and the tool are made of, with licences
	@mkdir -p build
	@if command -v python3 >/dev/null; then SWIFT="$(SWIFT)" Packaging/write-sbom build/quire.cdx.json; \
	    else echo "sbom: no python3"; fi

test-c: lib                 ## everything about the C API; ends with "N passed, N failed, N skipped"
	@Tests/C/run.sh

bench: lib                  ## Quire beside SQLite, GRDB, RocksDB and C on LMDB, 100,000 posts
	@Benchmarks/install-dependencies
	@mkdir -p build
	@bench=$$(SWIFT="$(SWIFT)" Benchmarks/build quire-bench) && "$$bench" run --posts $(BENCH_POSTS) --json build/bench.json

bench-report: deps          ## 100,000, 1 and 5 million posts; writes Docs/benchmarks
	@SWIFT="$(SWIFT)" Benchmarks/write-report Docs/benchmarks

bench-growth: deps          ## how each operation grows, 10,000 to 10 million posts; writes Docs/benchmarks and Docs/performance.md
	@SWIFT="$(SWIFT)" Benchmarks/write-growth Docs/benchmarks

bench-kinds: deps           ## what writes cost in a short and in a long feed, for each order and kind of paging
	@Benchmarks/install-dependencies
	@bench=$$(SWIFT="$(SWIFT)" Benchmarks/build quire-bench) && "$$bench" kinds

patterns: deps              ## what readers miss with a cursor column, offsets, remote keys, a Redis sorted set, and Quire
	@Benchmarks/install-dependencies redis-server
	@patterns=$$(SWIFT="$(SWIFT)" Benchmarks/build quire-patterns) && "$$patterns"

clean:                      ## forget everything that was built
	$(SWIFT) package clean
