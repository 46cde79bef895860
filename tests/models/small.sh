# small.sh FSDPC MODEL OPTIONS: compiles a model of this folder at a small size.
fsdpc=$1 model=$2
shift 2
case ${model##*/} in
phi2.fsd) set -- "$@" -s H=4 -s rot=8 ;;
falcon.fsd) set -- "$@" -s H=4 ;;
olmo.fsd) set -- "$@" -s H=4 -s F=96 ;;
starcoder2.fsd) set -- "$@" -s H=4 -s KV=2 ;;
cohere.fsd) set -- "$@" -s H=4 -s F=96 ;;
phi3.fsd) set -- "$@" -s H=4 -s KV=2 -s F=96 ;;
pythia.fsd) set -- "$@" -s H=4 ;;
gemma.fsd) set -- "$@" -s H=4 -s hd=16 -s F=96 ;;
esac
exec "$fsdpc" compile "$model" -s L=2 -s D=64 -s vocab=97 -s seq=32 -s train.steps=60 "$@"
