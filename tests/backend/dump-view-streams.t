# RUN: %fsdpc dump %root/tests/backend/models/small.fsd -n 2 | awk '/^program/ { n++ } /^ *compute/ { on = 1 } on && n == 1'
# A column for each stream shows what overlaps and what waits; live memory is at the right.
==== out
       compute                                             writes  gather          reduce                 line      live
--- forward M ----------------------------------------------------------------------------------------------- 24.6 kFLOP
#1                                                                 unshard (root)                            6  13.2 KiB
#4     field inputs                                          24 B  |                                         7  13.5 KiB
#5     field targets                                         24 B  |                                         7  13.8 KiB
#7     embedding e <- .weight, inputs                        96 B  <- (root)                                 4  14.0 KiB
#9     linear out <- e, .weight                          6.00 KiB                                            4  20.0 KiB
       ==== the peak: 20.0 KiB live ====
#10    cross_entropy_both <- out, targets                6.00 KiB                                            8  20.0 KiB
--- backward M ---------------------------------------------------------------------------------------------- 25.6 kFLOP
#11    linear_grad_input out <- cross_entropy_both, ..       96 B                                            4  20.0 KiB
#12    reshard (root)                                                                                        6  20.0 KiB
#13    linear_grad_weight out <- cross_entropy_both, e   4.00 KiB                                            4  20.0 KiB
#14    embedding_grad e <- out', inputs                  4.00 KiB                                            4  13.8 KiB
#15    pack (root)                                       8.00 KiB                                            6  13.2 KiB
#16                                          after pack (root) ->                  reduce_scatter (root)     6  17.2 KiB
--- update -------------------------------------------------------------------------------------------------------------
#17    grad_norm (root) <- (root)'                          192 B                  <- (root)                 6  17.5 KiB
#18    free (root)                                                                                           6  17.5 KiB
#19                                     after grad_norm (root) ->                  all_reduce metrics        6  9.50 KiB
#21    step_scale <- all_reduce, all_reduce:2, step                                <- metrics                6  9.50 KiB
#23    sgd (root) <- param, (root)', step_scale, step                                                        6  9.25 KiB

