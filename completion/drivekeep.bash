# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for drivekeep(1). What there is to complete is read from the command's own help, so that it is never
# out of step; drives and settings are listed by the command itself, which needs no root for that.

_drivekeep_help() {
        LC_ALL=C ARGP_HELP_FMT='' command drivekeep "$@" --help 2>/dev/null
}

_drivekeep_verbs() {
        _drivekeep_help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'
}

# Of an option that stands before the verb it is not known yet whose it is.
_drivekeep_all_help() {
        local verb

        _drivekeep_help
        for verb in $(_drivekeep_verbs); do
                _drivekeep_help "$verb"
        done
}

# The first words of a table's rows.
_drivekeep_rows() {
        command drivekeep "$1" 2>/dev/null | sed '1d; s/ .*//' | sort -u
}

# What the option $2 takes, by the help text $1; nothing: it takes nothing.
_drivekeep_takes() {
        case $2 in
        --*) sed -nE "s/^ {2,6}(-., )?$2=([^ ]+).*/\2/p" <<<"$1" | sort -u ;;
        -?) sed -nE "s/^ {2}$2, --[a-z-]+=([^ ]+).*/\1/p" <<<"$1" | sort -u ;;
        esac
}

# What the argument number $2 is, by the help text $1, where the options $3… were given.
_drivekeep_argument() {
        local help=$1 n=$2 usage found= option rest
        local -a kinds
        shift 2

        while read -r usage; do
                option=${usage%%[ =]*}
                if [[ $option == --* && " $* " == *" $option "* ]]; then
                        rest=${usage#"$option"}
                        # Its own argument is none of these.
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

# What `drivekeep import` reads: a sentence of its help, perhaps over several lines.
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
                # Bash makes words of its own of "=" and of what stands behind it.
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
                        # Bash makes three words of --option=argument.
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
