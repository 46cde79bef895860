# RUN: for r in 0 1 2 3; do %fsdpc dump --format=json --rank $r -n 4 -s train.accumulate=2 %root/tests/passes/model-t.fsd | %python -c 'import json, sys; print(json.load(sys.stdin)["collectives"])'; done | sort | uniq -c | sed 's/\[.*//'
# Ranks that use different parameters hang; here all ranks have one list of collectives, made when the plan was.
==== out
      4 
