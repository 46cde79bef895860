# small.sh FSDPC FAMILY.fsd OPTIONS: compiles a file of models/hf at a small size.
fsdpc=$1 model=$2
shift 2
config=$(sed -n '/^config {/,/^}/p' "$model")
for setting in L=2 L_dec=2 D=64 H=4 KV=2 hd=16 dk=16 F=96 vocab=97 seq=32 window=8 E=4 K=2 rot=8 partial=0.5 \
    small=32 nope=16 vd=16 rank=32 shared=1 Fe=32 size=16 patch=4 classes=10; do
    ! grep -q "\(^\|;\) *${setting%=*} *= " <<<"$config" || set -- "$@" -s "$setting"
done
case ${model##*/} in
vit.fsd) ;;
*bert.fsd) set -- "$@" -s data.length=32 -s vocab=11 -s train.steps=100 -s train.batch=16 ;;
*) set -- "$@" -s data.length=32 ;;
esac
exec "$fsdpc" compile "$model" -s train.batch=8 -s train.steps=30 -s train.schedule=constant \
    -s 'train.optimizer=adamw(lr = 3e-3)' "$@"
