# RUN: %fsdpc opt --pass=fuse_packed_attention,grd x.txt
# A misspelt pass names its neighbour.
==== err
error[E0505]: there is no pass `grd`
  = help: did you mean `grad`?

==== exit 1
