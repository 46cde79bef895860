# RUN: %root/tests/bench/hosts --build %build --by-hand --only bits-2-hosts-4 --only gap --only killed >%t/out; c=$?; grep -o -e "^ok" -e "^FAILED.*" -e "^    error" %t/out; exit $c
# Ranks started by hand on two hosts have the bits of local, also when the link fails for a moment; a killed one, rank 0 too, is named once (tests/bench/hosts: more of it).
# NEEDS: network:namespaces build:device_cpu.so build:tests/modules/tcp_hub.so sanitizer:none
# TIME: 90
# WAITS: for time-outs
==== out
ok
ok
    error
ok
ok
    error
