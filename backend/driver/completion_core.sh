# Prints words that begin like $2, each after $1, as word:meaning; reads word:meaning.
_fsdpc_begun() {
    local line
    while IFS= read -r line; do
        case $1$line in "$2"*) printf '%s\n' "$1$line" ;; esac
    done
}

# Prints what an argument can be: $1 stands before it, $2 has been typed of both, $3 is the model file.
_fsdpc_argument() {
    local value=${2#"$1"} key
    case $kind in
    files | models) printf '%s\n' ":$kind" ;;
    words) _fsdpc_words "$list" | _fsdpc_begun "$1" "$2" ;;
    list) _fsdpc_words "$list" | _fsdpc_begun "${2%"${value##*,}"}" "$2" ;;
    preset) sed -n 's/^ *preset *"\([^"]*\)".*/\1:a preset of the model file/p' "$3" 2>/dev/null | _fsdpc_begun "$1" "$2" ;;
    set)
        key=${value%%=*}
        if [ "$key" != "$value" ]; then
            _fsdpc_words "-s $key" | _fsdpc_begun "$1$key=" "$2"
        else
            _fsdpc_words -s | _fsdpc_begun "$1" "$2"
            [ -z "$3" ] || "$run" dump --stage=config "$3" 2>/dev/null |
                sed -n '/^config/,/^[a-z]/s/^  \([A-Za-z_0-9]*\) *= \(.*\)/\1=:\2/p' | _fsdpc_begun "$1" "$2"
        fi
        ;;
    esac
}

# Prints what can stand in place of the last of the words $2.., of which there is a part, for the program
# $1, a name or path: a line each, word:meaning; or :files, or :models for a model file.
_fsdpc_candidates() {
    local run=$1 program=${1##*/} scope=${1##*/} before= last= model= text kind list
    shift
    if [ "$program" = fsdpc ]; then
        if [ $# -lt 2 ]; then
            _fsdpc_words commands | _fsdpc_begun '' "$1"
            return
        fi
        scope=$1
        shift
    fi
    for text in "$@"; do
        before=$last last=$text
        case $text in *.fsd) model=$text ;; esac
    done
    _fsdpc_kind "$program $before"
    if [ -n "$kind" ]; then
        _fsdpc_argument '' "$last" "$model"
        return
    fi
    case $last in
    --*=*)
        _fsdpc_kind "$program ${last%%=*}"
        _fsdpc_argument "${last%%=*}=" "$last" "$model"
        ;;
    -*) _fsdpc_words "options of $scope" | _fsdpc_begun '' "$last" ;;
    *)
        _fsdpc_kind "argument of $scope"
        _fsdpc_argument '' "$last" "$model"
        ;;
    esac
}
