# Every target is one command. `make demo` and `make test` install what they need.

SWIFT ?= swift

.PHONY: help demo test check deps build clean

help:                       ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

deps:                       ## install the C libraries that are missing
	@Scripts/install-dependencies

build: deps                 ## build the tool, optimised
	$(SWIFT) build -c release --product quire

demo: build                 ## a feed fills, a gap opens, the gap closes, the cache is verified
	@"$$($(SWIFT) build -c release --show-bin-path)/quire" demo

test: deps                  ## all tests; ends with "N passed, N failed, N skipped"
	@Scripts/test

check: test                 ## tests, and the rules about the code itself
	@Scripts/tidy

clean:                      ## forget everything that was built
	$(SWIFT) package clean
