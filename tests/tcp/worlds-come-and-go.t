# RUN: for i in $(seq 20); do %python %root/tests/tcp/meet.py %build/tests/modules/tcp_process -n 4 'compare agree 1 leave' --order $((i % 4)),$(((i + 1) % 4)),$(((i + 2) % 4)),$(((i + 3) % 4)) 0; done | sort | uniq -c | sed 's/^ *//'
# Twenty worlds begin and end one behind the other.
# NEEDS: build:tests/modules/tcp_process
# TIME: 90
==== out
20 rank 0 exit 0, rank 1 exit 0, rank 2 exit 0, rank 3 exit 0
