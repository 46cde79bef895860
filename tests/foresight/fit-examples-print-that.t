# RUN: ln -s %root/models models; mkdir bin && ln -s %fsdpc bin/fsdpc; awk '/^    [$] / {n++; on = 1; sub(/^    [$] /, ""); print > ("command" n); next} on && /^(    .*)?$/ {sub(/^    /, ""); print > ("printed" n); next} {on = 0}' %root/docs/fit.md; ls command*
# RUN: for n in 1 2 3; do PATH=$PWD/bin:$PATH sh command$n 2>&1 | sed 's/ *$//' >all; test -s all && cat -s printed$n | sed '$d' | diff - all && echo the same; done
# The commands of docs/fit.md print what it says.
# NEEDS: sanitizer:none
# TIME: 60
==== out
command1
command2
command3
the same
the same
the same
