#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Rules on recorded and built exams; give rule ids to run only their cases.
: "${BUILD:=build}"
if [ $# -eq 0 ]; then
	exec "$BUILD/tests/exams/run_exams" tests/exams tests/exams/base/*.json tests/exams/*.json
fi
for id; do
	shift
	set -- "$@" "tests/exams/$id.json"
done
exec "$BUILD/tests/exams/run_exams" tests/exams "$@"
