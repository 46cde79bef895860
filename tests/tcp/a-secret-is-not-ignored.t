# RUN: mkdir lib; touch lib/libcrypto.so{,.3,.1.1}; printf short > short; bash each.sh "%python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 2 compare --env all"
# A secret that is too short, that cannot be read or proved, or that is given twice ends all ranks before they meet.
# NEEDS: build:tests/modules/tcp_process
# WAITS: for ranks in other processes
==== each.sh
s=FSDP_SECRET=a-long-secret-of-this-run
$1 FSDP_SECRET=short
$1 FSDP_SECRET_FILE=short
$1 FSDP_SECRET_FILE=none
$1 $s --env all FSDP_SECRET_FILE=short
$1 $s --env all LD_LIBRARY_PATH=lib
==== out
rank 0 exit 1, rank 1 exit 1
2 said:
    error: FSDP_SECRET: a secret must have 16 to 4095 bytes, this one has fewer
    help: openssl rand -hex 32 makes one
rank 0 exit 1, rank 1 exit 1
2 said:
    error: FSDP_SECRET_FILE: a secret must have 16 to 4095 bytes, this one has fewer
    help: openssl rand -hex 32 makes one
rank 0 exit 2, rank 1 exit 2
2 said:
    error: FSDP_SECRET_FILE=none: cannot read it: No such file or directory
    help: every rank reads a copy on its own machine
rank 0 exit 1, rank 1 exit 1
2 said:
    error: FSDP_SECRET and FSDP_SECRET_FILE are both set
    help: set one of them, the same secret for all ranks
rank 0 exit 2, rank 1 exit 2
2 said:
    error: FSDP_SECRET: cannot load OpenSSL's libcrypto, which proves the secret: lib/libcrypto.so: file too short
    help: install it (Debian: libssl3); without FSDP_SECRET no rank proves who it is
