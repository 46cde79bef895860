# RUN: %fsdpc dump %root/tests/backend/models/layers.fsd | awk '/^program/ { n++ } /^---/ { on = /forward h.1/ || /backward h.4/ } on && n == 1'
# A gather overlaps the layer before it; an arrow shows which instruction waits for it, or what it waits for.
==== out
--- forward h.1 Block ---------------------------------------------------------------------------------------- 4.3 kFLOP
#25    linear a <- h.0.add, .weight                         512 B  <- h.1                                    1  19.2 KiB
#26    relu <- a                                            512 B  |                                         1  19.2 KiB
#28    linear b <- relu, .weight                            256 B  |                                         1  19.5 KiB
#29    reshard h.1                                                 |                                         4  19.5 KiB
#30    add <- h.0.add, b                                    256 B  |                                         1  18.5 KiB
#31                                              after add h.1 ->  unshard h.3                               4  19.5 KiB
=== forward h.2 .. h.3 as h.1: 2 x 6 lines, #33 .. #47; live 19.2 KiB to 21.0 KiB
--- backward h.4 Block --------------------------------------------------------------------------------------- 8.4 kFLOP
#82    linear_grad_weight b <- h.5.a.add', relu             512 B  |               |                         1  24.0 KiB
#84    linear_grad_input b <- h.5.a.add', .weight           512 B  <- h.4          |                         1  24.5 KiB
       ==== the peak: 24.5 KiB live ====
#85    relu_grad <- b', relu                                512 B  |               |                         1  24.5 KiB
#86    linear_grad_weight a <- relu_grad', h.3.add          512 B  |               |                         1  24.0 KiB
#88    linear_grad_input a <- relu_grad', .weight           256 B  |               |                         1  24.0 KiB
#89    reshard h.4                                                 |               |                         4  23.5 KiB
#90    add a <- h.5.a.add', .linear_grad_input'             256 B  |               |                         1  22.5 KiB
#91    free h.5                                                    |               <- h.5                    4  22.2 KiB
#92    pack h.4                                          1.00 KiB  |                                         4  21.2 KiB
#93                                             after pack h.4 ->  |               reduce_scatter h.4        4  21.8 KiB
#94                                             after pack h.4 ->  unshard h.2     |                         4  22.8 KiB
=== backward h.3 .. h.2 as h.4: 2 x 11 lines, #95 .. #120; live 20.8 KiB to 24.2 KiB
