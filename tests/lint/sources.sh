# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
# Lists of the project's own files, for the lints.  Not from git: a tarball has none.

folders() { for folder in src probes rules ui tests; do [ -d "$folder" ] && echo "$folder"; done; }

# Words on purpose: no folder or file of ours has white space in its name.
# shellcheck disable=SC2046
c_files() { find $(folders) -name '*.[ch]' | sort; }
# shellcheck disable=SC2046
headers() { find $(folders) -name '*.h' | sort; }
# Everything that ships but the tests.
# shellcheck disable=SC2046
product_files() { find $(folders) -name '*.[ch]' ! -path 'tests/*' | sort; }
# shellcheck disable=SC2046
scripts() {
	{
		echo configure
		echo bootstrap
		echo tests/run
		echo tests/run-one
		echo tests/bench/run
		echo tools/source-files
		echo tools/source-date
		find $(folders) -name "*.sh"
	} | sort
}

# The value of a variable of the Makefile.
variable() { make -s "print-$1" | tail -n 1; }

# C without comments and without the text of strings, lines kept, as FILE:LINE:CODE.
c_code() { # FILE...
	awk '
		FNR == 1 { comment = 0 }
		# Most lines: nothing to take out.
		!comment && !/["\047]|\/[*\/]/ {
			if (/[^ \t]/) print FILENAME ":" FNR ":" $0
			next
		}
		{
			out = ""; string = 0; quote = ""
			n = length($0)
			for (i = 1; i <= n; i++) {
				c = substr($0, i, 1)
				two = substr($0, i, 2)
				if (comment) {
					if (two == "*/") { comment = 0; i++ }
				} else if (string) {
					if (c == "\\") i++
					else if (c == quote) { string = 0; out = out c }
				} else if (two == "/*") { comment = 1; i++; out = out " " }
				else if (two == "//") break
				else {
					if (c == "\"" || c == "\047") { string = 1; quote = c }
					out = out c
				}
			}
			if (out ~ /[^ \t]/) print FILENAME ":" FNR ":" out
		}' "$@"
}
