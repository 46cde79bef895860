_fsdpc_bash() {
    local typed=${COMP_LINE:0:COMP_POINT} last= cut= line
    local -a typed_words
    read -ra typed_words <<<"$typed"
    case $typed in *[[:space:]]) typed_words+=('') ;; esac
    last=${typed_words[${#typed_words[@]} - 1]}
    # readline takes what follows the last = for the word, and replaces only that.
    case $COMP_WORDBREAKS in *=*) cut=${last%"${last##*=}"} ;; esac
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
        :files | :models)
            compopt -o filenames 2>/dev/null
            if [ "$line" = :models ]; then
                mapfile -t COMPREPLY < <(compgen -f -X '!*.fsd' -- "$last"; compgen -d -- "$last")
            else
                mapfile -t COMPREPLY < <(compgen -f -- "${last#"$cut"}")
            fi
            return
            ;;
        esac
        line=${line%%:*}
        COMPREPLY+=("${line#"$cut"}")
        case $line in *=) compopt -o nospace 2>/dev/null ;; esac
    done < <(_fsdpc_candidates "${typed_words[0]}" "${typed_words[@]:1}")
}
complete -F _fsdpc_bash fsdpc fsdp-run
