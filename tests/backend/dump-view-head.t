# RUN: %fsdpc dump %root/tests/backend/models/small.fsd -n 2 | sed "/^units/,\$d; 1s/[0-9a-f]\{16\}/N/"
# The head: what is trained and how, what is sent, what the peak is made of.
==== out
small.fsd, compiled by fsdpc 0.1.0, fingerprint N

  ranks       2: mesh dp = 2
  parameters  2,048, kept in f32, read in f32, gradients reduced in f32
  sharding    1 unit; parameters, gradients and optimizer state are split over the ranks
  step        4 samples: 2 ranks x 2 x 1 micro-batch; 3 tokens per sample; 5 steps; sgd, lr 0.1
  sends       8.38 KiB per rank and step; 3 collectives: 1 unshard 4.00 KiB, 1 reduce_scatter 4.00 KiB,
              1 all_reduce 384 B
  checkpoint  1 save, 4.00 KiB per rank, written during the next step; the step does 51.2 kFLOP before it waits for one
  files       1 small.fsd, 2 std.fsd

memory of a rank at the peak: #9 linear out, forward, line 4
  gathered parameters      8.0 KiB  40.3 %  ########################
  activations              6.1 KiB  30.7 %  ##################
  parameters               4.0 KiB  20.2 %  ############
  unused                     912 B   4.5 %  ###
  loss and step              576 B   2.8 %  ##
  batch                      304 B   1.5 %  #
  together                19.8 KiB
  on cpu                  20.1 KiB, with 256 B of workspace (for #14 embedding_grad e)
  on cuda                 32.0 MiB, with 32.0 MiB of workspace (for #9 linear out)

program train: once a step; 25 instructions, peak 19.8 KiB
==========================================================
0 of 3 collectives overlap computation; these do not: #1 unshard (root), #16 reduce_scatter (root),
    #19 all_reduce metrics

