# RUN: while read -r m loss norm; do bash %root/tests/models/trained.sh %fsdpc %fsdp-run %root/tests/models/$m.fsd | awk -v m=$m -v l=$loss -v n=$norm '{a = $1 / l - 1; b = $2 / n - 1; print m, (a * a < 1e-12 && b * b < 1e-12 ? "as Transformers" : $0 ", Transformers " l " " n)}'; done <%s
# Loss and gradient norm of trained weights are those that Transformers computes from them (peer.py), within 1e-6; 7e-8 were seen.
# TIME: 120
# NEEDS: build:device_cpu.so
==== transformers.txt
cohere 4.77288622 0.598809445
falcon 7.54743089 5.3225099
gemma 7.49216611 4.55031728
olmo 7.55015242 5.01797351
phi2 6.84164333 5.05406082
starcoder2 7.30346418 6.2039482
==== out
cohere as Transformers
falcon as Transformers
gemma as Transformers
olmo as Transformers
phi2 as Transformers
starcoder2 as Transformers
