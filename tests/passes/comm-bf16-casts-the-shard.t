# RUN: %fsdpc dump --stage=comm -n 2 -s 'train.precision=bf16' %root/tests/passes/model-t.fsd | sed -n '/^program train/,/^end/s/.*%[0-9]*: \([a-z0-9]*\)\[[0-9]*\] = \(cast\|unshard\|reduce_scatter\).*/\2 \1/p' | sort | uniq -c
# RUN: %fsdpc dump --stage=comm -n 2 -s 'train.precision=bf16(reduce=bf16)' %root/tests/passes/model-t.fsd | sed -n '/^program train/,/^end/s/.*%[0-9]*: \([a-z0-9]*\)\[[0-9]*\] = \(cast\|unshard\|reduce_scatter\).*/\2 \1/p' | sort | uniq -c
# In bf16 the shard is cast in front of the gather; gradients travel in the reduce dtype.
==== out
      7 cast bf16
      4 reduce_scatter f32
      7 unshard bf16
      7 cast bf16
      4 reduce_scatter bf16
      7 unshard bf16
