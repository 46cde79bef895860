_fsdpc() {
    local -a lines whole open
    local line
    lines=("${(@f)$(_fsdpc_candidates "${words[1]}" "${(@)words[2,CURRENT]}")}")
    for line in $lines; do
        case $line in
        :files) compset -P '*='; _files; return ;;
        :models) _files -g '*.fsd'; return ;;
        *=:*) open+=("$line") ;;
        ?*) whole+=("$line") ;;
        esac
    done
    (( $#open )) && _describe -t names name open -S ''
    (( $#whole )) && _describe -t values value whole
}
if [ "$funcstack[1]" = _fsdpc ]; then _fsdpc "$@"; else compdef _fsdpc fsdpc fsdp-run; fi
