# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for drivekeep(1). Commands and options come from the help texts of drivekeep, so they are always up to date.
# drivekeep also lists drives and settings, without root.

_drivekeep_help() {
        LC_ALL=C ARGP_HELP_FMT='' command drivekeep "$@" --help 2>/dev/null
}

_drivekeep_verbs() {
        _drivekeep_help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'
}

# The help of all verbs: an option before the verb may belong to any verb.
_drivekeep_all_help() {
        local verb

        _drivekeep_help
        for verb in $(_drivekeep_verbs); do
                _drivekeep_help "$verb"
        done
}

# Prints the first word of each row of a table.
_drivekeep_rows() {
        command drivekeep "$1" 2>/dev/null | sed '1d; s/ .*//' | sort -u
}

# Prints the kind of the argument of option $2 by the help text $1, or nothing if the option has no argument.
_drivekeep_takes() {
        case $2 in
        --*) sed -nE "s/^ {2,6}(-., )?$2=([^ ]+).*/\2/p" <<<"$1" | sort -u ;;
        -?) sed -nE "s/^ {2}$2, --[a-z-]+=([^ ]+).*/\1/p" <<<"$1" | sort -u ;;
        esac
}

# Prints the kind of argument number $2 by the help text $1, after the options $3….
_drivekeep_argument() {
        local help=$1 n=$2 usage found= option rest
        local -a kinds
        shift 2

        while read -r usage; do
                option=${usage%%[ =]*}
                if [[ $option == --* && " $* " == *" $option "* ]]; then
                        rest=${usage#"$option"}
                        # Skip the option's own argument.
                        [[ ! $(_drivekeep_takes "$help" "$option") ]] || rest=${rest#* } rest=${rest#"${rest%% *}"}
                        found=$rest
                fi
                [[ $option == --* || $found ]] || found=$usage
        done < <(sed -nE 's/^(Usage:|  or:) +drivekeep [a-z-]+ \[OPTION\.\.\.\] ?(.*)/\2/p' <<<"$help")

        read -ra kinds <<<"$found"
        ((${#kinds[@]} > 0)) || return
        if ((n >= ${#kinds[@]})); then
                [[ ${kinds[-1]} == *...* ]] || return
                n=$((${#kinds[@]} - 1))
        fi
        tr -d '[].' <<<"${kinds[n]}"
}

# Prints the formats of `drivekeep import`: a sentence of its help, which may wrap.
_drivekeep_kinds() {
        _drivekeep_help import | sed -n '/^KIND is /,/\.$/{s/^KIND is //; s/ or / /; s/[,.]$//; s/, / /g; p}'
}

_drivekeep_offer() { # KIND
        local words=
        case $1 in
        DRIVE)
                if [[ $cur == */* ]]; then
                        compopt -o filenames 2>/dev/null
                        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
                        return
                fi
                words=$(_drivekeep_rows list)
                ;;
        SETTING) words=$(_drivekeep_rows settings) ;;
        SETTING=VALUE)
                # Bash splits words before and after "=".
                [[ $cur != = && ${COMP_WORDS[COMP_CWORD - 1]} != = ]] || return
                compopt -o nospace 2>/dev/null
                words=$(_drivekeep_rows settings | sed 's/$/=/')
                ;;
        FILE)
                compopt -o filenames 2>/dev/null
                mapfile -t COMPREPLY < <(compgen -f -- "$cur")
                return
                ;;
        DIR)
                compopt -o filenames 2>/dev/null
                mapfile -t COMPREPLY < <(compgen -d -- "$cur")
                return
                ;;
        KIND) words=$(_drivekeep_kinds) ;;
        esac
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

_drivekeep() {
        local cur=${COMP_WORDS[COMP_CWORD]} verb= help= kind= n=0 i
        local -a options=()

        COMPREPLY=()
        [[ ${COMP_WORDS[1]-} != -* ]] || help=$(_drivekeep_all_help)
        for ((i = 1; i < COMP_CWORD; i++)); do
                local word=${COMP_WORDS[i]}

                if [[ $word == -* ]]; then
                        options+=("$word")
                        kind=$(_drivekeep_takes "$help" "$word")
                        [[ $kind ]] || continue
                        # Bash splits --option=argument into three words.
                        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
                        ((i++))
                        if ((i >= COMP_CWORD)); then
                                [[ $cur != = ]] || cur=
                                _drivekeep_offer "$kind"
                                return
                        fi
                elif [[ ! $verb ]]; then
                        verb=$word
                        help=$(_drivekeep_help "$verb")
                else
                        ((n++))
                fi
        done

        if [[ $cur == -* ]]; then
                mapfile -t COMPREPLY < <(compgen -W "$(sed -nE 's/^ {2,6}(-., )?(--[a-z-]+=?).*/\2/p' <<<"$help")" -- "$cur")
                [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
        elif [[ ! $verb ]]; then
                mapfile -t COMPREPLY < <(compgen -W "$(_drivekeep_verbs)" -- "$cur")
        else
                _drivekeep_offer "$(_drivekeep_argument "$help" "$n" "${options[@]}")"
        fi
}

complete -F _drivekeep drivekeep
