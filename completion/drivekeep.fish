# SPDX-License-Identifier: LGPL-2.1-or-later
# fish completion for drivekeep(1). Commands and options come from the help texts of drivekeep, so they are always up to date.
# drivekeep also lists drives and settings, without root.

function __drivekeep_help
    LC_ALL=C ARGP_HELP_FMT= command drivekeep $argv --help 2>/dev/null
end

# Prints the first word of each row of a table.
function __drivekeep_rows
    command drivekeep $argv 2>/dev/null | sed '1d; s/ .*//' | sort -u
end

# Prints the verb and its arguments so far, without options and their arguments. Options may precede the verb.
function __drivekeep_given
    set -l words (commandline -opc)
    set -l skip
    for word in $words[2..]
        if test -n "$skip"
            set skip
        else if contains -- $word $__drivekeep_taking
            set skip yes
        else if not string match -q -- '-*' $word
            echo $word
        end
    end
end

# True if there is no verb yet.
function __drivekeep_no_verb
    not count (__drivekeep_given) >/dev/null
end

# True if this is the verb.
function __drivekeep_verb
    set -l given (__drivekeep_given)
    test "$given[1]" = $argv[1]
end

# True if the word to complete is this argument of the verb (-eq), or this or a later one (-ge).
function __drivekeep_argument
    test (count (__drivekeep_given)) $argv[2] $argv[1]
end

# Prints the formats of `drivekeep import`: a sentence of its help, which may wrap.
function __drivekeep_kinds
    __drivekeep_help import | sed -n '/^KIND is /,/\.$/{s/^KIND is //; s/ or / /; s/[,.]$//; s/, / /g; p}'
end

# Prints the completion for this kind of argument in the help text.
function __drivekeep_candidates
    switch $argv[1]
        case DRIVE
            echo '(__drivekeep_rows list)'
        case SETTING
            echo '(__drivekeep_rows settings)'
        case 'SETTING=VALUE'
            echo '(printf "%s=\n" (__drivekeep_rows settings))'
        case KIND
            string join ' ' (__drivekeep_kinds)
    end
end

complete -c drivekeep -f
set -g __drivekeep_taking

for line in (__drivekeep_help | sed -nE 's/^  ([a-z][a-z-]*) +(.*)/\1\t\2/p')
    set -l verb (string split \t $line)
    set -l seen "__drivekeep_verb $verb[1]"

    complete -c drivekeep -n __drivekeep_no_verb -a $verb[1] -d "$verb[2]"

    for text in (__drivekeep_help $verb[1])
        if set -l long (string match -r '^ {2,6}(?:-., )?--([a-z-]+)' -- $text)[2]
            set -l short (string match -r '^  -([a-zA-Z]), ' -- $text)[2]
            set -l kind (string match -r '^ {2,6}(?:-., )?--[a-z-]+=([^ ]+)' -- $text)[2]
            set -l words -l $long
            test -z "$short"; or set -a words -s $short
            test -z "$kind"; or set -a __drivekeep_taking --$long
            test -z "$kind" -o -z "$short"; or set -a __drivekeep_taking -$short
            switch "$kind"
                case ''
                case FILE DIR
                    set -a words -r -F
                case '*'
                    set -l candidates (__drivekeep_candidates $kind)
                    set -a words -x
                    test -z "$candidates"; or set -a words -a "$candidates"
            end
            complete -c drivekeep -n "__drivekeep_no_verb; or $seen" $words -d (string replace -r '^ {2,6}(-., )?--[^ ]+ *' '' -- $text)
        else if set -l usage (string match -r '^Usage: drivekeep [a-z-]+ \[OPTION\.\.\.\] ?(.*)' -- $text)
            set -l n 0
            for word in (string split -n ' ' -- $usage[2])
                set n (math $n + 1)
                set -l kind (string match -r '[A-Z]+(?:=[A-Z]+)?' -- $word)
                set -l here "$seen; and __drivekeep_argument $n "(string match -q '*...*' -- $word; and echo -ge; or echo -eq)
                if test "$kind" = FILE
                    complete -c drivekeep -n $here -F
                else if set -l candidates (__drivekeep_candidates $kind)
                    complete -c drivekeep -n $here -a "$candidates"
                end
            end
        end
    end
end
