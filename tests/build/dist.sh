#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The tarball is reproducible, has all sources, and builds what is then installed and
# uninstalled without a trace.
. tests/tap.sh

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
version=$(cat VERSION)
name=netdoctor-$version

# Twice from a copy of the tree as it is here, so that nothing here is written.
mkdir "$work/a" "$work/b"
for copy in a b; do
	tools/source-files | tar -cf - --null -T - | tar -xmf - -C "$work/$copy"
	sleep 1 # else both would have the same times by accident
done
SOURCE_DATE_EPOCH=1700000000
export SOURCE_DATE_EPOCH
# This make's variables are not those of another tree's.
unset MAKEFLAGS MAKELEVEL BUILD
make -s -C "$work/a" dist && make -s -C "$work/b" dist
check "two trees give the same bytes" cmp "$work/a/$name.tar.gz" "$work/b/$name.tar.gz"

tar -xzf "$work/a/$name.tar.gz" -C "$work"
tools/source-files | tr '\0' '\n' >"$work/expected"
(cd "$work/$name" && find . -type f | sed 's|^\./||' | LC_ALL=C sort) >"$work/got"
check "it has every source file" diff "$work/expected" "$work/got"

# Without optimisation: what is installed is the question, not how fast it is.
# shellcheck disable=SC2317
make_there() { make -s -C "$work/$name" CFLAGS=-O0 LDFLAGS= DESTDIR="$work/root" PREFIX=/opt/nd "$@"; }
if make_there -j2 install >"$work/log" 2>&1; then
	pass "it builds and installs"
else
	cat "$work/log"
	fail "it builds and installs"
fi
check "installs the program" [ -x "$work/root/opt/nd/bin/netdoctor" ]
for file in share/man/man1/netdoctor.1 share/bash-completion/completions/netdoctor; do
	check "installs $file" [ -s "$work/root/opt/nd/$file" ]
done
check "installs the schema" [ -n "$(find "$work/root" -name '*.schema.json')" ]
make_there uninstall
left=$(find "$work/root" ! -type d)
[ -z "$left" ] || echo "$left"
check "uninstall leaves no file" [ -z "$left" ]
make -s -C "$work/$name" distclean
(cd "$work/$name" && find . -type f | sed 's|^\./||' | LC_ALL=C sort) >"$work/got"
check "distclean leaves the sources" diff "$work/expected" "$work/got"
done_testing
