# NEEDS: tool:vim sanitizer:none
# RUN: VIMINIT= vim -es -u NONE -i NONE --cmd 'set nocompatible rtp^=%root/editors/vim' -S show.vim m.fsd; cat out
# Vim takes a .fsd file for a model and gives its words their groups.
==== show.vim
filetype plugin on
syntax on
edit m.fsd
let out = [&filetype]
for l in range(1, line('$'))
  for c in range(1, len(getline(l)))
    let name = synIDattr(synID(l, c, 1), 'name')
    if c == 1 || name != last | call add(out, name . ' ') | endif
    let out[-1] .= getline(l)[c - 1]
    let last = name
  endfor
endfor
call writefile(filter(out, 'v:val !~ "^ \\|  $"'), 'out')
quitall!
==== m.fsd
module Net(n = 2) { # text
  fc : Linear(D, relu(train))[n] @no_decay
}
train { on_nan = skip }
==== out
fsd
fsdDeclaration module
fsdName Net
fsdOperator =
fsdNumber 2
fsdComment # text
fsdModule Linear
fsdFunction relu
fsdAttribute @no_decay
fsdSection train {
fsdKeyTrain on_nan
fsdOperator =
fsdWordTrain skip
fsdSection }
