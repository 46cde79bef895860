#!/usr/bin/env python3
"""Reads the JSON of `fsdpc dump` and prints, in issue order, the number of elements that a rank
contributes to each gather of a step and has of each reduction; `|` marks the beginning of
backward. `of n` follows if the group is not all ranks.

    AG 18 12 24 40 | 40 24 12
    RS 40 24 12 18
"""
import json
import sys


def number_of(group):
    return group["count"] if isinstance(group, dict) else len(group)


def main():
    plan = json.load(sys.stdin)
    rows, border = {"all_gather": [], "reduce_scatter": [], "all_reduce": []}, False
    for phase, kind, unit, elements, _, group in (e[:6] for e in plan["collectives"]):
        if unit is None:
            continue
        if phase.startswith("backward") and not border and rows["all_gather"]:
            rows["all_gather"].append("|")
            border = True
        n = number_of(group)
        share = elements if kind == "all_reduce" else elements // n
        rows[kind].append(f"{share} of {n}" if n != plan["ranks"] else str(share))
    for kind, short in (("all_gather", "AG"), ("reduce_scatter", "RS"), ("all_reduce", "AR")):
        if rows[kind]:
            print(short, *rows[kind])


main()
