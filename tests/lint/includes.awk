# SPDX-License-Identifier: GPL-3.0-or-later
# Reads FILE:LINE:#include ... and prints those that includes.table does not allow.

BEGIN {
	# Headers of libraries, by how their names begin.
	library["cjson/"] = library["cJSON"] = "cjson"
	library["pci/"] = "pci"
	library["netlink/"] = "netlink"
	library["libmnl/"] = "libmnl"
	library["openssl/"] = "openssl"
	library["curses"] = library["ncurses"] = library["panel.h"] = "curses"
	library["cmocka"] = "cmocka"
	n = split("ctype errno float inttypes limits math stdarg stdbool stddef stdint stdio stdlib " \
		  "string strings", name, " ")
	for (i = 1; i <= n; i++)
		pure[name[i] ".h"] = 1
	while ((getline line < "tests/lint/includes.table") > 0)
		add_row(line)
	if (!rows)
		print "includes.table has no rows"
}

function add_row(line,    column, last, i) {
	last = split(line, column, " ")
	if (line ~ /^#/ || last < 4)
		return
	rows++
	gsub(/\./, "\\.", column[1])
	gsub(/\*/, ".*", column[1])
	files[rows] = "^" column[1] "$"
	for (i = 2; i < last - 1; i++)
		project[rows, ++nproject[rows]] = column[i]
	libraries[rows] = "," column[last - 1] ","
	purity[rows] = column[last]
}

function project_allowed(row, folder, header,    i, may) {
	if (header ~ "^" folder "/[^/]*$")
		return 1
	for (i = 1; i <= nproject[row]; i++) {
		may = project[row, i]
		if (header == may || index(header, may "/") == 1)
			return 1
	}
	return 0
}

{
	split($0, part, ":")
	file = part[1]
	where = part[1] ":" part[2] ": "
	folder = file
	sub(/\/[^\/]*$/, "", folder)
	header = $0
	sub(/^[^<"]*[<"]/, "", header)
	sub(/[>"].*/, "", header)
	row = 0
	for (i = 1; i <= rows; i++)
		if (file ~ files[i])
			row = i
	if (!row) {
		print where "no row of includes.table is about this file"
		next
	}
	if ($0 ~ /include[ \t]*"/) {
		if (!project_allowed(row, folder, header))
			print where folder " may not include " header
		next
	}
	lib = ""
	for (prefix in library)
		if (index(header, prefix) == 1)
			lib = library[prefix]
	if (lib != "") {
		if (!index(libraries[row], "," lib ","))
			print where "may not use " lib " (" header ")"
	} else if (purity[row] == "pure" && !(header in pure))
		print where "does no I/O, so may not include <" header ">"
}
