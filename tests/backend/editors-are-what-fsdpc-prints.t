# RUN: %fsdpc editor vim | diff - %root/editors/vim/syntax/fsd.vim
# RUN: %fsdpc editor textmate | diff - %root/editors/vscode/syntaxes/fsd.tmLanguage.json
# RUN: %fsdpc editor emacs
# The syntax files in editors/ are printed from the tables: fsdpc editor vim >editors/vim/syntax/fsd.vim;
# fsdpc editor textmate >editors/vscode/syntaxes/fsd.tmLanguage.json
==== err
error[E0503]: `fsdpc editor` does not know `emacs`
  = help: it takes one of: textmate, vim

==== exit 1
