autocmd BufRead,BufNewFile *.fsd setfiletype fsd
