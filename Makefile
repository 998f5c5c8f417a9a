# A door to the CMake presets of CMakePresets.json; see `make help`.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build

JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 20
PREFIX ?= /usr/local
DESTDIR ?=

# Configure a preset and build it: $(call preset,asan) or with $(2) as its targets.
preset = cmake --preset $(1) >/dev/null && cmake --build --preset $(1) -j $(JOBS) $(2)
sources = python3 tools/tree.py --suffix .c --suffix .h

.PHONY: help build demo web ui pictures check check-all check-web asan tsan clang strict bench lint \
	tidy cppcheck fuzz format fix golden docs install wheel deb clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1|/p' $(MAKEFILE_LIST) | \
		while IFS='|' read -r name text; do printf '  make %-10s %s\n' "$$name" "$$text"; done

build: ## the program, optimised: build/release/ridge (the default)
	@scripts/install-deps --for demo >/dev/null
	$(call preset,release)

demo: ## install what is missing, build, and run the main job
	scripts/install-deps --for demo
	$(call preset,release)
	scripts/demo build/release/ridge

web: ## the web page: build/web/index.html, one file that needs no server
	scripts/install-deps --for web
	scripts/web-build --jobs $(JOBS)

ui: web ## build the web page, serve it on this machine and open it
	$(call preset,release)
	build/release/ridge ui

pictures: web ## the README's pictures, of the page and of a terminal
	$(call preset,release)
	mkdir -p docs/pictures
	cd web && RIDGE=../build/release/ridge node pictures.mjs ../docs/pictures

check-web: ## the web page in a real browser
	scripts/install-deps --for web
	scripts/web-check

check: ## sanitised build, quick tests, layout, layers, house rules
	scripts/install-deps --for check
	$(call preset,asan)
	cmake --build --preset asan -j $(JOBS) --target all_verify_interface_header_sets
	ctest --preset quick

check-all: ## all tests under ASan, gcc and clang with -Werror, and lint
	scripts/install-deps --for all
	$(MAKE) asan
	$(MAKE) strict
	$(MAKE) clang
	$(MAKE) lint

asan: ## all tests under AddressSanitizer and UBSan
	$(call preset,asan)
	ctest --preset all

tsan: ## all tests under ThreadSanitizer
	$(call preset,tsan)
	ctest --preset tsan

strict: ## all tests, gcc, optimised, warnings are errors
	$(call preset,strict)
	ctest --preset strict

clang: ## all tests, clang, warnings are errors
	$(call preset,clang)
	ctest --preset clang

bench: ## every benchmark, one JSON line each
	@$(call preset,release) >/dev/null
	@scripts/bench build/release/bench

lint: tidy cppcheck ## clang-tidy, cppcheck and the checks of tools/
	@for check in tools/check_*.py; do echo "$$check"; python3 "$$check"; done

tidy:
	scripts/install-deps --for lint
	$(call preset,clang)
	python3 tools/tree.py --suffix .c --under src | \
		xargs -r -P $(JOBS) -n 1 clang-tidy -p build/clang --quiet 2> >(grep -v generated >&2)

cppcheck:
	scripts/install-deps --for lint
	$(call preset,clang)
	mkdir -p build/cppcheck
	cppcheck --project=build/clang/compile_commands.json --file-filter='src/*' \
		--cppcheck-build-dir=build/cppcheck --enable=warning,performance,portability \
		--inline-suppr --error-exitcode=1 --quiet -j $(JOBS)

fuzz: ## each fuzz target for FUZZ_SECONDS (20)
	scripts/install-deps --for fuzz
	$(call preset,fuzz,--target ridge_fuzzers)
	FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz build/fuzz/tests

format: ## lay out every C file
	$(sources) | xargs -r clang-format -i

fix: ## what lint can mend by itself: braces around bodies of several lines, layout
	$(call preset,clang)
	python3 tools/tree.py --suffix .c --under src | xargs -r scripts/fix-braces
	$(MAKE) format

golden: ## rewrite the expected outputs; review the diff
	$(call preset,release)
	python3 tools/golden.py --ridge build/release/ridge --write
	python3 tools/accuracy.py --ridge build/release/ridge --write
	python3 tools/readme_output.py --ridge build/release/ridge --write

docs: ## rewrite man pages and Python's verbs from the program's help
	$(call preset,release)
	python3 tools/man_pages.py --ridge build/release/ridge --write
	python3 tools/python_verbs.py --ridge build/release/ridge --write

install: ## program, library, headers, man pages, completions below DESTDIR/PREFIX
	$(call preset,release)
	DESTDIR='$(DESTDIR)' cmake --install build/release --prefix '$(PREFIX)'

wheel: ## the Python package with the library in it: build/wheel
	scripts/install-deps --for wheel
	$(call preset,release)
	scripts/wheel build/release build/wheel

deb: ## Debian packages in build/release: ridge, libridge0, libridge-dev
	scripts/install-deps --for deb
	$(call preset,release)
	cd build/release && cpack -G DEB

clean: ## remove build/
	rm -rf build
