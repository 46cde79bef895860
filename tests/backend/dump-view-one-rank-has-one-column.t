# RUN: %fsdpc dump %root/tests/backend/models/small.fsd -n 1 | awk '/^program/ { n++ } /^ *compute/ { on = 1 } on && n == 1'
# On one rank nothing is sent, and the computation has the whole line.
==== out
       compute                                                                                    writes  line      live
--- forward M ----------------------------------------------------------------------------------------------- 49.2 kFLOP
#3     field inputs                                                                   i32[4, 3]     48 B     7  9.50 KiB
#4     field targets                                                                  i32[4, 3]     48 B     7  9.75 KiB
#6     embedding e <- .weight, inputs                                              f32[4, 3, 4]    192 B     4  10.0 KiB
#8     linear out <- e, .weight                                                  f32[4, 3, 256] 12.0 KiB     4  22.0 KiB
#9     cross_entropy_both <- out, targets                                        f32[4, 3, 256] 12.0 KiB     8  22.0 KiB
--- backward M ---------------------------------------------------------------------------------------------- 50.2 kFLOP
#11    linear_grad_weight out <- cross_entropy_both, e                              f32[256, 4] 4.00 KiB     4  29.8 KiB
       ==== the peak: 29.8 KiB live ====
#12    linear_grad_input out <- cross_entropy_both, .weight                        f32[4, 3, 4]    192 B     4  29.8 KiB
#13    embedding_grad e <- out', inputs                                             f32[256, 4] 4.00 KiB     4  17.8 KiB
#14    pack (root)                                                                    f32[2048] 8.00 KiB     6  17.2 KiB
--- update -------------------------------------------------------------------------------------------------------------
#15    grad_norm (root) <- (root)'                                                      i64[24]    192 B     6  17.5 KiB
#16    step_scale <- cross_entropy_both:loss, grad_norm, step                                                6  17.5 KiB
#18    sgd (root) <- param, (root)', step_scale, step                                                        6  17.2 KiB

