#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Validates JSON files against a JSON Schema.

validate_json.py SCHEMA GOOD... [-- BAD...]

Each GOOD must be valid and each BAD must not be.  Exits with 0, 1 for a file
that is not as it should be, 77 when python3-jsonschema is not installed.
"""
import json
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("python3-jsonschema is not installed")
    sys.exit(77)


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def main(argv):
    if len(argv) < 2:
        print(__doc__)
        return 64
    schema = load(argv[0])
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    bad_from = argv.index("--") if "--" in argv else len(argv)
    failed = 0
    for i, path in enumerate(argv[1:], 1):
        if path == "--":
            continue
        errors = list(validator.iter_errors(load(path)))
        if i < bad_from and errors:
            error = errors[0]
            where = "/".join(str(p) for p in error.absolute_path)
            print(f"{path}: {where}: {error.message[:300]}")
            failed = 1
        elif i > bad_from and not errors:
            print(f"{path}: valid, but should not be")
            failed = 1
    return failed


sys.exit(main(sys.argv[1:]))
