# RUN: mkdir -p %t/tests; cp %root/tests/run %t/tests; cp ends.txt %t/tests/ends.t; trap '' HUP INT; %t/tests/run -v | sed 's/ (.*//'
# A signal that the runner was started to ignore (SIGHUP under nohup) ends the programs of a test all the same.
# NEEDS: sanitizer:none
==== ends.txt
# RUN: for s in HUP INT; do bash -c "kill -$s \$\$; echo went on"; test $? -gt 128 || exit 1; done 2> signals
# Both shells end by the signal.
==== out
passed: tests/ends.t
1 passed, 0 failed
