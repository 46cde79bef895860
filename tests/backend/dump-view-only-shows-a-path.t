# RUN: %fsdpc dump --only=h.4.b %root/tests/backend/models/layers.fsd
# --only shows a single module and the gathers for it.
==== out

program train: once a step; 209 instructions, peak 24.5 KiB
===========================================================

       compute                                             writes  gather          reduce                 line      live
--- forward h.4 Block ---------------------------------------------------------------------------------------- 4.3 kFLOP
#52    linear b <- relu, .weight                            256 B  |                                         1  21.8 KiB
--- backward h.4 Block --------------------------------------------------------------------------------------- 8.4 kFLOP
#82    linear_grad_weight b <- h.5.a.add', relu             512 B  |               |                         1  24.0 KiB
#84    linear_grad_input b <- h.5.a.add', .weight           512 B  <- h.4          |                         1  24.5 KiB
       ==== the peak: 24.5 KiB live ====

program eval: once for each batch of an evaluation; 68 instructions, peak 18.5 KiB
==================================================================================

       compute                                                writes  gather          reduce              line      live
--- forward h.4 Block ---------------------------------------------------------------------------------------- 4.3 kFLOP
#261   linear b <- relu, .weight                               256 B  |                                      1  18.5 KiB
