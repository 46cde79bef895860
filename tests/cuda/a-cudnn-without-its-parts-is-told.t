# RUN: cp $(readelf -d %build/cuda/attention_plans | sed -n 's/.*runpath: .\([^:]*\):.*/\1/p')/libcudnn.so.9 %t
# RUN: for s in so so.9 so.9.19 so.9.19.0; do : >%t/libcudnn_graph.$s; done; cd %t; LD_LIBRARY_PATH=. %build/cuda/attention_plans
# A libcudnn.so.9 whose other part cannot be loaded gives an ordinary error; cuDNN itself would abort.
# NEEDS: build:cuda/attention_plans tool:readelf
==== err
error: ./libcudnn_graph.so.9: file too short
==== exit 2
