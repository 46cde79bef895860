setlocal comments=:# commentstring=#\ %s shiftwidth=2 expandtab
