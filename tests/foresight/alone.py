"""Products and collectives against published tables: alone.py ALONE FOLDER. Prints the mean error
of each file of this folder and machine; the tables are OpenXLA's (default_matmul_perf_table and
default_collective_perf_table, H100), NVIDIA's dgxc-benchmarking (nccl-tests, H100) and vTrain's
(all-reduce of 8 A100s). Collectives are those of at least 16 MiB."""
import csv
import pathlib
import statistics
import subprocess
import sys

alone, machines = sys.argv[1:]
HERE = pathlib.Path(__file__).parent
for kind, name, most in (("product", "products.csv", 6), ("collective", "collectives.csv", 10)):
    with open(HERE / name, encoding="utf-8") as f:
        rows = [list(row.values()) for row in csv.DictReader(f)]
    lines = [" ".join([kind, f"{machines}/{row[0]}.machine", *row[1:]]) for row in rows]
    done = subprocess.run([alone], input="\n".join(lines) + "\n", text=True, capture_output=True,
                          check=True)
    errors = [abs(float(x)) for x in done.stdout.split()]
    for machine in sorted({row[0] for row in rows}):
        its = [e for e, row in zip(errors, rows) if row[0] == machine]
        mean = 100 * statistics.mean(its)
        told = f"at most {most} %" if mean <= most else f"{mean:.1f} %"
        print(f"{len(its)} of {name} on {machine}: mean error {told}")
