# Trains the model of the README for 10 steps: train.sh REPOSITORY FOLDER-OF-PROGRAMS NAME. Nothing but
# that folder is in PATH. Writes NAME.bin and NAME.safetensors.
cp "$1/README.md" .
[ -e net.fsd ] || sed -n '/^    config/,/^    shard/s/^    //p' README.md >net.fsd
env -i PATH="$2" "$2/fsdpc" compile -q net.fsd -o "$3.bin" &&
    env -i PATH="$2" "$2/fsdp-run" -q --steps 10 --save "$3.safetensors" "$3.bin"
