#!/usr/bin/env python3
"""Writes the words of the language, which `fsdpc help --format=json` prints, into the syntax files.

    update.py FSDPC [FOLDER]     FOLDER: of the two files, this one by default

All else in the files is written by hand. In vim's a line per kind of words has a group of that
name, in the TextMate grammar a pattern has a scope; what stands between the brackets is replaced.
A section needs a region of its own in both.
"""
import json
import os
import re
import subprocess
import sys

VIM = {"Declaration": "declaration", "Control": "control", "WordOperator": "operator",
       "Constant": "constant", "Module": "module", "Function": "function", "Initial": "initial",
       "Attribute": "attribute"}
SCOPES = {"storage.modifier.attribute": "attribute", "keyword.declaration": "declaration",
          "keyword.control": "control", "keyword.operator.word": "operator",
          "constant.language": "constant", "support.class.module": "module",
          "support.function": "function", "support.constant.initial": "initial"}
SECTION_SCOPES = {"support.type.property-name": "keys", "support.function.value": "calls",
                  "constant.language.word": "values"}


def vim(text, words):
    lists = {name: words[kind] for name, kind in VIM.items()}
    for section, own in words["sections"].items():
        for name, kind in ("Word", "values"), ("Call", "calls"), ("Key", "keys"):
            lists[name + section.capitalize()] = own[kind]
    for name, some in lists.items():
        keywords = rf"(?m)^(syntax keyword fsd{name} ).*$"
        match = rf'(?m)^(syntax match fsd{name} ".*?\\%\().*?(?=\\\))'
        text, plain = re.subn(keywords, lambda m: m[1] + " ".join(some), text)
        text, group = re.subn(match, lambda m: m[1] + r"\|".join(some), text)
        if plain + group != bool(some):
            sys.exit(f"fsd.vim has {plain + group} lines for fsd{name}")
    return text


def put_scopes(rules, scopes, words):
    for scope, kind in scopes.items():
        ours = [r for r in rules if r.get("name") == scope + ".fsd"]
        if len(ours) != bool(words[kind]):
            sys.exit(f"the grammar has {len(ours)} patterns of {scope}")
        for rule in ours:
            rule["match"] = re.sub(r"\(\?:[^)]*\)", f"(?:{'|'.join(words[kind])})", rule["match"],
                                   count=1)


def textmate(text, words):
    grammar = json.loads(text)
    regions = grammar["repository"]
    put_scopes(regions["common"]["patterns"], SCOPES, words)
    for section, own in words["sections"].items():
        put_scopes(regions[section]["patterns"], SECTION_SCOPES, own)
    inside = regions["parentheses"]["patterns"]
    captures = inside[0]["captures"]
    regexes = dict.fromkeys(rf"\b({name})\s*(=)\s*({'|'.join(some)})\b"
                            for name, some in words["arguments"])
    inside[:] = [{"match": regex, "captures": captures} for regex in regexes] + [
        rule for rule in inside if "captures" not in rule]
    return json.dumps(grammar, indent=2) + "\n"


def main():
    folder = sys.argv[2] if len(sys.argv) > 2 else os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run([sys.argv[1], "help", "--format=json"], check=True, capture_output=True)
    for path, update in (("vim/syntax/fsd.vim", vim),
                         ("vscode/syntaxes/fsd.tmLanguage.json", textmate)):
        path = os.path.join(folder, path)
        with open(path, encoding="utf-8") as f:
            text = update(f.read(), json.loads(done.stdout))
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


main()
