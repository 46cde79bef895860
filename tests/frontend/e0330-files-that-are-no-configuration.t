# RUN: printf 'a: [1\n' > 1.yaml; printf 'b: 1\na: 1\na: 2\n' > 2.yaml; printf '[1, 2]\n' > 3.yaml; printf '{"a": 1, "a": 2}' > 4.json; printf '{"a": 1,}' > 5.json; printf 'a: &x\n  b: *x\n' > 6.yaml; printf 'a: [{b: 1}]\n' > 7.yaml; printf 'debug: true\n---\ndebug: false\n' > 8.yaml; for i in $(seq 12); do printf "k$i: &k$i\n"; for j in $(seq 9); do echo "  n$j: ${last:-1}"; done; last="*k$i"; done > 9.yaml; for f in *.yaml none; do %fsdpc dump --stage=config --accelerate $f m.fsd 2>&1 | head -2; done; for f in *.json; do %fsdpc dump --stage=config --deepspeed $f m.fsd 2>&1 | head -2; done; true
# What cannot be read as keys and values is an error at its place.
==== m.fsd
shard { }
==== out
error[E0330]: this is not valid YAML: did not find expected ',' or ']'
 --> 1.yaml:2:1
error[E0304]: key `a` is given twice
 --> 2.yaml:3:1
error[E0330]: the file has no keys
 --> 3.yaml:1:1
error[E0330]: sections are nested too deeply
 --> 6.yaml:1:4
error[E0330]: no key takes a list of sections
 --> 7.yaml:1:4
error[E0330]: the file has a second document
 --> 8.yaml:3:1
error[E0330]: the file has too many keys
 --> 9.yaml:3:3
error[E0110]: cannot read none: No such file or directory

error[E0330]: this is not valid JSON: duplicate object key near '"a"'
 --> 4.json:1:12
error[E0330]: this is not valid JSON: string or '}' expected near '}'
 --> 5.json:1:9
