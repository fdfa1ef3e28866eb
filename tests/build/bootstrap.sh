#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# bootstrap asks each distribution's package manager for its own names, as root or
# through sudo, and says what to install when it may not.  Package managers are stand-ins.
. tests/tap.sh

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
for tool in sh env dirname cat; do
	ln -s "$(command -v $tool)" "$work/$tool"
done

# stand_in NAME: a program that says how it was called.
stand_in() {
	printf '#!/bin/sh\necho "%s $*"\n' "$1" >"$work/$1"
	chmod +x "$work/$1"
}
fails_always() { # NAME
	printf '#!/bin/sh\nexit 1\n' >"$work/$1"
	chmod +x "$work/$1"
}
user() { # UID: who id says we are
	printf '#!/bin/sh\necho %s\n' "$1" >"$work/id"
	chmod +x "$work/id"
}
# says NAME TEXT COMMAND...: output has TEXT.
says() {
	says_name=$1 says_text=$2
	shift 2
	out=$(PATH=$work "$@" 2>&1)
	case $out in
	*"$says_text"*) pass "$says_name" ;;
	*)
		echo "$out"
		fail "$says_name" ;;
	esac
}

user 0
says "no package manager" "configure will say" ./bootstrap deps
fails_always dpkg-query
stand_in apt-get
says "apt-get, as root" "apt-get install -q -y --no-install-recommends gcc libc6-dev make" ./bootstrap deps
says "tests need more" "cmocka-dev iproute2 ethtool" ./bootstrap deps test
user 1000
says "no way to become root" "as root, run: apt-get install gcc libc6-dev make pkg-config" ./bootstrap deps
check "and that is a failure" [ "$(PATH=$work ./bootstrap deps >/dev/null 2>&1; echo $?)" = 1 ]
stand_in doas
says "through doas" "doas env DEBIAN_FRONTEND=noninteractive apt-get install" ./bootstrap deps
stand_in sudo
says "through sudo first" "sudo apt-get update" ./bootstrap deps
# What is there is not installed again.
printf '#!/bin/sh\nprintf installed\n' >"$work/dpkg-query"
none "nothing when nothing is missing" "$(PATH=$work ./bootstrap deps build test 2>&1)"
rm "$work/apt-get" "$work/sudo" "$work/doas"

user 0
fails_always rpm
stand_in dnf
says "dnf" "dnf install -y gcc make pkgconf-pkg-config kernel-headers pciutils-devel" ./bootstrap deps
rm "$work/dnf"
printf '#!/bin/sh\n[ "$1" != info ] && echo "apk $*"\n' >"$work/apk"
chmod +x "$work/apk"
says "apk" "apk add --update-cache gcc musl-dev make pkgconf linux-headers" ./bootstrap deps
rm "$work/apk"
printf '#!/bin/sh\n[ "$1" != -Qq ] && echo "pacman $*"\n' >"$work/pacman"
chmod +x "$work/pacman"
says "pacman" "pacman -Sy --needed --noconfirm gcc make pkgconf" ./bootstrap deps

check "unknown command" [ "$(PATH=$work ./bootstrap biuld >/dev/null 2>&1; echo $?)" = 64 ]
check "unknown group" [ "$(PATH=$work ./bootstrap deps biuld >/dev/null 2>&1; echo $?)" = 64 ]
check "no command" [ "$(PATH=$work ./bootstrap >/dev/null 2>&1; echo $?)" = 64 ]

# Each need of configure has a row, and each row six columns.
none "rows are whole" "$(awk '!/^#/ && NF != 6 { print NR ": " $0 }' tools/packages)"
missing_rows() {
	sed -n 's/^need_library \([^ ]*\) .*/\1/p' configure | while read -r need; do
		grep -q "^$need " tools/packages || echo "$need"
	done
}
none "every library has a row" "$(missing_rows)"
done_testing
