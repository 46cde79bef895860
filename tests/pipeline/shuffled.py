"""Trains pipelines with shuffled streams and delayed transfers (FSDP_TEST_STREAMS), each
run by another seed: losses, norms and metrics must be those of one stage, to the bit. Prints what
differs, then how many runs there were.

    shuffled.py FSDPC FSDP_RUN RUNS [FIRST]
"""
import sys
import tempfile

from same_bits import MODEL, compile_model, events_of, train_one_stage
from ways import PIPELINES, without_stages


def main():
    fsdpc, fsdp_run = sys.argv[1:3]
    runs, first = int(sys.argv[3]), int((sys.argv[4:] or ["1"])[0])
    done = 0
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/m.fsd", "w") as model:
            model.write(MODEL)
        for k, (axes, _, stages, settings) in enumerate(PIPELINES):
            one = train_one_stage(fsdpc, fsdp_run, folder, axes, without_stages(settings))
            plan, log = "%s/plan%d" % (folder, k), folder + "/log"
            failed = compile_model(fsdpc, folder, plan, "pp=%d,%s" % (stages, axes), settings)
            if failed:
                sys.exit(failed)
            for seed in range(first + k, first + runs, len(PIPELINES)):
                several = events_of(fsdp_run, plan, log, (), {"FSDP_TEST_STREAMS": str(seed)})
                done += 1
                if several != one:
                    print("pp=%d,%s %s, seed %d:\n  one stage %s\n  several   %s"
                          % (stages, axes, settings, seed, one, several), flush=True)
    print("%d runs" % done)


main()
