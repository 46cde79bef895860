# RUN: %fsdpc dump --stage=comm -n 4 -s shard.reshard=2 -s train.accumulate=2 -s shard.hold=true %root/tests/passes/model-t.fsd | grep -E '^program|retain|unshard' | sed 's/ !.*//'
# reshard = K: a part is copied before the reshard of forward, also if an earlier program gathered the unit, and eval retains nothing.
==== out
program first
  #4 %4: f32[36] = unshard(%3) {unit = 3, axes = (dp, reshard_group), comm = gather, tag = parameter}
  #11 %11: f32[24] = unshard(%0) {unit = 0, axes = (dp, reshard_group), comm = gather, tag = parameter}
  #14 %14: f32[12] = retain(%11) {group = 0, axes = (reshard_group)}
  #17 %17: f32[48] = unshard(%1) {unit = 1, axes = (dp, reshard_group), comm = gather, tag = parameter}
  #20 %20: f32[24] = retain(%17) {group = 1, axes = (reshard_group)}
  #23 %23: f32[80] = unshard(%2, %15) {unit = 2, axes = (dp, reshard_group), comm = gather, tag = parameter}
  #26 %26: f32[40] = retain(%23) {group = 2, axes = (reshard_group)}
  #36 %35: f32[80] = unshard(%26, %21) {unit = 2, axes = (reshard_group), comm = gather, tag = parameter}
  #44 %42: f32[48] = unshard(%20, %21) {unit = 1, axes = (reshard_group), comm = gather, tag = parameter}
  #54 %50: f32[24] = unshard(%14, %21) {unit = 0, axes = (reshard_group), comm = gather, tag = parameter}
program last
  #85 %77: f32[12] = retain(%74) {group = 0, axes = (reshard_group)}
  #91 %83: f32[24] = retain(%80) {group = 1, axes = (reshard_group)}
  #97 %89: f32[40] = retain(%86) {group = 2, axes = (reshard_group)}
  #108 %101: f32[80] = unshard(%89, %84) {unit = 2, axes = (reshard_group), comm = gather, tag = parameter}
  #116 %109: f32[48] = unshard(%83, %90) {unit = 1, axes = (reshard_group), comm = gather, tag = parameter}
  #128 %120: f32[24] = unshard(%77, %106) {unit = 0, axes = (reshard_group), comm = gather, tag = parameter}
program eval
  #174 %158: f32[36] = unshard(%157) {unit = 3, axes = (dp, reshard_group), comm = gather, tag = parameter}
  #181 %165: f32[24] = unshard(%154) {unit = 0, axes = (dp, reshard_group), comm = gather, tag = parameter}
  #186 %170: f32[48] = unshard(%155) {unit = 1, axes = (dp, reshard_group), comm = gather, tag = parameter}
  #191 %175: f32[80] = unshard(%156, %168) {unit = 2, axes = (dp, reshard_group), comm = gather, tag = parameter}
