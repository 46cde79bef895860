# RUN: %python limits.py %fsdpc compile -q %root/models/llama3.fsd --preset 405b -n 16384 -s train.batch=16384 -o p
# Llama-3 405B for 16,384 ranks takes seconds of a processor, not minutes, and less than 1 GiB; the plan is under 16 MiB.
# 0.3 s is usual, 1.6 s with sanitizers on a busy machine; work that grows with the ranks takes hundreds.
==== limits.py
import os, resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds, kib, plan = used.ru_utime + used.ru_stime, used.ru_maxrss, os.path.getsize("p")
print(code, seconds < 10, kib < 1 << 20, plan < 16 << 20)
==== out
0 True True True
