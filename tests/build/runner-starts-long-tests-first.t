# RUN: mkdir -p %t/tests && cp %root/tests/run inner/*.t %t/tests/ && %t/tests/run -j 1 -v | sed 's/ (.*//'
# Tests that may take long start before the others, so that none runs alone at the end.
# NEEDS: sanitizer:none
==== inner/a.t
# RUN: true
# Short.
==== inner/b.t
# RUN: true
# TIME: 90
# Long.
==== inner/c.t
# RUN: true
# TIME: 120
# Longer.
==== out
passed: tests/c.t
passed: tests/b.t
passed: tests/a.t
3 passed, 0 failed
