"""Trains a pipeline over several transports and devices: losses, norms and metrics must be those of
one stage whose ranks are threads, to the bit. Prints what differs, then how many runs there were.

    ways.py FSDPC FSDP_RUN WAY...
"""
import sys
import tempfile

from same_bits import MODEL, train, train_one_stage

# Options, environment; %d: the number of ranks.
WAYS = {
    "cpu": (["--transport", "local"], {}),
    "mpi": (["--transport", "mpi"], {}),
    "mpi-overlap": (["--transport", "mpi", "--overlap", "on"], {}),
    "mpi-hosts": (["--transport", "mpi"], {"FSDP_TEST_HOSTS": "2"}),
    "mpi-hosts-overlap": (["--transport", "mpi", "--overlap", "on"], {"FSDP_TEST_HOSTS": "3"}),
    "tcp": (["--transport", "tcp"], {}),
    "cuda": (["--device", "cuda", "--transport", "local"], {}),
    "cuda-other-order": (["--device", "cuda", "--transport", "local"], {"FSDP_EMULATE_SEED": "7"}),
    "nccl": (["--device", "cuda", "--transport", "nccl"], {"FSDP_EMULATE_GPUS": "%d"}),
    "nccl-other-order": (["--device", "cuda", "--transport", "nccl"],
                         {"FSDP_EMULATE_GPUS": "%d", "FSDP_EMULATE_SEED": "5"}),
    "nccl-late": (["--device", "cuda", "--transport", "nccl"],
                  {"FSDP_EMULATE_GPUS": "%d", "FSDP_FAKE_LATE": "1"}),
}
# Axes of a stage and the ranks on them, stages, settings.
PIPELINES = [
    ("dp=2", 2, 2, ["train.accumulate=4", "shard.strategy=full"]),
    ("tp=2", 2, 2, ["train.accumulate=2", "shard.strategy=grads"]),
    ("dp=1", 1, 3, ["train.accumulate=8", "shard.pipeline=gpipe"]),
    ("dp=1", 1, 2, ["train.accumulate=4", "shard.pipeline=interleaved", "shard.stages=4"]),
]


def without_stages(settings):
    return [s for s in settings if "pipeline" not in s and "stages" not in s]


def main():
    fsdpc, fsdp_run, *ways = sys.argv[1:]
    runs = 0
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/m.fsd", "w") as model:
            model.write(MODEL)
        for axes, others, stages, settings in PIPELINES:
            first = WAYS["cuda" if "cuda" in WAYS[ways[0]][0] else "cpu"]
            one = train_one_stage(fsdpc, fsdp_run, folder, axes, without_stages(settings), *first)
            for way in ways:
                options, environment = WAYS[way]
                ranks = str(stages * others)
                environment = {k: v.replace("%d", ranks) for k, v in environment.items()}
                mesh = "pp=%d,%s" % (stages, axes)
                several = train(fsdpc, fsdp_run, folder, mesh, settings, options, environment)
                runs += 1
                if several != one:
                    print("%s %s %s:\n  one stage %s\n  several   %s"
                          % (way, mesh, settings, one, several))
    print("%d runs" % runs)


if __name__ == "__main__":
    main()
