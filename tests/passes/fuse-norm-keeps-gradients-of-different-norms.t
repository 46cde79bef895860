# RUN: for e in '' /weight/s/%9/%6/ /weight/s/%3/%0/ /weight/s/%7/%4/ /weight/s/%8/%5/ '/weight/s/"n"/"m"/' /weight/s/-1:2/-1:3/ /sum/s/%9/%6/ '/sum/s/"n"/"m"/' /sum/s/-1:2/-1:3/ '/sum/s/f32.5./f32[3, 5]/' /input/s/%1,/%10,/; do sed "$e" %root/tests/passes/norms.graph | %fsdpc opt --pass=fuse_norm - | grep -c 'layer_norm_grad('; done; true
# Fused are only gradients of one gradient, one input, one norm and one place, over all leading axes; and none that another makes.
==== out
1
0
0
0
0
0
0
0
0
0
0
0
