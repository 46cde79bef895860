# RUN: mkdir -p %t/tests %t/build && cp %root/tests/run %t/tests/ && cp inner/*.t %t/tests/ && sed -i 's/^@@@@/====/' %t/tests/*.t
# RUN: BLESS=1 %t/tests/run -j 1 fails | sed 's/ ([0-9.]* s, .* s)//' || cmp %t/tests/fails.t <(sed 's/^@@@@/====/' inner/fails.t)
# BLESS does not make an exit code expected of a test that had none.
# NEEDS: sanitizer:none
==== inner/fails.t
# RUN: echo new && exit 3
# Prints a word.
@@@@ out
old
==== out
failed: tests/fails.t
    exit code 3 where 0 was expected is not blessed; write `==== exit 3` if it is right
    exit code 3, expected 0
    --- out expected
    +++ out printed
    @@ -1 +1 @@
    -old
    +new
0 passed, 1 failed
