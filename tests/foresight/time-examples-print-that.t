# RUN: ln -s %root/models models; ln -s %root/machines machines; mkdir bin && ln -s %fsdpc bin/fsdpc; awk '/^    [$] / {n++; on = 1; sub(/^    [$] /, ""); print > ("command" n); next} on && /^(    .*)?$/ {sub(/^    /, ""); print > ("printed" n); next} {on = 0}' %root/docs/time.md; ls command*
# RUN: for n in 1 2; do PATH=$PWD/bin:$PATH sh command$n 2>&1 | grep . >all; test -s all && grep . printed$n | diff - all && echo the same; done
# The commands of docs/time.md print what it says.
# TIME: 60
==== out
command1
command2
the same
the same
