#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# configure says in one line what is wrong, and what to install.
. tests/tap.sh

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cp -r configure tools VERSION "$work"
cd "$work" || exit 1
mkdir tmp
TMPDIR=$work/tmp
export TMPDIR

# fails NAME STATUS TEXT COMMAND...: exits with STATUS and one line on stderr that has TEXT.
fails() {
	fails_name=$1 fails_status=$2 fails_text=$3
	shift 3
	"$@" >out 2>err
	got=$?
	if [ "$got" -eq "$fails_status" ] && [ "$(wc -l <err)" -eq 1 ] && grep -qF -e "$fails_text" err; then
		pass "$fails_name"
	else
		echo "status $got:"
		cat err
		fail "$fails_name"
	fi
}

fails "unknown option" 64 "unknown option --prefx=/usr" ./configure --prefx=/usr
fails "a word that is no option" 64 "unknown option all" ./configure all
fails "option without its value" 64 "--prefix" ./configure --prefix
fails "relative prefix" 64 "not an absolute path" ./configure --prefix=here
fails "prefix that a shell would read" 64 "not an absolute path" ./configure "--prefix=/x;y"
fails "unknown sanitizer" 64 "unknown sanitizer memry" ./configure --enable-sanitizers=memry
fails "sanitizers that exclude each other" 64 "thread" ./configure --enable-sanitizers=address,thread
fails "no compiler" 1 "Debian gcc" env CC=no-such-cc ./configure
fails "a compiler that does not compile" 1 "does not build" env CC=false ./configure
fails "no pkg-config" 1 "Arch pkgconf" env PKG_CONFIG=no-such-pkg-config ./configure
mkdir empty
fails "no libraries" 1 "Fedora pciutils-devel, Alpine pciutils-dev" \
	env PKG_CONFIG_PATH= PKG_CONFIG_LIBDIR="$work/empty" ./configure
check "nothing is written when it fails" [ ! -e config.mk ]

# A .pc file alone proves nothing: the compile-and-link test must.
mkdir broken
cat >broken/libpci.pc <<'PC'
Name: libpci
Description: headers and library were removed
Version: 9.9
Libs: -lno-such-library
Cflags: -I/nonexistent
PC
fails "a library that does not link" 1 "does not build with it" \
	env PKG_CONFIG_PATH="$work/broken" ./configure

./configure --help >out
check "--help names the options" [ "$(grep -c -e "--prefix" -e "--enable-" out)" -ge 3 ]
if ./configure --prefix=/opt/nd --enable-sanitizers=address,undefined --enable-werror >out 2>&1; then
	check "prefix reaches make" grep -qx 'PREFIX = /opt/nd' config.mk
	check "sanitizers reach make" grep -qx 'SAN = address,undefined' config.mk
	check "werror reaches make" grep -qx 'WERROR ?= 1' config.mk
	check "config.h has the version" grep -qF "#define NETDOCTOR_VERSION \"$(cat VERSION)\"" config.h
else
	cat out
	fail "configures with all options"
fi
check "temporary files are gone" [ -z "$(ls tmp)" ]
done_testing
