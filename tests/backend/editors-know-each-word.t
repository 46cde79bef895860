# RUN: cp %root/tests/backend/textmate.py . && %python words.py %fsdpc %root
# Each keyword, function, module, initial value and attribute has its scope in the grammar, and so has
# each key and call of a section, there and only there.
==== words.py
import json, re, subprocess, sys
from textmate import Grammar
def fsdpc(*args): return subprocess.run([sys.argv[1], *args], capture_output=True, text=True).stdout
grammar = Grammar(sys.argv[2] + "/editors/vscode/syntaxes/fsd.tmLanguage.json")
def names(chapter):
    pages = re.sub(r"\n {20,}", " ", fsdpc("help", chapter))
    return [m[1] for m in re.finditer(r"^  ([@\w.]+)\s+(?!.*not in this)", pages, re.M)]
checked = 0
def check(chapter, line, scope, outside=None):
    global checked
    for name in names(chapter):
        word = name.split(".")[-1]
        if (scope + ".fsd", word) not in grammar.pieces(line % word): print(chapter, word, "lacks", scope)
        if outside and (scope + ".fsd", word) in grammar.pieces(outside % word): print(word, "outside")
        checked += 1
check("functions", "y = %s(x)", "support.function")
check("numbers", "y = %s(x)", "support.function")
check("modules", "fc : %s(D, D)", "support.class.module")
check("inits", "w : param[D] = %s @frozen", "support.constant.initial")
check("attributes", "w : param[D] %s", "storage.modifier.attribute")
for word in re.findall(r'^"([a-z]+)"', open(sys.argv[2] + "/frontend/syntax/fsd.l").read(), re.M):
    scopes = [s for s, text in grammar.pieces("x %s y" % word) if text == word]
    if len(scopes) != 1 or not re.match("keyword|constant", scopes[0]): print("keyword", word, scopes)
for section in "data", "train", "shard":
    check(section, section + " {\n  %s = 1 }", "support.type.property-name", "%s = 1")
for chapter, section in ("sources", "data"), ("optimizers", "train"), ("schedules", "train"), ("units", "shard"):
    check(chapter, section + " { key = %s }", "support.function.value", "key = %s")
print(checked > 100)
==== out
True
