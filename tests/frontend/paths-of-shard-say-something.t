# RUN: cp %root/tests/passes/model-t.fsd .; try() { printf 'use "model-t.fsd"\nshard { '"$1"' }\n' > n.fsd; %fsdpc dump --stage=wrap -n 2 n.fsd 2>&1 | grep -E 'error|help' || true; }; for d in unjt 'join()' 'unit(3)' frozen 'split(dp, axis = 1)'; do try "\"u0\" = $d"; done; for d in '"u9" = unit' '"u0.weight" = unit' '"u" = replicate' '"u1" = unit; "u1" = join("u0")' '"u1" = join("u0"); "u0" = unit'; do try "$d"; done
# A path in section shard is a unit, a join or replicated; it names something, and no module twice.
==== out
error[E0313]: the value of a path in section shard must be `unit`, join(".."), `recompute`, reshard(..), gather(..), split(..), whole(tp) or `replicate`
  = help: did you mean `unit`?
error[E0312]: `join` needs `path`
  = help: join(path: text)
error[E0312]: `unit` takes no arguments
  = help: unit
error[E0313]: the value of a path in section shard must be `unit`, join(".."), `recompute`, reshard(..), gather(..), split(..), whole(tp) or `replicate`
  = help: known names: unit, join, recompute, reshard, replicate, split, whole, gather
error[E0318]: split(dp, axis = 1) needs layout = param: a flat unit is cut without regard to axes
  = help: write layout = param in section shard
error[E0402]: unit "u9": no module of that path; did you mean "u0"?
error[E0402]: unit "u0.weight": no module of that path
error[E0323]: "u" matches no parameter
error[E0304]: path `u1` is given twice
error[E0404]: module u0 is in two units
