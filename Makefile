# SPDX-License-Identifier: GPL-3.0-or-later
# netdoctor.  `make help` lists the targets, docs/HACKING.md explains the variants.

# Targets that need no configured tree.  For all others make runs ./configure by itself.
UNCONFIGURED = clean distclean dist help
ifneq ($(filter-out $(UNCONFIGURED),$(or $(MAKECMDGOALS),all)),)
include config.mk
endif

VERSION := $(shell cat VERSION)
comma := ,

# make SAN=address,undefined | SAN=thread.  Each choice has its own build folder.
SAN ?=
BUILD := build$(if $(SAN),-$(subst $(comma),-,$(SAN)))
ifneq ($(SAN),)
SAN_CFLAGS = -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer -U_FORTIFY_SOURCE
endif

WARNINGS = -Wall -Wextra -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wformat=2
LANGUAGE = -std=gnu11 -D_GNU_SOURCE -I. -include config.h
ALL_CFLAGS = $(LANGUAGE) $(WARNINGS) $(if $(WERROR),-Werror) -pthread $(DEP_CFLAGS) $(CFLAGS) $(SAN_CFLAGS)
ALL_LDFLAGS = -pthread -Wl,--as-needed $(CFLAGS) $(SAN_CFLAGS) $(LDFLAGS)

# A folder's sources are whatever is in it: adding a file needs no change here.
DIRS = src/core src/model src/load src/peer src/exam src/diagnose src/report probes rules ui
sources = $(sort $(filter-out %/_template.c,$(wildcard $(1)/*.c)))
LIB_SRC := $(foreach d,$(DIRS),$(call sources,$(d)))
CLI_SRC := $(call sources,src/cli)
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
# Helpers that several unit tests share.
UNIT_LIB_SRC := $(filter-out $(UNIT_SRC),$(call sources,tests/unit))

# Rules on exams: one program that reads the cases.
EXAMS_SRC := $(call sources,tests/exams)

objects = $(patsubst %.c,$(BUILD)/%.o,$(1))
LIB_OBJ := $(call objects,$(LIB_SRC))
CLI_OBJ := $(call objects,$(CLI_SRC))
UNIT_LIB_OBJ := $(call objects,$(UNIT_LIB_SRC))
EXAMS_OBJ := $(call objects,$(EXAMS_SRC))
EXAMS_BIN := $(BUILD)/tests/exams/run_exams
UNIT_BIN := $(patsubst %.c,$(BUILD)/%,$(UNIT_SRC))
# Everything but main() can be linked into a unit test.
CLI_TESTED_OBJ := $(filter-out $(BUILD)/src/cli/main.o,$(CLI_OBJ))

# Quiet: one short line a step, none with -s; V=1 shows the commands.
Q := $(if $(V),,@)
quiet := $(or $(V),$(findstring s,$(filter-out --%,$(firstword -$(MAKEFLAGS)))))
say = $(if $(quiet),,@printf '  %-5s %s\n' $(1) $(2))

all: netdoctor ## build ./netdoctor (the default)

# ./netdoctor is the last variant that was built; tests use $(BUILD)/netdoctor.
netdoctor: $(BUILD)/netdoctor FORCE
	$(Q)cmp -s $< $@ || { rm -f $@ && cp $< $@; }

$(BUILD)/netdoctor: $(CLI_OBJ) $(BUILD)/libnetdoctor.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(DEP_LIBS) -lm

# Made anew each time: ar would keep members whose source is gone.
define archive
$(call say,AR,$@)
$(Q)rm -f $@ && mkdir -p $(@D) && $(AR) rcs $@ $(filter %.o,$^)
endef
$(BUILD)/libnetdoctor.a: $(LIB_OBJ) $(BUILD)/sources
	$(archive)
$(BUILD)/libtest.a: $(UNIT_LIB_OBJ) $(CLI_TESTED_OBJ) $(BUILD)/sources
	$(archive)

$(BUILD)/%.o: %.c $(BUILD)/flags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(if $(filter tests/unit/%,$<),$(CMOCKA_CFLAGS)) -MMD -MP -c -o $@ $<

$(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(BUILD)/libtest.a $(BUILD)/libnetdoctor.a
	$(call say,LD,$@)
	$(if $(CMOCKA_LIBS),,$(error cmocka is missing: see config.log; ./bootstrap deps test installs it))
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(CMOCKA_LIBS) $(DEP_LIBS) -lm

$(EXAMS_BIN): $(EXAMS_OBJ) $(BUILD)/libnetdoctor.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(DEP_LIBS) -lm

# Small drivers to measure with; no test runs them.
$(BUILD)/tests/bench/%: $(BUILD)/tests/bench/%.o $(BUILD)/libnetdoctor.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(DEP_LIBS) -lm

$(BUILD)/tests/tools/%: $(BUILD)/tests/tools/%.o $(BUILD)/libnetdoctor.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(DEP_LIBS) -lm

# Files that change only when the flags, or the list of sources, do: objects built by
# another compiler or with other flags are never mixed, and a deleted source is noticed.
quoted = '$(subst ','\'',$(1))'
keep = @mkdir -p $(@D); echo $(call quoted,$(1)) | cmp -s - $@ || echo $(call quoted,$(1)) >$@
$(BUILD)/flags: FORCE
	$(call keep,$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS))
$(BUILD)/sources: FORCE
	$(call keep,$(LIB_SRC) $(CLI_SRC) $(UNIT_LIB_SRC))

config.mk: configure VERSION
	$(Q)./configure $(CONFIGURE_ARGUMENTS)
config.h: config.mk
	@:

tests: $(BUILD)/netdoctor $(UNIT_BIN) $(EXAMS_BIN) ## build everything that the tests run
check: ## build and run all tests; labs need root (CHECK="--no-lab --only PATTERN ...")
	+$(Q)tests/run $(CHECK)

lint: ## run the lints and the analyzers: shellcheck, cppcheck, clang, clang-tidy
	+$(Q)tests/run --lint

unit: $(UNIT_BIN) ## run the unit tests alone
	$(Q)fail=0; for t in $(UNIT_BIN); do CMOCKA_MESSAGE_OUTPUT=TAP $$t || fail=1; done; exit $$fail

VALGRIND = valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,possible
VALGRIND_TESTS = screens screens_serve screens_fuzz views canvas history serve_feed
valgrind: $(UNIT_BIN) ## run unit tests of the screen under memcheck (VALGRIND_TESTS=% for all)
	$(Q)fail=0; for t in $(filter $(addprefix %/test_,$(VALGRIND_TESTS)),$(UNIT_BIN)); do \
		CMOCKA_MESSAGE_OUTPUT=TAP $(VALGRIND) $$t || fail=1; done; exit $$fail

GEN_DOCS = $(BUILD)/tests/tools/gen_docs
GEN_SCREENS = $(BUILD)/tests/tools/gen_screens
docs: $(GEN_DOCS) $(GEN_SCREENS) ## write schema, pages of rules and screens in documents anew
	$(Q)mkdir -p docs/rules docs/schema && rm -f docs/rules/*.md
	$(Q)$(GEN_DOCS) schema src/report/schema.skeleton.json docs/schema/netdoctor-report-1.schema.json
	$(Q)$(GEN_DOCS) rules docs/rules
	$(Q)$(GEN_SCREENS) README.md docs/man/netdoctor.1

bless: $(UNIT_BIN) ## accept what reports and screens show now as right (see git diff)
	$(Q)for t in $(filter %report_text %report_parts %report_formats %screens %screens_serve %views,$(UNIT_BIN)); do NETDOCTOR_BLESS=1 $$t || exit 1; done

install: $(BUILD)/netdoctor ## install below $(DESTDIR)$(PREFIX)
	$(call say,INST,$(DESTDIR)$(PREFIX))
	$(Q)mkdir -p $(INSTALL_DIRS)
	$(Q)install -m 755 $(BUILD)/netdoctor $(BINDIR)/netdoctor
	$(Q)$(foreach f,$(MAN_PAGES),install -m 644 $(f) $(MANDIR)/$(notdir $(f)) &&) true
	$(Q)$(foreach f,$(COMPLETIONS),install -m 644 $(f) $(COMPDIR)/$(notdir $(f)) &&) true
	$(Q)$(foreach f,$(SCHEMAS),install -m 644 $(f) $(SCHEMADIR)/$(notdir $(f)) &&) true

uninstall: ## remove what install put there
	$(call say,RM,$(DESTDIR)$(PREFIX))
	$(Q)rm -f $(INSTALLED)
	$(Q)rmdir $(SCHEMADIR) $(patsubst %/,%,$(dir $(SCHEMADIR))) 2>/dev/null || true

BINDIR = $(DESTDIR)$(PREFIX)/bin
MANDIR = $(DESTDIR)$(PREFIX)/share/man/man1
COMPDIR = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
SCHEMADIR = $(DESTDIR)$(PREFIX)/share/netdoctor/schema
MAN_PAGES := $(wildcard docs/man/*.1)
COMPLETIONS := $(wildcard docs/completion/netdoctor)
SCHEMAS := $(wildcard docs/schema/*.json)
INSTALL_DIRS = $(BINDIR) $(if $(MAN_PAGES),$(MANDIR)) $(if $(COMPLETIONS),$(COMPDIR)) \
	$(if $(SCHEMAS),$(SCHEMADIR))
INSTALLED = $(BINDIR)/netdoctor $(MAN_PAGES:docs/man/%=$(MANDIR)/%) \
	$(COMPLETIONS:docs/completion/%=$(COMPDIR)/%) $(SCHEMAS:docs/schema/%=$(SCHEMADIR)/%)

# The same bytes from the same commit: sorted names, no owners, one time.
DIST := netdoctor-$(VERSION)
dist: ## make $(DIST).tar.gz, the same bytes from the same tree
	$(call say,TAR,$(DIST).tar.gz)
	$(Q)tools/source-files | tar --create --no-recursion --null --files-from=- \
		--format=ustar --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX,a-s \
		--mtime=@$$(tools/source-date) --transform='s,^,$(DIST)/,' | \
		gzip -9n >$(DIST).tar.gz

bench: $(BUILD)/netdoctor $(patsubst %.c,$(BUILD)/%,$(wildcard tests/bench/*.c)) ## compare speed with other tools, write docs/BENCHMARKS.md
	+$(Q)BUILD=$(BUILD) tests/bench/run

clean: ## remove what was built
	$(Q)rm -rf build build-* netdoctor $(DIST).tar.gz

distclean: clean ## and what configure wrote
	$(Q)rm -f config.mk config.h config.log

help: ## print this
	@echo 'Targets:'
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1|\2/p' Makefile | awk -F'|' '{ printf "%-13s %s\n", $$1, $$2 }'
	@echo 'Variables: V=1 shows commands, WERROR=1 stops at warnings, SAN=address,undefined or SAN=thread,'
	@echo '           CC, CFLAGS, LDFLAGS, PREFIX, DESTDIR.'

# For scripts: make -s print-ALL_CFLAGS
print-%:
	@echo '$($*)'

FORCE:
.PHONY: all tests check lint unit valgrind docs bless install uninstall dist bench clean distclean help FORCE
.SECONDARY:
.DELETE_ON_ERROR:
-include $(patsubst %.c,$(BUILD)/%.d,$(wildcard tests/bench/*.c tests/tools/*.c)) $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(UNIT_LIB_OBJ:.o=.d) $(UNIT_BIN:=.d)
-include $(EXAMS_OBJ:.o=.d)
