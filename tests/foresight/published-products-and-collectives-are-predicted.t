# RUN: %python %root/tests/foresight/alone.py %build/tests/modules/alone %root/machines
# Constants of the machine files predict published products within 6 %, and collectives in a node within 10 %.
==== out
162 of products.csv on h100-80: mean error at most 6 %
63 of collectives.csv on a100-80: mean error at most 10 %
41 of collectives.csv on h100-80: mean error at most 10 %
