# RUN: cp -r %root/editors/vim %root/editors/vscode . && sed -i 's/gelu/words/' vim/syntax/* vscode/syntaxes/* && %python %root/editors/update.py %fsdpc . && diff -r %root/editors/vim vim && diff -r %root/editors/vscode vscode
# RUN: sed -i /fsdModule/d vim/syntax/fsd.vim; %python %root/editors/update.py %fsdpc .
# editors/update.py gives the syntax files the words of the tables, and does not miss a line.
==== err
fsd.vim has 0 lines for fsdModule
==== exit 1
