# RUN: ln -s %root/models models; mkdir bin && ln -s %fsdpc bin/fsdpc; awk '/^    [$] / {n++; on = 1; sub(/^    [$] /, ""); print > ("command" n); next} on && /^    / {sub(/^    /, ""); print > ("printed" n); next} {on = 0}' %root/docs/parallel.md; ls command*
# RUN: for n in 1 2 3; do PATH=$PWD/bin:$PATH sh command$n 2>all && head -n $(wc -l <printed$n) all | diff printed$n - && fsdpc=bin/fsdpc && $fsdpc dump --format=json gpt2.bin >json && %python -c 'import json; d = json.load(open("json")); by = d["sent_bytes_by_axes"]; print(", ".join(by), sum(by.values()) == d["sent_bytes"])'; done
# The commands of docs/parallel.md print what it says, and what is sent along axes adds up to all that is sent.
# TIME: 60
==== out
command1
command2
command3
dp, tp, dp tp True
dp, tp, dp tp True
dp, cp, dp cp True
