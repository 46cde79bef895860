# RUN: %python -B shares.py %root/tests/run
# A limit ends tests that hang, however many threads the machine runs: a second counts at least a sixteenth.
# NEEDS: sanitizer:none
==== shares.py
import io, sys
from importlib.machinery import SourceFileLoader

runner = SourceFileLoader("runner", sys.argv[1]).load_module()
runner.os.sched_getaffinity = lambda _: {0, 1}
for running in (1, 4, 5000):
    runner.open = lambda *_, **__: io.StringIO(f"1.00 1.00 1.00 {running}/9000 1")
    print(runner.share())
==== out
1.0
0.5
0.0625
