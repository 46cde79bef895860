"""Applies a TextMate grammar as editors do: in each line the leftmost match wins, then the first
rule.

    textmate.py GRAMMAR FILE             prints each piece of FILE that has a scope: scope, text
    textmate.py GRAMMAR FILE SCOPE       prints the pieces of one scope
"""

import json
import re
import sys


class Grammar:
    def __init__(self, path):
        self.top = json.load(open(path))
        self.compiled = {}

    def regex(self, text):
        return self.compiled.setdefault(text, re.compile(text))

    def rules(self, patterns):
        for rule in patterns:
            if "include" in rule:
                rule = self.top["repository"][rule["include"][1:]]
                if "begin" not in rule:
                    yield from self.rules(rule["patterns"])
                    continue
            yield rule

    def leftmost(self, stack, line, at):
        """The next (match, rule); rule is None at the end of the innermost region."""
        found = []
        if stack:
            found.append((self.regex(stack[-1]["end"]).search(line, at), None))
        for rule in self.rules(stack[-1]["patterns"] if stack else self.top["patterns"]):
            found.append((self.regex(rule.get("begin") or rule["match"]).search(line, at), rule))
        return min((f for f in found if f[0]), key=lambda f: f[0].start(), default=(None, None))

    def pieces(self, text):
        stack = []
        for line in text.split("\n"):
            at = 0
            while True:
                match, rule = self.leftmost(stack, line, at)
                if not match:
                    break
                at = match.end()
                if not rule:
                    stack.pop()
                    continue
                if "name" in rule:
                    yield rule["name"], match.group()
                for group, scope in rule.get("captures", rule.get("beginCaptures", {})).items():
                    yield scope["name"], match.group(int(group))
                if "begin" in rule:
                    stack.append(rule)
        assert not stack, "a region does not end"


if __name__ == "__main__":
    for scope, piece in Grammar(sys.argv[1]).pieces(open(sys.argv[2]).read()):
        scope = scope.removesuffix(".fsd")
        if len(sys.argv) == 3:
            print(scope, piece)
        elif scope == sys.argv[3]:
            print(piece)
