# SPDX-License-Identifier: GPL-3.0-or-later
# netdoctor: `make help` lists the targets.

-include config.mk
CC ?= cc
CFLAGS ?= -O2 -g
PKGS = libpci libnl-3.0 libnl-route-3.0 libmnl libcjson ncursesw openssl
DEP_CFLAGS ?= $(shell pkg-config --cflags $(PKGS))
DEP_LIBS ?= $(shell pkg-config --libs $(PKGS))
WARNINGS = -Wall -Wextra -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wformat=2
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -I. $(WARNINGS) $(if $(WERROR),-Werror) -pthread $(DEP_CFLAGS) $(SAN_CFLAGS) $(CFLAGS)
ALL_LDFLAGS = -pthread $(SAN_CFLAGS) $(LDFLAGS)
Q = $(if $(V),,@)

DIRS = src/core src/model src/load src/peer src/exam src/diagnose src/report probes rules
LIB_SRC := $(sort $(filter-out %/_template.c,$(foreach d,$(DIRS),$(wildcard $(d)/*.c))))
CLI_SRC := $(sort $(wildcard src/cli/*.c))
LIB_OBJ := $(LIB_SRC:%.c=build/%.o)
CLI_OBJ := $(CLI_SRC:%.c=build/%.o)
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
UNIT_BIN := $(UNIT_SRC:%.c=build/%)

all: netdoctor

netdoctor: $(CLI_OBJ) build/libnetdoctor.a
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(DEP_LIBS) -lm

build/libnetdoctor.a: $(LIB_OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

build/%.o: %.c
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

build/tests/unit/%: build/tests/unit/%.o build/libnetdoctor.a
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ -lcmocka $(DEP_LIBS) -lm

unit: $(UNIT_BIN)
	$(Q)fail=0; for t in $(UNIT_BIN); do CMOCKA_MESSAGE_OUTPUT=TAP $$t || fail=1; done; exit $$fail

clean:
	$(Q)rm -rf build netdoctor

.PHONY: all unit clean
.PRECIOUS: build/%.o
-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(UNIT_BIN:=.d)
