# RUN: cd %root && ! grep -rnE '^ *# *include *[<"](\.\./|/)' --include=*.[chyl] --include=*.cu --include=*.def ir frontend passes backend foresight checkpoint tensors runtime tests
# No source reaches around the lists of -I with a path that leaves its folder.
# NEEDS: sanitizer:none
