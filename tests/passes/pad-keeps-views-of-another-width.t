# RUN: for e in '' '/reshape/s/515, 513/513, 515/' 's/1, 515, 5/1, 5/;s/1, 515, 513/1, 513/;s/515, 513/513/'; do sed "$e" in.graph | %fsdpc opt --pass=pad - | grep -c ':576'; done; true
# A view of another width has no pitch, not even where both widths would get the same one; a single row has none.
==== in.graph
graph train
mesh dp = 1
policy loss_exponent = -3, compute_dtype = bf16
module 0 "" Net
param 0 "x" module 0 f32[1, 515, 5] ones key "x" compute bf16 reduce f32 frozen
param 1 "w" module 0 f32[513, 5] ones key "w" compute bf16 reduce f32 frozen
program train
  #3 %3: bf16[1, 515, 5] = param {index = 0} !forward -
  #4 %4: bf16[513, 5] = param {index = 1} !forward -
  #5 %5: bf16[1, 515, 513] = linear(%3, %4) !forward "head"
  #6 %6: bf16[515, 513] = reshape(%5) !forward -
end
==== out
2
0
0
